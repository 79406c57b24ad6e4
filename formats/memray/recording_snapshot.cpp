#include "analyzer/base/number_text.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "formats/memray/memray_recording.hpp"
#include "formats/text/printed_frame.hpp"

/// The tables in which CPython's code objects keep their lines.
namespace snapdiff::formats::memray {
namespace {

/// Python stops at 1000 frames unless told otherwise; a chain of stacks in a made-up file may be as long as the file.
constexpr std::size_t kDeepestStack = std::size_t{1} << 16;
/// Frames that deep stacks may take together; beyond, a stack keeps kUsualStack of them at its leaf, so that all
/// stacks are in proportion to the file.
constexpr std::size_t kDeepFrames = std::size_t{1} << 22;
constexpr std::size_t kUsualStack = 256;

/// Makes frames and stacks as they are needed.
class Stacks {
 public:
  Stacks(const Recording& recording, SnapshotBuilder& builder)
      : r_(recording),
        builder_(builder),
        frames_(recording.frames.size(), kUnmade),
        modules_(recording.files.size(), kUnmade),
        lines_(recording.codes.size()),
        depth_(recording.python.size(), 0),
        main_thread_(recording.threads.find(recording.main_thread)) {
    for (std::size_t node = 1; node < depth_.size(); ++node) depth_[node] = depth_[r_.python[node].parent] + 1;
  }

  StackId of(const Site& site) {
    stack_.clear();
    const std::size_t deepest = deep_frames_ < kDeepFrames ? kDeepestStack : kUsualStack;
    if (site.native != 0) add_native(site.native, site.python != 0, deepest);
    // memray hides its own callers: the frames in front of the tracker, at the root.
    const std::uint64_t hidden = site.thread == main_thread_ ? r_.skipped_frames : 0;
    for (std::uint32_t at = site.python; depth_[at] > hidden && stack_.size() <= deepest; at = r_.python[at].parent)
      stack_.push_back(python_frame(r_.python[at].what));
    if (stack_.size() > deepest) {
      stack_.resize(deepest);
      stack_.push_back(builder_.pseudo_frame(kStackCut));
      builder_.notes().add(Severity::data_loss, "very deep stacks are cut at their root");
    }
    if (stack_.size() > kUsualStack) deep_frames_ += stack_.size();
    return builder_.stack(stack_);
  }

 private:
  static constexpr std::uint32_t kUnmade = kNoRow;

  FrameId python_frame(std::uint32_t row) {
    if (frames_[row] != kUnmade) return FrameId{frames_[row]};
    const PythonFrame& frame = r_.frames[row];
    const bool has_code = frame.code != kNoRow;
    text::PrintedFrame printed;
    printed.function = r_.strings[has_code ? r_.codes[frame.code].function : frame.function];
    printed.file = r_.strings[has_code ? r_.codes[frame.code].file : frame.file];
    printed.line = has_code ? line_of(frame) : frame.line;
    if (printed.function.empty()) printed.function = "<unknown>";
    const FrameId made = text::frame_of(builder_, printed);
    frames_[row] = static_cast<std::uint32_t>(made);
    return made;
  }

  std::int64_t line_of(const PythonFrame& frame) {
    std::vector<LineRange>& lines = lines_[frame.code];
    if (lines.empty()) lines = lines_of(r_.python_version, r_.codes[frame.code]);
    return line_at(r_.python_version, lines, frame.instruction);
  }

  /// Native frames at the leaf, leaf first. Where there are Python frames, those up to the interpreter's: which of its
  /// own frames runs which Python frame only its symbols say.
  void add_native(std::uint32_t node, bool with_python, std::size_t deepest) {
    for (; node != 0 && stack_.size() <= deepest; node = r_.addresses[node].parent) {
      const std::uint64_t call = r_.addresses[node].what - 1;
      auto image = r_.images.upper_bound(call);
      if (image == r_.images.begin() || (--image)->second.end <= call) continue;
      if (with_python && is_interpreter(r_.files[image->second.file])) return;
      stack_.push_back(builder_.frame({.module = module(image->second.file), .offset = call - image->second.base}));
    }
    // An interpreter of another name: all would be here twice, in native frames and in Python's.
    if (with_python) stack_.clear();
  }
  static bool is_interpreter(std::string_view file) {
    const std::string_view name = base_name(file);
    return name.starts_with("python") || name.starts_with("libpython");
  }
  ModuleId module(std::uint32_t file) {
    if (modules_[file] == kUnmade) {
      const ModuleId made = builder_.module(r_.files[file], {});
      modules_[file] = static_cast<std::uint32_t>(made);
      // Over all addresses: offsets are those that the file was linked for.
      builder_.add_mapping({0, std::numeric_limits<std::uint64_t>::max(), 0, made});
    }
    return ModuleId{modules_[file]};
  }

  const Recording& r_;
  SnapshotBuilder& builder_;
  std::vector<std::uint32_t> frames_, modules_;
  std::vector<std::vector<LineRange>> lines_;  ///< by code object, made when needed
  std::vector<std::uint32_t> depth_;           ///< by node
  std::uint32_t main_thread_;
  std::vector<FrameId> stack_;
  std::size_t deep_frames_ = 0;
};

void add_facts(const Recording& r, bool at_peak, SnapshotFacts& facts) {
  constexpr std::int64_t kNsPerMs = 1'000'000;
  facts = r.facts;
  facts.producer = "memray";
  facts.format_detail = "version " + std::to_string(r.version) + (r.aggregated ? ", aggregated" : "") +
                        (r.native ? ", native traces" : "") + (at_peak ? ", at the peak" : "");
  facts.sampling = Sampling::exact;
  facts.position = at_peak ? 1 : 0;
  // Where the header was not written at the end: the time of the last memory record.
  std::int64_t at = r.end_ms;
  const std::int64_t since_start = at_peak ? r.peak_time_ms : r.time_ms;
  const bool known = !at_peak || !r.aggregated;
  const bool in_range = (!at_peak && at > r.start_ms) || checked_add(r.start_ms, since_start, at);
  if (known && in_range && !__builtin_mul_overflow(at, kNsPerMs, &at) && at > 0) facts.taken_at_ns = at;
  const auto add = [&](std::string name, std::int64_t value, std::string_view unit, bool cumulative = false) {
    facts.counters.push_back({std::move(name), value, std::string(unit), cumulative});
  };
  add("peak_memory", r.peak_heap, "bytes");
  if (r.rss_peak > 0) add("rss_peak", r.rss_peak, "bytes");
  // Sums until the end say nothing of the peak.
  if (at_peak) return;
  if (r.rss_peak > 0) add("rss", r.rss, "bytes");
  if (r.aggregated) return;
  std::int64_t all = 0;
  for (std::size_t a = 0; a < kAllocators.size(); ++a) {
    all += r.allocations[a];
    if (r.allocations[a] > 0) {
      add("allocs{allocator=" + std::string(kAllocators[a]) + "}", r.allocations[a], "count", true);
    }
  }
  add("allocs", all, "count", true);
  add("allocated", r.allocated_bytes, "bytes", true);
}

std::string thread_of(const Recording& r, std::uint32_t row) {
  const std::uint64_t id = r.threads.numbers()[row];
  const auto name = r.thread_names.find(id);
  if (name != r.thread_names.end() && !name->second.empty()) return name->second;
  return hex_text(id);
}

constexpr std::uint32_t kPython310 = 0x030a0000, kPython311 = 0x030b0000;

/// Bytes of a table; 0 behind its end.
class Table {
 public:
  explicit Table(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }
  std::uint8_t next() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  /// Six bits a byte, the lowest first.
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift = std::min(shift + 6, 60U)) {
      const std::uint8_t byte = next();
      if (shift < 30) value |= std::uint64_t{byte & 63U} << shift;  // lines have up to 31 bits
      if ((byte & 64U) == 0) return value;
    }
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    const auto size = static_cast<std::int64_t>(value >> 1U);
    return (value & 1U) != 0 ? -size : size;
  }

 private:
  std::string_view rest_;
};

/// Python 3.11 on: entries for 1 to 8 code units of two bytes; a kind, then what it needs.
void read_311(Table table, std::int64_t line, std::vector<LineRange>& out) {
  constexpr unsigned kOneLine = 10, kNoColumns = 13, kLong = 14;
  for (std::int64_t unit = 0; !table.at_end();) {
    const std::uint8_t first = table.next();
    const unsigned kind = first >> 3U & 15U;
    if (kind == kLong || kind == kNoColumns) line += table.signed_number();
    if (kind == kLong) {
      for (int skipped = 0; skipped < 3; ++skipped) table.number();  // last line, columns
    } else if (kind < kNoColumns) {
      if (kind >= kOneLine) line += kind - kOneLine;
      table.next();  // columns
      if (kind >= kOneLine) table.next();
    }
    unit += (first & 7U) + 1;
    out.push_back({unit * 2, line});
  }
}

/// Before: pairs of bytes, a step of the instruction and one of the line, which holds up to the end of the step, or
/// before Python 3.10 from there on.
void read_pairs(Table table, std::int64_t line, bool before_310, std::vector<LineRange>& out) {
  constexpr int kNoLine = -128;
  for (std::int64_t at = 0; !table.at_end();) {
    at += table.next();
    const auto step = static_cast<std::int8_t>(table.next());
    if (before_310) out.push_back({at, line});
    if (before_310 || step != kNoLine) line += step;
    if (!before_310) out.push_back({at, line});
  }
  out.push_back({std::numeric_limits<std::int64_t>::max(), line});
}

}  // namespace

Snapshot make_snapshot(const Recording& r, bool at_peak) {
  SnapshotBuilder builder;
  add_facts(r, at_peak, builder.facts());
  const bool with_made = !at_peak && !r.aggregated;
  builder.add_heap_columns(with_made);
  Stacks stacks(r, builder);
  std::vector<StringId> threads(r.threads.size());
  for (const Site& site : r.sites) {
    const bool kept = at_peak && site.kept_peak == r.peaks;
    const std::int64_t values[] = {kept ? site.peak_count : site.count, kept ? site.peak_bytes : site.bytes,
                                   site.made_count, site.made_bytes};
    if (!with_made && values[0] == 0 && values[1] == 0) continue;
    if (threads[site.thread] == StringId{}) threads[site.thread] = builder.string(thread_of(r, site.thread));
    std::vector<Label> labels{text_label(builder, "allocator", kAllocators[site.allocator])};
    labels.push_back({builder.string("thread"), threads[site.thread]});
    const LabelSetId set = builder.labels(std::move(labels));
    builder.add_row(stacks.of(site), set, std::span(values).first(with_made ? 4 : 2));
  }
  return value_or_throw(builder.finish());
}

std::uint32_t new_row(std::size_t rows) {
  if (rows >= kNoRow) fail(ErrorCode::limit, "table is full: more than 4 294 967 294 entries of one kind");
  return static_cast<std::uint32_t>(rows);
}

void Recording::too_many_bytes() {
  fail(ErrorCode::limit, "live bytes are beyond 2^63-1, expected them to fit in 64 bits");
}

void Recording::add_image(std::uint64_t start, const Image& image) {
  auto at = images.lower_bound(start);
  if (at != images.end() && at->first == start && at->second == image) return;
  if (at != images.begin() && std::prev(at)->second.end > start) --at;
  while (at != images.end() && at->first < image.end) at = images.erase(at);
  images.emplace(start, image);
}

std::vector<LineRange> lines_of(std::uint32_t python_version, const Code& code) {
  std::vector<LineRange> out;
  if (code.line_table.empty()) return out;
  const Table table(code.line_table);
  if (python_version >= kPython311) {
    read_311(table, code.first_line, out);
  } else {
    read_pairs(table, code.first_line, python_version < kPython310, out);
  }
  return out;
}

std::int64_t line_at(std::uint32_t python_version, const std::vector<LineRange>& lines, std::int32_t instruction) {
  if (instruction < 0) return 0;
  // Python 3.10 counts instructions here and bytes in the table.
  const bool in_units = python_version >= kPython310 && python_version < kPython311;
  const std::int64_t wanted = std::int64_t{instruction} * (in_units ? 2 : 1);
  const auto found = std::upper_bound(lines.begin(), lines.end(), wanted,
                                      [](std::int64_t value, const LineRange& range) { return value < range.end; });
  return found == lines.end() ? 0 : found->line;
}

}  // namespace snapdiff::formats::memray
