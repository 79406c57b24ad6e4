#include "formats/metric_log/log_session.hpp"

/// Line tables of memory_profiler (show_results in memory_profiler.py). An increment sums all runs of a
/// line and of what it calls, so each line is a counter of its own and nothing is added up.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kMaxPathBytes = 4096;

/// Where a column of a table ends, and whether there is another, from its heading.
struct Columns {
  std::size_t memory_end = 0;
  bool has_occurrences = false;
};

std::optional<Columns> heading(std::string_view line) {
  static const Pattern kTable("Line #.*(Mem usage).*Increment(.*)Line Contents");
  std::string_view memory, between;
  if (!contains(line, "Line #") || !kTable.in(line, memory, between)) return std::nullopt;
  return Columns{static_cast<std::size_t>(memory.end() - line.begin()), contains(between, "Occurrences")};
}

struct ProfilerRow {
  std::int64_t line = 0;
  bool is_measured = false;
  Quantity memory, increment;
  std::optional<std::int64_t> occurrences;
  std::string_view source;
};

/// "22.0 MiB" at the cursor.
std::optional<Quantity> next_size(Cursor& at) {
  std::string_view number, unit;
  const bool fits =
      at.takes("~%~%", number, unit) && unit == "MiB" && measure_at(number, 0).number_end == number.size();
  return fits ? measure_at(number, 0).bytes(std::uint64_t{1} << 20) : std::nullopt;
}

std::optional<ProfilerRow> parse_row(std::string_view text, const Columns& columns) {
  ProfilerRow row;
  Cursor at(text);
  std::string_view number;
  if (!at.takes("~%~", number) || !parse_whole(number, row.line) || row.line <= 0) return std::nullopt;
  const std::size_t first = text.size() - at.left();
  // Values that are too wide push what is after them to the right, but begin in their column.
  if (first >= columns.memory_end || first == text.size()) {
    row.source = text.substr(first);
    return row;
  }
  const std::optional<Quantity> memory = next_size(at), increment = next_size(at);
  if (!memory || !increment) return std::nullopt;
  row.is_measured = true;
  row.memory = *memory;
  row.increment = *increment;
  if (columns.has_occurrences) {
    std::int64_t count = 0;
    if (!at.takes("~%", number) || !parse_whole(number, count)) return std::nullopt;
    row.occurrences = count;
  }
  row.source = at.rest();
  return row;
}

/// NAME of "def NAME(" or "async def NAME(".
std::string_view defined_function(std::string_view source) {
  source = trim(source);
  if (source.starts_with("async ")) source = trim(source.substr(6));
  if (!source.starts_with("def ")) return {};
  source = trim(source.substr(4));
  std::size_t end = 0;
  while (end < source.size() && (is_word(source[end]) || static_cast<unsigned char>(source[end]) >= 0x80)) ++end;
  return source.substr(0, end);
}

class ProfilerTable final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    if (is_open_) {
      if (take_row(line, session)) return true;
      close(session);
    }
    constexpr std::string_view kFile = "Filename: ";
    const std::size_t file = line.text.find(kFile);
    if (file != std::string_view::npos) {
      file_ = std::string(trim(line.text.substr(file + kFile.size())).substr(0, kMaxPathBytes));
      return false;
    }
    const std::optional<Columns> columns = heading(line.text);
    if (!columns) return false;
    is_open_ = true;
    columns_ = *columns;
    rows_.clear();
    function_.clear();
    facts_ = session.facts_of(line);
    return true;
  }

  void finish(Session& session) override {
    if (!is_open_) return;
    session.notes().add(Severity::data_loss, "the last line table has no end: rows may be missing", facts_.offset);
    session.recorder().set_partial();
    if (!function_.empty()) close(session);  // else its lines would get other names than those of whole tables
  }

 private:
  bool take_row(const LogLine& line, Session& session) {
    const std::string_view text = trim(line.text);
    if (text.empty()) return false;
    if (rows_.empty() && text.find_first_not_of('=') == std::string_view::npos) return true;
    const std::optional<ProfilerRow> row = parse_row(line.text, columns_);
    if (!row) {
      if (!is_digit(text[0])) return false;
      session.notes().add(Severity::data_loss, "rows of line tables that break the columns were skipped", line.offset);
      return true;
    }
    if (function_.empty()) function_ = std::string(defined_function(row->source));
    if (row->is_measured && rows_.size() < kMaxSeries) {
      rows_.push_back(*row);
      rows_.back().source = {};  // of the line
    }
    return true;
  }

  void close(Session& session) {
    is_open_ = false;
    std::vector<Reading> readings;
    for (const ProfilerRow& row : rows_) {
      const std::string tags =
          with_tags("", {{"file", file_}, {"function", function_}, {"line", std::to_string(row.line)}});
      readings.push_back({"memory" + tags, "bytes", row.memory, false});
      // The first row prints the memory at entry once more: nothing was added there.
      const bool is_entry = &row == &rows_.front() && row.increment.value == row.memory.value;
      if (!is_entry) readings.push_back({"increment" + tags, "bytes", row.increment, false});
      if (row.occurrences) readings.push_back({"occurrences" + tags, "count", {*row.occurrences, 0}, false});
    }
    session.recorder().record(kProfilerTable, facts_, readings);
    rows_.clear();
  }

  bool is_open_ = false;
  Columns columns_;
  std::string file_;
  std::string function_;
  LineFacts facts_;
  std::vector<ProfilerRow> rows_;
};

}  // namespace

std::unique_ptr<Matcher> make_profiler_table_matcher() { return std::make_unique<ProfilerTable>(); }

}  // namespace snapdiff::formats::metric_log
