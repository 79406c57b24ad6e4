#include "analyzer/base/rest_row.hpp"
#include "formats/pprof_text/printed_text.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/time_stamp.hpp"

namespace snapdiff::formats::pprof_text {
namespace {

using text::has_prefix;
using text::trim;

class PrintedReader {
 public:
  explicit PrintedReader(text::LogLines& lines) : lines_(lines) {}

  Snapshot read() {
    std::string_view line;
    while (lines_.next(line)) {
      // A session that was pasted: its first table counts.
      if (in_rows_ && has_prefix(line, "(pprof)")) break;
      if (!lines_.terminated()) cut_ = lines_.line_offset();
      if (in_rows_) {
        read_row(line);
      } else if (is_trace_) {
        read_trace(line);
      } else {
        read_heading(line);
      }
    }
    close_trace();
    if (!in_rows_ && !is_trace_)
      fail_malformed("no table: the input ends, expected rows of flat and cum", lines_.offset());
    return finish();
  }

 private:
  struct Row {
    PrintedValue value;
    std::vector<std::string> leaf_first;
    std::vector<bool> is_inlined;
  };

  void read_heading(std::string_view line) {
    if (is_row_heading(line)) {
      in_rows_ = true;
    } else if (has_prefix(line, "Type: ")) {
      type_ = trim(line.substr(6));
    } else if (has_prefix(line, "Time: ")) {
      if (const auto time = text::find_time(line.substr(6))) facts().taken_at_ns = time->ns;
    } else if (has_prefix(line, "Build ID: ") || has_prefix(line, "File: ") || has_prefix(line, "Active filters:")) {
      facts().comments.emplace_back(line);
    } else if (const auto total = stated_total(line)) {
      total_ = total;
    } else if (is_separator(line)) {
      // -tree and -peek have a heading of rows between two of these.
      is_trace_ = !total_;
    }
  }

  void read_row(std::string_view line) {
    const std::optional<FlatRow> row = flat_row(line);
    if (!row) {
      const bool is_known = trim(line).empty() || is_separator(line) || line.find(" | ") != std::string_view::npos;
      if (!is_known && !cut_) facts().lose("lines of another form, left out", lines_.line_offset());
      return;
    }
    rows_.push_back({row->flat, {std::string(row->name)}, {false}});
  }

  /// "     bytes:  112B", then "   512.02kB   net/http.send", then the callers.
  void read_trace(std::string_view line) {
    if (is_separator(line)) return close_trace();
    std::string_view name = trim(line);
    if (name.empty()) return;
    if (!open_) {
      text::Cursor at(name);
      const std::string_view token = at.token();
      if (token.ends_with(':')) return;  // a label
      const std::optional<PrintedValue> value = printed_value(token);
      if (!value) text::fail_found("trace not readable", name, "a value and a function", lines_.line_offset());
      open_ = Row{*value, {}, {}};
      name = trim(at.rest());
    }
    open_->is_inlined.push_back(take_inline_mark(name));
    open_->leaf_first.emplace_back(name);
  }

  void close_trace() {
    if (open_) rows_.push_back(std::move(*open_));
    open_.reset();
  }

  bool has_bytes() const {
    if (type_.ends_with("space") || type_.ends_with("bytes")) return true;
    for (const Row& row : rows_) {
      if (row.value.has_unit) return true;
    }
    return false;
  }

  Snapshot finish() {
    const bool bytes = has_bytes();
    const std::string name = type_.empty() ? (bytes ? "bytes" : "value") : type_;
    builder_.add_column({name, bytes ? "bytes" : type_.empty() ? "" : "count"});
    builder_.add_column({half_unit_name(name), bytes ? "bytes" : "count"});
    std::int64_t sum = 0;
    std::int64_t half = 0;
    for (const Row& row : rows_) add(row, sum, half);
    if (total_ && !facts().is_diff && !is_trace_) add_rest(sum, half);
    // The rest of a difference is unknown: its total is the baseline's.
    if (total_ && facts().is_diff) facts().complete = false;
    if (in_rows_) facts().notes.add(Severity::info, "flat values of functions, rounded: callers are not in this list");
    if (cut_) facts().lose("the last line has no end: it may be cut", *cut_);
    facts().format_detail = in_rows_ ? "flat list" : "traces";
    lines_.note_skipped(facts().notes);
    return value_or_throw(builder_.finish());
  }

  /// "main.account /srv/main.go:29" with -lines, else the name alone.
  static text::PrintedFrame frame_of_name(std::string_view name) {
    text::PrintedFrame whole, frame;
    whole.function = name;
    const std::size_t blank = name.rfind(' ');
    if (blank == std::string_view::npos) return whole;
    std::string_view file = name.substr(blank + 1);
    if (!text::take_line_and_column(file, frame) || file.find_first_of("/\\.") == std::string_view::npos) return whole;
    frame.file = file;
    frame.function = trim(name.substr(0, blank));
    return frame;
  }

  void add(const Row& row, std::int64_t& sum, std::int64_t& half) {
    std::vector<FrameId> stack;
    for (std::size_t i = 0; i < row.leaf_first.size(); ++i) {
      const text::PrintedFrame frame = frame_of_name(row.leaf_first[i]);
      stack.push_back(text::frame_of(builder_, frame, row.is_inlined[i] ? kFrameInlined : std::uint8_t{0}));
    }
    const text::Quantity& amount = row.value.amount;
    if (amount.value == 0) return;
    if (amount.value < 0) facts().is_diff = true;
    add_to(sum, amount.value, "values add up");
    add_to(half, amount.half_unit, "values add up");
    builder_.add_row(builder_.stack(stack), LabelSetId{}, std::array{amount.value, amount.half_unit});
  }

  void add_rest(std::int64_t sum, std::int64_t half) {
    const text::Quantity& total = total_->amount;
    const std::int64_t rest = total.value - sum;
    if (rest <= half + total.half_unit) return;
    facts().complete = false;
    builder_.add_row(builder_.pseudo_stack(kBelowThreshold), LabelSetId{},
                     std::array{rest, std::min(rest, half + total.half_unit)});
  }

  SnapshotFacts& facts() { return builder_.facts(); }

  text::LogLines& lines_;
  SnapshotBuilder builder_;
  std::string type_;
  std::optional<PrintedValue> total_;
  std::vector<Row> rows_;
  std::optional<Row> open_;
  std::optional<std::uint64_t> cut_;
  bool in_rows_ = false, is_trace_ = false;
};

}  // namespace

Snapshot read_printed(text::LogLines& lines) { return PrintedReader(lines).read(); }

using text::trim;

constexpr std::uint64_t kMostDigits = 10'000'000'000'000'000;

std::optional<PrintedValue> printed_value(std::string_view token) {
  text::Decimal number;
  const std::size_t end = text::parse_decimal(token, 0, number);
  if (end == 0) return std::nullopt;
  const bool has_unit = end < token.size();
  const std::uint64_t unit = has_unit ? text::size_unit(token.substr(end), false) : 1;
  // Two decimals are printed, of which ".00" is left out.
  if (unit > 1 && !number.has_point && number.digits <= kMostDigits) {
    number.digits *= 100;
    number.fraction_digits += 2;
  }
  const std::optional<text::Quantity> amount = unit == 0 ? std::nullopt : text::scale(number, unit);
  if (!amount) return std::nullopt;
  return PrintedValue{*amount, has_unit};
}

bool take_inline_mark(std::string_view& name) {
  for (const std::string_view mark : {" (inline)", " (partial-inline)"}) {
    if (!name.ends_with(mark)) continue;
    name.remove_suffix(mark.size());
    return mark == " (inline)";
  }
  return false;
}

bool is_separator(std::string_view line) {
  return text::has_prefix(line, "-----------+----") || text::has_prefix(line, "--------------------");
}

bool is_row_heading(std::string_view line) {
  text::Cursor at(line);
  for (const std::string_view word : {"flat", "flat%", "sum%", "cum", "cum%"}) {
    at.skip_blanks();
    if (at.token() != word) return false;
  }
  return true;
}

std::optional<FlatRow> flat_row(std::string_view line) {
  text::Cursor at(line);
  FlatRow out;
  for (int field = 0; field < 5; ++field) {
    at.skip_blanks();
    const std::string_view token = at.token();
    const bool is_percent = field != 0 && field != 3;
    if (is_percent != token.ends_with('%')) return std::nullopt;
    const auto value = printed_value(is_percent ? token.substr(0, token.size() - 1) : token);
    if (!value) return std::nullopt;
    if (field == 0) out.flat = *value;
  }
  out.name = trim(at.rest());
  if (text::has_prefix(out.name, "|")) out.name = trim(out.name.substr(1));
  take_inline_mark(out.name);
  return out.name.empty() ? std::nullopt : std::optional(out);
}

std::optional<PrintedValue> stated_total(std::string_view line) {
  constexpr std::string_view kOf = " of ", kTotal = " total";
  const std::size_t end = line.rfind(kTotal);
  const std::size_t begin = end == std::string_view::npos ? end : line.rfind(kOf, end);
  if (begin == std::string_view::npos) return std::nullopt;
  return printed_value(line.substr(begin + kOf.size(), end - begin - kOf.size()));
}

}  // namespace snapdiff::formats::pprof_text
