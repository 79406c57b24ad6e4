#pragma once

#include <charconv>
#include <system_error>
#include <unordered_map>

#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::heaptrack {

/// Fields of one line: numbers in hexadecimal without 0x, parted by single blanks.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  /// The next number; false where there is none, or one of more than 64 bits.
  bool number(std::uint64_t& out) {
    const std::size_t blanks = std::min(rest_.find_first_not_of(' '), rest_.size());
    const char* const end = rest_.data() + rest_.size();
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(rest_.data() + blanks, end, value, 16);
    if (error != std::errc{} || (stop != end && *stop != ' ')) return false;
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    out = value;
    return true;
  }

  /// As number(), for an index or a line; false beyond 32 bits too.
  bool number(std::uint32_t& out) {
    std::uint64_t wide = 0;
    if (!number(wide) || wide > std::numeric_limits<std::uint32_t>::max()) return false;
    out = static_cast<std::uint32_t>(wide);
    return true;
  }

  bool at_end() const { return rest_.find_first_not_of(' ') == std::string_view::npos; }
  /// What was not read, without the blank in front.
  std::string_view text() const { return !rest_.empty() && rest_[0] == ' ' ? rest_.substr(1) : rest_; }

 private:
  std::string_view rest_;
};

/// Leaks that the program itself declares harmless, in LeakSanitizer's syntax: `leak:PATTERN`, where ^ and $
/// tie the pattern to the ends of a name and * stands for anything.
class Suppressions {
 public:
  /// More are not kept: each is tried on every name.
  static constexpr std::size_t kMost = 1000;

  /// One line of them; false where it is none, or one too many.
  bool add(std::string_view line);
  bool empty() const { return patterns_.empty(); }
  /// The first pattern that fits `name` (of a function, a file or a module), or "".
  std::string_view match(std::string_view name) const;

 private:
  std::vector<std::string> patterns_;
};

/// Whether `pattern` fits somewhere in `name`.
bool fits(std::string_view pattern, std::string_view name);

/// One source position at an instruction pointer; indexes of Recording::strings, 0 = none.
struct Position {
  std::uint32_t function = 0;
  std::uint32_t file = 0;
  std::int32_t line = 0;
};

/// Instruction pointers: row i has position[first[i] .. first[i + 1]), innermost first. Row 0: none.
struct Pointers {
  std::vector<std::uint32_t> module{0};
  std::vector<std::uint32_t> first{0, 0};
  std::vector<Position> position;
  std::size_t size() const { return module.size(); }
};

/// A trace node is a stack: its own pointer, then that of its parent. Parents come first. Row 0: the root.
struct TraceNode {
  std::uint32_t pointer = 0;
  std::uint32_t parent = 0;
};

/// Allocations of one size from one trace, and how they fare while the events go by. Aligned, so that an event touches
/// one cache line and never two.
struct alignas(32) Allocation {
  std::int64_t size = 0;  ///< bytes asked for; negative: a line that records none, its events are skipped
  std::int64_t live = 0;  ///< blocks
  std::int64_t made = 0;
  std::int64_t temporary = 0;  ///< freed by the very next event
};

/// Everything that was read so far, but the events themselves, which are counted only.
struct Recording {
  std::uint32_t file_version = 0;
  SnapshotFacts facts;  ///< producer, notes, whether it is partial
  std::optional<std::string> command_line;
  bool attached = false;  ///< recorded from the middle of a process's life

  StringTable strings;
  Pointers pointers;
  std::vector<TraceNode> traces{TraceNode{}};
  std::vector<Allocation> allocations;
  std::vector<std::uint32_t> trace_of;  ///< by allocation
  Suppressions suppressions;

  std::vector<std::uint32_t> used;  ///< allocations with made > 0, in order of their first event
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::uint64_t events = 0;
  std::uint64_t peak_events = 0;  ///< after which peak_bytes were live
  std::uint64_t time_ms = 0;      ///< of the last time stamp
  std::uint64_t peak_time_ms = 0;
  std::uint64_t page_bytes = 0;  ///< 0: not recorded
  std::optional<std::int64_t> rss_bytes;
  std::optional<std::int64_t> rss_peak_bytes;

  /// One line of another kind than an event: `s i t a c R X I S #` and the like, and the events of version 0.
  /// Throws Failure: malformed, unsupported, limit.
  void take_line(std::string_view line, std::uint64_t offset);
  void take_version(std::string_view line);

  /// Counts a line that is left out.
  void skip(std::string_view why, std::uint64_t offset) { facts.notes.add(Severity::data_loss, why, offset); }

  static constexpr std::uint32_t kNoRow = 0xffffffff;
  /// For version 0, where events name size and trace: the row, made when it is new; kNoRow out of range.
  std::uint32_t allocation_of(std::uint64_t size, std::uint32_t trace);

 private:
  void string_line(std::string_view line, std::uint64_t offset);
  void pointer_line(std::string_view line, std::uint64_t offset);
  void trace_line(std::string_view line, std::uint64_t offset);
  void allocation_line(std::string_view line, std::uint64_t offset);
  void stamp_line(std::string_view line, std::uint64_t offset);
  void rss_line(std::string_view line, std::uint64_t offset);

  struct SizeAndTrace {
    std::uint64_t size;
    std::uint32_t trace;
    friend bool operator==(const SizeAndTrace&, const SizeAndTrace&) = default;
  };
  struct HashOf {
    std::size_t operator()(const SizeAndTrace& key) const {
      return static_cast<std::size_t>(keyed_hash(Hash128{key.size, key.trace}));
    }
  };
  std::unordered_map<SizeAndTrace, std::uint32_t, HashOf> row_of_;  // version 0
};

/// What a snapshot says beside its rows.
struct SnapshotWish {
  std::uint64_t events = 0;   ///< after so many
  std::uint64_t time_ms = 0;  ///< at this time of the recording
  bool cumulative = false;    ///< with all that was ever allocated: only for the state that was read last
  bool is_peak = false;
  std::optional<std::span<const std::int64_t>> live = std::nullopt;  ///< by allocation; else what is live now
};

/// The blocks of the recording that were live then.
/// Throws Failure: limit, as SnapshotBuilder::finish(); stacks of more than 2^28 frames in all.
Snapshot make_snapshot(const Recording& recording, const SnapshotWish& wish);

}  // namespace snapdiff::formats::heaptrack
