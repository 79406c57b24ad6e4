#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapdiff/allocator_state.hpp"
#include "snapdiff/hash.hpp"
#include "snapdiff/ids.hpp"
#include "snapdiff/keyed_hash.hpp"
#include "snapdiff/notes.hpp"

/// The one data model: string table -> modules, functions, frames -> stacks -> samples. Every
/// format is read into it, the store keeps it, the diff engine works on it. Flat columns, typed
/// row numbers, nothing recursive; immutable once SnapshotBuilder::finish() has validated it.
namespace snapdiff {

struct ObjectGraph;  // snapdiff/object_graph.hpp

/// All texts of a dictionary, as bytes; they need not be valid UTF-8 and may hold control
/// characters and NULs. Row 0 is "". Views stay valid as long as the table does not grow.
class StringTable {
 public:
  StringTable() : end_{0, 0} {}
  std::string_view operator[](StringId id) const {
    const std::size_t row = index_of(id);
    return std::string_view(bytes_).substr(end_[row], end_[row + 1] - end_[row]);
  }
  std::size_t size() const { return end_.size() - 1; }
  StringId append(std::string_view text) {
    bytes_.append(text);
    end_.push_back(bytes_.size());
    return static_cast<StringId>(end_.size() - 2);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> end_;  // text i is bytes_[end_[i] .. end_[i + 1])
};

/// Binaries and libraries. `name` is the path as recorded, without " (deleted)"; `build_id` is
/// lower-case hex for ELF, opaque text otherwise, "" when the input has none. Row 0: no module.
struct ModuleTable {
  std::vector<StringId> name{StringId{}};
  std::vector<StringId> build_id{StringId{}};
  std::size_t size() const { return name.size(); }
  /// One more row, whatever the table holds already; returns its number. The same of the tables below.
  ModuleId append(StringId its_name, StringId its_build_id) {
    name.push_back(its_name);
    build_id.push_back(its_build_id);
    return ModuleId{static_cast<std::uint32_t>(size() - 1)};
  }
};

/// Functions, distinguished by name, system_name and file together. `name` is what people read,
/// `system_name` the linker's (mangled) name or the same, `file` the source path as recorded,
/// `start_line` 0 where unknown. Row 0: no function, the frame is unsymbolized.
struct FunctionTable {
  std::vector<StringId> name{StringId{}};
  std::vector<StringId> system_name{StringId{}};
  std::vector<StringId> file{StringId{}};
  std::vector<std::int32_t> start_line{0};
  std::size_t size() const { return name.size(); }
  FunctionId append(StringId its_name, StringId its_system_name, StringId its_file, std::int32_t its_start_line) {
    name.push_back(its_name);
    system_name.push_back(its_system_name);
    file.push_back(its_file);
    start_line.push_back(its_start_line);
    return FunctionId{static_cast<std::uint32_t>(size() - 1)};
  }
};

inline constexpr std::uint64_t kNoOffset = std::numeric_limits<std::uint64_t>::max();

inline constexpr std::uint8_t kFrameInlined = 1;  ///< inlined into the next frame root-wards
inline constexpr std::uint8_t kFramePseudo = 2;   ///< no code: `[no stack recorded]` and its kin
/// Put into stacks when an address was named after the import: inlined there. No part of a stack's hash.
inline constexpr std::uint8_t kFrameDerived = 4;

/// A frame without its hash.
struct FrameSpec {
  ModuleId module{};
  std::uint64_t offset = kNoOffset;
  FunctionId function{};
  std::int32_t line = 0;
  std::int32_t column = 0;
  std::uint8_t flags = 0;
};

/// Frames: one function at one line (or one unsymbolized address), in one module.
///   offset  file offset of the call inside the module: pc - mapping start + mapping offset, with
///           pc already moved into the call (return address - 1). kNoOffset where the input has
///           no addresses. Without a module: the pc itself.
///   line, column  1-based, 0 where unknown
///   hash    identity, the same on every machine (frame_hash below); never changes afterwards,
///           also when names are added later
struct FrameTable {
  std::vector<ModuleId> module;
  std::vector<std::uint64_t> offset;
  std::vector<FunctionId> function;
  std::vector<std::int32_t> line;
  std::vector<std::int32_t> column;
  std::vector<std::uint8_t> flags;
  std::vector<Hash128> hash;
  std::size_t size() const { return hash.size(); }
  FrameSpec operator[](FrameId id) const {
    const std::size_t row = index_of(id);
    return {module[row], offset[row], function[row], line[row], column[row], flags[row]};
  }
  FrameId append(const FrameSpec& spec, const Hash128& its_hash) {
    module.push_back(spec.module);
    offset.push_back(spec.offset);
    function.push_back(spec.function);
    line.push_back(spec.line);
    column.push_back(spec.column);
    flags.push_back(spec.flags);
    hash.push_back(its_hash);
    return FrameId{static_cast<std::uint32_t>(size() - 1)};
  }
};

/// Whole stacks, leaf (allocation site) first. Stack s is frame[begin[s] .. begin[s + 1]);
/// stack 0 is empty. hash[s] is SequenceHasher over the hashes of its frames, leaf first, derived
/// ones left out, and distinguishes stacks: no two rows share one.
struct StackTable {
  std::vector<std::uint64_t> begin{0, 0};
  std::vector<FrameId> frame;
  std::vector<Hash128> hash{SequenceHasher{}.finish()};
  std::size_t size() const { return hash.size(); }
  std::span<const FrameId> frames(StackId id) const {
    const std::size_t row = index_of(id);
    return std::span(frame).subspan(begin[row], begin[row + 1] - begin[row]);
  }
};

/// One label of a row: text, or a number with its unit.
struct Label {
  StringId key{};
  StringId text{};
  std::int64_t number = 0;
  StringId unit{};
  bool is_number = false;
  friend bool operator==(const Label&, const Label&) = default;
};

/// Sets of labels, each sorted by key text, then value; a key may occur more than once. Keys in
/// use: what a profile.proto holds (`bytes`, `thread`, ...), `type`, `device`, `stream`, `pool`,
/// `state`, `domain`. Set s is label[begin[s] .. begin[s + 1]); set 0 is empty.
struct LabelTable {
  std::vector<std::uint64_t> begin{0, 0};
  std::vector<Label> label;
  std::size_t size() const { return begin.size() - 1; }
  LabelSetId append(std::span<const Label> set) {
    label.insert(label.end(), set.begin(), set.end());
    begin.push_back(label.size());
    return LabelSetId{static_cast<std::uint32_t>(size() - 1)};
  }
  std::span<const Label> labels(LabelSetId id) const {
    const std::size_t row = index_of(id);
    return std::span(label).subspan(begin[row], begin[row + 1] - begin[row]);
  }
};

/// What the rows of one or more snapshots refer to. Shared between snapshots that came out of one store, of one
/// file, or of the files of a long series; else of its own.
struct Dictionary {
  StringTable strings;
  ModuleTable modules;
  FunctionTable functions;
  FrameTable frames;
  StackTable stacks;
  LabelTable labels;
};

/// Name and unit of a value column. Canonical names are inuse_objects, inuse_space,
/// alloc_objects, alloc_space; canonical units are "count" and "bytes".
struct SampleType {
  std::string name;
  std::string unit;
  friend bool operator==(const SampleType&, const SampleType&) = default;
};

/// One value per row, in the unit of its type.
///   known      empty: every value is known; else one flag per row, 0 = unknown (not zero; the
///              value is then 0)
///   half_unit  half of the rounding step the source printed with, 0 when exact. Where the step differs
///              from row to row, a column of its own says it: half_unit_name() of this one's name
struct Column {
  SampleType type;
  std::vector<std::int64_t> value;
  std::vector<std::uint8_t> known;
  std::int64_t half_unit = 0;
  bool is_known(std::size_t row) const { return known.empty() || known[row] != 0; }
};

/// Name of the column, in the unit of `metric`, that holds half of the rounding step of each of its values;
/// no metric itself.
inline constexpr std::string_view kHalfUnitEnding = "_half_unit";
inline std::string half_unit_name(std::string_view metric) { return std::string(metric).append(kHalfUnitEnding); }
inline bool is_metric(const Column& column) { return !column.type.name.ends_with(kHalfUnitEnding); }

/// The samples. Rows are unique by (stack, labels), sorted by them, and hold at least one value
/// that is not zero. stack.size() == labels.size() == every column's value.size().
struct SampleTable {
  std::vector<StackId> stack;
  std::vector<LabelSetId> labels;
  std::vector<Column> columns;
  std::size_t size() const { return stack.size(); }
};

/// A number about the whole snapshot, e.g. HeapSys of Go's MemStats. Tags are part of the name, as
/// `live{thread=3}`, in order of their keys.
struct Counter {
  std::string name;
  std::int64_t value = 0;
  std::string unit;            ///< "bytes", "count", or what the source says
  bool cumulative = false;     ///< counts up since process start, rather than a level
  std::int64_t half_unit = 0;  ///< half of the rounding step the source printed with, 0 when exact
  friend bool operator==(const Counter&, const Counter&) = default;
};

/// One line of the process's memory map: [start, limit) maps `module` from file offset `offset`.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t limit = 0;
  std::uint64_t offset = 0;
  ModuleId module{};
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

/// How the values came to be.
///   exact    not sampled
///   poisson  one sample every `period` bytes on average; the values are already un-sampled
///   unknown  the source does not say
enum class Sampling : std::uint8_t { exact, poisson, unknown };

/// The bytes a snapshot was read from.
struct SourceFacts {
  std::string name;                          ///< path as the user gave it, "-" for stdin
  std::string sha256;                        ///< lower-case hex of the bytes as given, compressed or not
  std::uint64_t size_bytes = 0;              ///< size as given, compressed or not
  std::optional<std::int64_t> file_time_ns;  ///< shown, never used for order
  friend bool operator==(const SourceFacts&, const SourceFacts&) = default;
};

/// What is true of the snapshot as a whole. Texts are bytes as found.
struct SnapshotFacts {
  SourceFacts source;
  std::string format;                       ///< FormatInfo::name of the importer
  std::string format_detail;                ///< e.g. "heap_v2, gzip"
  std::string producer;                     ///< "go", "jemalloc", "tcmalloc", ... or ""
  std::optional<std::int64_t> taken_at_ns;  ///< UTC since 1970, from inside the input only
  std::optional<std::int64_t> duration_ns;  ///< the interval a delta profile covers
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> sequence;  ///< number in the file name: prog.0007.heap -> 7
  std::uint32_t position = 0;            ///< index among the snapshots of one source
  std::string host;
  std::optional<std::int64_t> rank;
  std::string command_line;
  std::string default_metric;  ///< the file's own default type, "" when unset
  Sampling sampling = Sampling::unknown;
  std::int64_t period = 0;  ///< mean bytes between samples; 0 or 1 when exact
  bool partial = false;     ///< a part of the input could not be read
  bool complete = true;     ///< false: the source leaves rows out (top N, a threshold): an absent row is unknown, not 0
  bool is_delta = false;    ///< alloc_* already are differences over duration_ns
  bool is_diff = false;     ///< saved by a diff; values may be negative
  std::string drop_frames;  ///< regex of frames to prune, "" when none
  std::string keep_frames;
  std::string doc_url;
  std::vector<std::string> comments;
  std::vector<Counter> counters;
  std::map<std::string, std::string> labels;  ///< given by the user: --label K=V
  Notes notes;

  /// A part of the input could not be read: a note says what.
  void lose(std::string_view what, std::optional<std::uint64_t> offset = std::nullopt) {
    partial = true;
    notes.add(Severity::data_loss, what, offset);
  }
  friend bool operator==(const SnapshotFacts&, const SnapshotFacts&) = default;
};

/// The state of one heap at one moment, from one input.
struct Snapshot {
  std::shared_ptr<const Dictionary> dictionary;
  SampleTable samples;
  std::vector<Mapping> mappings;  ///< sorted by start
  SnapshotFacts facts;
  std::shared_ptr<const AllocatorState> allocator;  ///< null where the input has nothing of the kind
  std::shared_ptr<const ObjectGraph> graph;         ///< null where the input has no references between objects

  /// The column called `metric`, or null.
  const Column* column(std::string_view metric) const {
    for (const Column& column : samples.columns) {
      if (column.type.name == metric) return &column;
    }
    return nullptr;
  }
};

/// Texts of pseudo frames (product.md: lower case in brackets, nothing else).
inline constexpr std::string_view kNoStackRecorded = "[no stack recorded]";
inline constexpr std::string_view kUnattributed = "[unattributed]";
inline constexpr std::string_view kStackCut = "[stack cut]";

/// The part of a path after its last slash or backslash.
constexpr std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

namespace detail {
inline Hash128 combine_frame(std::uint64_t kind, const Hash128& a, const Hash128& b, std::uint64_t number) {
  SequenceHasher hasher;
  hasher.add({mix64(kind), mix64(kind + 1)});
  hasher.add(a);
  hasher.add(b);
  hasher.add({mix64(number ^ 0x5bd1e995ULL), mix64(number + 0x9e3779b9ULL)});
  return hasher.finish();
}
}  // namespace detail

/// Identity of a frame that is symbolized at import, of the hashes of its function name and file.
inline Hash128 named_frame_hash(const Hash128& function, const Hash128& file, std::int32_t line) {
  return detail::combine_frame(2, function, file, static_cast<std::uint32_t>(line));
}

/// Identity of a frame, the same on every machine. Covers function name, file and line where the
/// frame is symbolized at import; else module base name, build id and offset; for pseudo frames
/// their text.
inline Hash128 frame_hash(std::string_view module_name, std::string_view build_id, std::uint64_t offset,
                          std::string_view function, std::string_view file, std::int32_t line, bool pseudo) {
  if (pseudo) return detail::combine_frame(1, hash_bytes(function), Hash128{}, 0);
  if (!function.empty()) return named_frame_hash(hash_bytes(function), hash_bytes(file), line);
  return detail::combine_frame(3, hash_bytes(base_name(module_name)), hash_bytes(build_id), offset);
}

/// What frame_hash() says of a frame's address alone. Equal to hash[f] where the frame was imported
/// without a name, whatever it is called now.
inline Hash128 address_hash(const Dictionary& d, FrameId frame) {
  const std::size_t f = index_of(frame);
  const std::size_t module = index_of(d.frames.module[f]);
  return frame_hash(d.strings[d.modules.name[module]], d.strings[d.modules.build_id[module]], d.frames.offset[f], {},
                    {}, 0, false);
}

/// True for a frame that was imported as an address and got its name from a binary afterwards.
inline bool is_named_address(const Dictionary& d, FrameId frame) {
  const std::size_t f = index_of(frame);
  return d.frames.function[f] != FunctionId{} && d.frames.offset[f] != kNoOffset &&
         (d.frames.flags[f] & (kFramePseudo | kFrameDerived)) == 0 && d.frames.hash[f] == address_hash(d, frame);
}

}  // namespace snapdiff
