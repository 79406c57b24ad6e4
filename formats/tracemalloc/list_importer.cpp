#include "analyzer/base/contains.hpp"
#include "analyzer/base/rest_row.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/type_row.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/tracemalloc/python_frames.hpp"
#include "formats/tracemalloc/statistic_line.hpp"

namespace snapdiff::formats {
namespace {

using namespace tracemalloc;

/// One list as it was printed, heaviest first, of one kind of lines.
class PrintedList {
 public:
  bool empty() const { return entries_.empty(); }
  bool is_difference() const { return kind_ == LineKind::difference; }

  /// Whether `line` can be the next one: of the same kind, and not heavier than the one before.
  bool goes_on_with(const StatisticLine& line) const {
    const bool begins = line.kind == LineKind::ranked && line.count == 1;
    return empty() || (line.kind == kind_ && weight(line) <= last_weight_ && !begins);
  }

  void add(const StatisticLine& line) {
    kind_ = line.kind;
    last_weight_ = weight(line);
    Entry entry;
    entry.size = line.size;
    entry.count = line.count;
    entry.size_growth = line.size_growth;
    entry.count_growth = line.count_growth;
    entry.frames_begin = places_.size();
    entry.has_stack = line.kind == LineKind::blocks;
    if (!entry.has_stack) places_.push_back({std::string(line.file), line.line});
    entry.frames_end = places_.size();
    entries_.push_back(entry);
  }

  /// A frame of the stack of the last line; from the oldest call to the newest one.
  void add_frame(const StatisticLine& frame) {
    if (entries_.empty()) return;
    Entry& entry = entries_.back();
    if (!entry.has_stack) {
      // The line named one frame of the stack that now follows.
      entry.has_stack = true;
      places_.resize(entry.frames_begin);
    }
    places_.push_back({std::string(frame.file), frame.line});
    entry.frames_end = places_.size();
  }

  /// What the lines that are not listed add up to: of ranked lines only, "N other" before the total. False where it
  /// does not belong to this list.
  bool add_below(const StatisticLine& line) {
    if (empty() || kind_ != LineKind::ranked || has_total_) return false;
    if (line.kind == LineKind::rest) {
      if (rest_) return false;
      rest_ = line.size;
      return true;
    }
    has_total_ = true;
    if (rest_) return true;
    text::Quantity rest = line.size;
    for (const Entry& entry : entries_) {
      if (rest.value <= rest.half_unit) break;  // nothing is left, whatever follows; more might not fit in 64 bits
      rest.value -= entry.size.value;
      rest.half_unit += entry.size.half_unit;
    }
    // All lines are listed where the difference is within what was rounded off.
    if (rest.value > rest.half_unit) rest_ = rest;
    return true;
  }

  /// The snapshots of the list, oldest first: two of differences, else one.
  /// Throws Failure, as SnapshotBuilder::finish().
  /// `follows_difference`: the list before is of differences, too, so that this one's first snapshot is known.
  void finish(std::vector<Snapshot>& out, bool follows_difference) const {
    if (empty()) return;
    // Lists of differences after the first one begin where the one before ends, or all at the same start.
    if (kind_ == LineKind::difference && !follows_difference) out.push_back(snapshot(Side::before));
    out.push_back(snapshot(kind_ == LineKind::difference ? Side::after : Side::only));
  }

 private:
  struct Place {
    std::string file;
    std::int32_t line = 0;
  };
  struct Entry {
    text::Quantity size;
    std::int64_t count = 0;
    text::Quantity size_growth;
    std::int64_t count_growth = 0;
    std::size_t frames_begin = 0;
    std::size_t frames_end = 0;
    bool has_stack = false;  ///< recognised by File lines rather than by the line itself
  };
  enum class Side : std::uint8_t { only, before, after };

  bool has_counts() const { return kind_ != LineKind::ranked; }

  /// What lists are sorted by, as far as it was printed.
  static std::int64_t weight(const StatisticLine& line) {
    if (line.kind != LineKind::difference) return line.size.value;
    return line.size_growth.value < 0 ? -line.size_growth.value : line.size_growth.value;
  }

  Snapshot snapshot(Side side) const {
    SnapshotBuilder builder;
    if (has_counts()) builder.add_column({"inuse_objects", "count"});
    builder.add_column({"inuse_space", "bytes"});
    builder.add_column({half_unit_name("inuse_space"), "bytes"});
    for (const Entry& entry : entries_) add_row(builder, entry, side);
    if (rest_) {
      const std::array<std::int64_t, 2> values = {rest_->value, rest_->half_unit};
      builder.add_row(builder.pseudo_stack(kBelowThreshold), LabelSetId{}, values);
    }
    add_notes(builder);
    SnapshotFacts& facts = exact_facts(builder, "cpython");
    facts.complete = has_total_ && !rest_;
    facts.format_detail = side == Side::before           ? "printed differences, before"
                          : side == Side::after          ? "printed differences, after"
                          : kind_ == LineKind::statistic ? "printed statistics"
                          : kind_ == LineKind::ranked    ? "display_top"
                                                         : "printed tracebacks";
    return value_or_throw(builder.finish());
  }

  void add_row(SnapshotBuilder& builder, const Entry& entry, Side side) const {
    std::int64_t bytes = entry.size.value;
    std::int64_t half_unit = entry.size.half_unit;
    std::int64_t count = entry.count;
    if (side == Side::before) {
      bytes -= entry.size_growth.value;
      half_unit += entry.size_growth.half_unit;
      count -= entry.count_growth;
      if (bytes < 0) bytes = 0;  // by rounding
    }
    if (count == 0 && has_counts()) {
      bytes = 0;
      // Exact, but a row of zeros would not be kept, and a row that is absent is unknown here.
      half_unit = 1;
    }
    std::vector<FrameId> stack;
    for (std::size_t i = entry.frames_end; i > entry.frames_begin; --i) {
      const Place& place = places_[i - 1];
      stack.push_back(place_frame(builder, place.file, place.line));
    }
    if (stack.size() == 1 && places_[entry.frames_begin].file == kUnknownFile) stack.clear();
    const std::array<std::int64_t, 3> values = {count, bytes, half_unit};
    builder.add_row(builder.stack(stack), LabelSetId{}, std::span(values).subspan(has_counts() ? 0 : 1));
  }

  LineKind kind_ = LineKind::other;
  std::int64_t last_weight_ = 0;
  std::optional<text::Quantity> rest_;
  bool has_total_ = false;
  std::vector<Entry> entries_;
  std::vector<Place> places_;
};

/// Names and stacks of all lists of one input are kept until the end.
constexpr std::size_t kMostSnapshots = 4096;

bool is_blank_or_indented(std::string_view line) { return line.empty() || line.front() == ' ' || line.front() == '\t'; }

/// Finds where one list ends and the next one begins.
class Lists {
 public:
  void take(std::string_view text, std::uint64_t offset) {
    std::vector<StatisticLine> frames;
    StatisticLine shown = take_shown(text, frames);
    if (shown.kind == LineKind::other) return take_line(parse_line(text), text, offset);
    for (separated_ = true; shown.kind != LineKind::other; shown = take_shown(text, frames)) {
      take_line(shown, text, offset);
      if (frames.size() < 2 || !in_stack_) continue;
      for (const StatisticLine& frame : frames) list_.add_frame(frame);
    }
  }

  void end_list() {
    if (snapshots_.size() + 2 > kMostSnapshots)
      fail(ErrorCode::limit, "too many lists: more than " + std::to_string(kMostSnapshots) + " snapshots");
    list_.finish(snapshots_, had_difference_);
    had_difference_ = list_.is_difference() || (list_.empty() && had_difference_);
    list_ = {};
    separated_ = false;
  }

  void emit(SnapshotSink& out, std::uint64_t too_long) {
    if (too_long > 0) damaged_.add(Severity::data_loss, "lines of more than 16 MiB, left out", std::nullopt, too_long);
    for (Snapshot& snapshot : snapshots_) {
      snapshot.facts.notes.add_all(damaged_);
      give(out, std::move(snapshot));
    }
  }

  bool empty() const { return snapshots_.empty(); }

 private:
  void take_line(const StatisticLine& line, std::string_view text, std::uint64_t offset) {
    switch (line.kind) {
      case LineKind::other:
        // A heading, or anything else that a program prints; source text and blank lines are inside lists.
        in_stack_ = in_stack_ && is_blank_or_indented(text);
        separated_ = separated_ || !is_blank_or_indented(text);
        break;
      case LineKind::damaged:
        damaged_.add(Severity::data_loss, "lines of a list that could not be read, left out", offset);
        in_stack_ = false;
        break;
      case LineKind::frame:
        if (in_stack_) list_.add_frame(line);
        break;
      case LineKind::rest:
      case LineKind::total:
        separated_ = !list_.add_below(line) || separated_;
        in_stack_ = false;
        break;
      default: take_entry(line, offset);
    }
  }

  void take_entry(const StatisticLine& line, std::uint64_t offset) {
    in_stack_ = false;
    const std::int64_t before = line.count - line.count_growth;
    if (before < 0)
      return damaged_.add(Severity::data_loss, "lines of a list that could not be read, left out", offset);
    if (separated_ || !list_.goes_on_with(line)) end_list();
    separated_ = false;
    list_.add(line);
    in_stack_ = true;
  }

  PrintedList list_;
  std::vector<Snapshot> snapshots_;
  Notes damaged_;
  bool had_difference_ = false;  // the list before
  bool separated_ = false;       // other text since the last entry
  bool in_stack_ = false;        // File lines belong to the last entry
};

/// Lists of statistics out of a file or a log, each a snapshot; a list of differences is two.
void decode_lists(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  text::LogLines lines(in);
  Lists lists;
  std::string_view line;
  while (lines.next(line)) lists.take(line, lines.line_offset());
  lists.end_list();
  if (lists.empty())
    fail_malformed("no statistics: the input ends, expected lines such as app.py:9: size=983 KiB, count=201",
                   in.offset());
  lists.emit(out, lines.skipped());
}

/// Whether a line can be one of those that decide: a look at each costs as much as reading the file.
bool may_hold_statistics(std::string_view head) {
  return contains(head, "size=") || contains(head, "#") ||
         (contains(head, "memory block") && contains(head, "File \""));
}

Match sniff_text(std::string_view head) {
  if (!may_hold_statistics(head)) return Match::no;
  const std::string plain = text::plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  bool after_blocks = false;
  std::size_t ranked = 0;
  std::vector<StatisticLine> frames;
  while (text::take_line(rest, line)) {
    std::string_view shown = line;
    LineKind kind = take_shown(shown, frames).kind;
    if (kind == LineKind::other) kind = parse_line(line).kind;
    if (kind == LineKind::statistic || kind == LineKind::difference) return Match::certain;
    if (kind == LineKind::frame && after_blocks) return Match::certain;
    // One such line alone may be anything.
    const bool ends_ranked = (kind == LineKind::rest || kind == LineKind::total) && ranked > 0;
    if (kind == LineKind::ranked) ++ranked;
    if (ranked > 1 || ends_ranked) return Match::certain;
    after_blocks = kind == LineKind::blocks;
  }
  return Match::no;
}

}  // namespace

constexpr Format kTracemallocText{
    .info = {"tracemalloc-text", "printed statistics of Python's tracemalloc, also compare_to() and display_top",
             "*.txt, *.log", "averages, source lines, all other text"},
    .sniff = sniff_text,
    .decode = decode_lists};

}  // namespace snapdiff::formats
