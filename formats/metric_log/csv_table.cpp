#include "formats/metric_log/log_session.hpp"
#include "formats/metric_log/vocabulary.hpp"

/// Tables with a separator and a heading: nvidia-smi --format=csv, dotnet-counters collect, what people write.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kMostCells = 256;
constexpr std::size_t kMostCellBytes = 128;  // of a heading, of a label
constexpr std::string_view kCsvTimes = "timestamp time datetime date ts ";
constexpr std::string_view kCsvSteps = "step iteration iter epoch ";
constexpr std::string_view kCsvLabels = "pid index gpu device pod host container process name rank worker ";
constexpr std::string_view kDotnetHeading = "Timestamp,Provider,Counter Name,Counter Type,Mean/Increment";

/// The cells of a line, without blanks and quotes around them; none of a line with too many.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> out(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == separator && !is_quoted) {
      if (out.size() == kMostCells) return {};
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  for (std::string& cell : out) cell = std::string(trim(cell));
  return out;
}

/// "1234 MiB", "1234"; `unit` where none stands behind the number. Nothing where the cell holds another text.
std::optional<Quantity> quantity_of(std::string_view cell, std::uint64_t unit) {
  const Measure found = measure_at(cell, 0);
  return found.end == cell.size() ? found.bytes(unit) : std::nullopt;
}

enum class Role : std::uint8_t { other, memory, time, step, label };

struct Column {
  Role role = Role::other;
  std::string name;        ///< of the counter, of the label
  std::uint64_t unit = 0;  ///< bytes of one; 0: not said
  bool cumulative = false;
};

/// "memory.used [MiB]", "rss_mb", "Working Set (MB)".
Column column_of(std::string_view heading, bool decimal_units) {
  Column out;
  std::string words = words_of(heading);
  if (is_one_of(words, kCsvTimes)) return {Role::time, {}, 0};
  if (is_one_of(words, kCsvSteps)) return {Role::step, {}, 0};
  if (is_one_of(words, kCsvLabels) || words == "process name") return {Role::label, words, 0};
  if (const std::size_t last = words.rfind(' '); last != std::string::npos && words.size() - last > 2) {
    out.unit = size_unit(std::string_view(words).substr(last + 1), decimal_units);
    if (out.unit != 0) words.resize(last);
  }
  const Word* const word = find_word(words);
  if (!has_memory_word(words) && (word == nullptr || (out.unit == 0 && !word->alone))) return out;
  out.role = Role::memory;
  out.cumulative = counts_up(words);
  std::replace(words.begin(), words.end(), ' ', '_');
  out.name = std::move(words);
  return out;
}

/// "11/26/2026 10:01:02", as dotnet-counters writes it whatever the language.
std::optional<std::int64_t> dotnet_time(std::string_view text) {
  if (text.size() < 19 || text[2] != '/' || text[5] != '/' || text[10] != ' ') return std::nullopt;
  const std::string iso = std::string(text.substr(6, 4)) + '-' + std::string(text.substr(0, 2)) + '-' +
                          std::string(text.substr(3, 2)) + std::string(text.substr(10));
  const std::optional<TimeStamp> time = parse_time(iso);
  return time ? std::optional(time->ns) : std::nullopt;
}

class CsvTable final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::string_view text = trim(line.text);
    if (text == kDotnetHeading) {
      is_dotnet_ = true;
      columns_.clear();
      return false;
    }
    if (is_dotnet_ && take_dotnet(line, session)) return true;
    if (!columns_.empty() && take_row(line, session)) return true;
    for (const char separator : {',', '\t', ';'}) {
      if (text.find(separator) == std::string_view::npos) continue;
      if (take_heading(text, separator, session.decimal_units())) return false;
    }
    return false;
  }

 private:
  bool take_heading(std::string_view text, char separator, bool decimal_units) {
    const std::vector<std::string> cells = cells_of(text, separator);
    if (cells.size() < 2) return false;
    const auto is_heading = [](const std::string& cell) {
      return !cell.empty() && cell.size() <= kMostCellBytes && (is_letter(cell[0]) || cell[0] == '_');
    };
    if (!std::all_of(cells.begin(), cells.end(), is_heading)) return false;
    std::vector<Column> columns;
    for (const std::string& cell : cells) columns.push_back(column_of(cell, decimal_units));
    const auto has = [&](Role role) {
      return std::any_of(columns.begin(), columns.end(), [&](const Column& one) { return one.role == role; });
    };
    // Words alone make a heading of any sentence with a comma: a unit or a time says that it is one.
    const bool has_unit = std::any_of(columns.begin(), columns.end(),
                                      [](const Column& one) { return one.role == Role::memory && one.unit != 0; });
    if (!has(Role::memory) || (!has_unit && !has(Role::time) && !has(Role::step))) return false;
    columns_ = std::move(columns);
    separator_ = separator;
    is_dotnet_ = false;
    return true;
  }

  bool take_row(const LogLine& line, Session& session) {
    const std::vector<std::string> cells = cells_of(line.text, separator_);
    if (cells.size() != columns_.size()) return false;
    std::vector<Reading> readings;
    LineFacts facts;
    facts.offset = line.offset;
    bool has_index = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Column& column = columns_[i];
      if (cells[i].empty()) continue;
      switch (column.role) {
        case Role::memory: {
          const std::optional<Quantity> value = quantity_of(cells[i], column.unit == 0 ? 1 : column.unit);
          if (!value && cells[i].back() == '%') continue;
          if (!value) {
            if (is_letter(cells[i][0]) || cells[i][0] == '[') continue;  // N/A
            return false;
          }
          const bool says_unit = column.unit != 0 || is_letter(cells[i].back());
          readings.push_back({column.name, says_unit ? "bytes" : "", *value, column.cumulative});
          break;
        }
        case Role::time:
          if (const auto time = parse_time(cells[i])) {
            facts.time_ns = time->ns;
          } else if (const auto found = find_time(cells[i])) {
            facts.time_ns = found->ns;
          }
          break;
        case Role::step:
          if (std::int64_t step = 0; parse_whole(cells[i], step)) facts.step = step;
          break;
        case Role::label:
          has_index = has_index || column.name == "index" || column.name == "pid";
          facts.tags.emplace_back(column.name, cells[i].substr(0, kMostCellBytes));
          break;
        case Role::other: break;
      }
    }
    if (readings.empty()) return false;
    // A number names one of them; the name beside it is the model's.
    if (has_index) std::erase_if(facts.tags, [](const auto& tag) { return tag.first == "name"; });
    session.recorder().record(kCsvTable, facts, readings);
    return true;
  }

  /// "11/26/2026 10:01:02,System.Runtime,GC Heap Size (MB),Metric,12.5": its MB are 10^6 bytes.
  bool take_dotnet(const LogLine& line, Session& session) {
    const std::vector<std::string> cells = cells_of(line.text, ',');
    if (cells.size() < 5) return false;
    LineFacts facts;
    facts.offset = line.offset;
    facts.time_ns = dotnet_time(cells[0]);
    if (!facts.time_ns) return false;
    // Labels may hold commas: "dotnet.gc.last_collection.heap.size (By)[gc.heap.generation=gen0]".
    std::string name = cells[2];
    for (std::size_t i = 3; i + 2 < cells.size(); ++i) name += ',' + cells[i];
    const std::size_t open = name.rfind('('), close = name.find(')', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || close == std::string::npos || cells[cells.size() - 2] != "Metric") return true;
    const std::string unit_word = name.substr(open + 1, close - open - 1);
    const std::uint64_t unit = unit_word == "By" ? 1 : size_unit(unit_word, true);
    const std::optional<Quantity> value = unit == 0 ? std::nullopt : quantity_of(cells.back(), unit);
    if (!value) return true;
    std::string counter(trim(name.substr(0, open)));
    if (std::string labels = name.substr(close + 1); labels.size() > 2)
      counter += '{' + labels.substr(1, labels.size() - 2) + '}';
    const Reading readings[] = {{std::move(counter), "bytes", *value, false}};
    session.recorder().record(kCsvTable, facts, readings);
    return true;
  }

  std::vector<Column> columns_;
  char separator_ = ',';
  bool is_dotnet_ = false;
};

}  // namespace

std::unique_ptr<Matcher> make_csv_table_matcher() { return std::make_unique<CsvTable>(); }

}  // namespace snapdiff::formats::metric_log
