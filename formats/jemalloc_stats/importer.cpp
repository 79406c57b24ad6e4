#include "formats/jemalloc_stats/statistics.hpp"
#include "formats/json/json_dumps.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace jemalloc_stats;

using namespace text;

constexpr std::string_view kBegin = "Begin jemalloc statistics";
constexpr std::string_view kEnd = "End jemalloc statistics";

/// Where the columns of a table are; which there are differs by version.
struct Columns {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t count = 0;
  std::size_t size = kNone;
  std::size_t live = kNone;       ///< curregs, curlextents
  std::size_t allocated = kNone;  ///< bytes; older versions have no other for large ones
};

Columns columns_of(std::string_view heading) {
  Columns out;
  const std::vector<std::string_view> words = words_of_line(heading);
  out.count = words.size() - 1;  // the first is the name of the table
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "size") out.size = i - 1;
    if (words[i] == "curregs" || words[i] == "curlextents") out.live = i - 1;
    if (words[i] == "allocated") out.allocated = i - 1;
  }
  return out;
}

class TextDumps final : public ReportLog {
 public:
  TextDumps(Input& in, SnapshotSink& out)
      : ReportLog(in, out, "no statistics: the input ends, expected \"Begin jemalloc statistics\"") {}

 private:
  enum class Table : std::uint8_t { none, small, large };
  enum class Section : std::uint8_t { merged, single, destroyed };

  void handle(std::string_view line) override {
    if (line.find(kBegin) != std::string_view::npos) {
      if (statistics_) cut(lines_.line_offset());
      statistics_ = std::make_unique<Statistics>();
      statistics_->facts.format_detail = "text";
      table_ = Table::none;
      return;
    }
    if (!statistics_) return;
    if (line.find(kEnd) != std::string_view::npos) {
      take(*statistics_, out_);
      statistics_.reset();
      return;
    }
    if (table_ != Table::none && table_row(line)) return;
    table_ = Table::none;
    if (has_prefix(line, "bins:")) return begin_table(Table::small, line);
    if (has_prefix(line, "large:") && line.find(" size ") != std::string_view::npos)
      return begin_table(Table::large, line);
    if (has_prefix(line, "Allocated: ")) return totals(line);
    if (has_prefix(line, "Version: ")) return version(line.substr(9));
    if (has_prefix(line, "Count of realloc(non-null-ptr, 0) calls: ")) {
      if (const auto value = whole_number(trim(line.substr(41)))) add_counter(*statistics_, "zero_reallocs", *value);
    } else if (has_prefix(line, "Merged arenas stats")) {
      section_ = Section::merged;
    } else if (has_prefix(line, "Destroyed arenas stats")) {
      section_ = Section::destroyed;
    } else if (has_prefix(line, "arenas[")) {
      section_ = Section::single;
    }
  }

  void version(std::string_view text) {
    text = trim(text);
    if (text.size() > 1 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    statistics_->version = text;
  }

  /// "Allocated: 506624, active: 532480, metadata: 2735600 (n_thp 0), resident: 3178496, ..."
  void totals(std::string_view line) {
    while (!line.empty()) {
      const std::size_t comma = line.find(", ");
      const std::string_view part = line.substr(0, comma);
      line = comma == std::string_view::npos ? std::string_view{} : line.substr(comma + 2);
      const std::size_t colon = part.find(": ");
      if (colon == std::string_view::npos) continue;
      std::string name(part.substr(0, colon));
      if (name == "Allocated") name = "allocated";
      Cursor at(part.substr(colon + 2));
      const auto value = whole_number(at.token());
      if (value) add_counter(*statistics_, name, *value);
      at.skip_blanks();
      if (at.take("(n_thp ")) {
        if (std::int64_t pages = 0; at.count(pages)) add_counter(*statistics_, "metadata_thp", pages);
      }
    }
  }

  void begin_table(Table table, std::string_view heading) {
    columns_ = columns_of(heading);
    if (columns_.size == Columns::kNone || (columns_.live == Columns::kNone && columns_.allocated == Columns::kNone)) {
      statistics_->facts.notes.add(
          Severity::data_loss, "a table without a column of sizes or of live objects, left out", lines_.line_offset());
      return;
    }
    table_ = table;
    if (Classes* classes = open_classes()) classes->told = true;
  }

  /// Null where the arenas are gone.
  Classes* open_classes() {
    if (section_ == Section::destroyed) return nullptr;
    Arena& arena = section_ == Section::merged ? statistics_->merged : statistics_->sum;
    return table_ == Table::small ? &arena.small : &arena.large;
  }

  /// False when the line is no row: the table has ended.
  bool table_row(std::string_view line) {
    const std::string_view text = trim(line);
    if (text == "---") return true;  // classes without anything in them
    if (text.empty() || !is_digit(text.front())) return false;
    const std::vector<std::string_view> words = words_of_line(text);
    const auto cell = [&](std::size_t column) {
      return column < words.size() ? whole_number(words[column]) : std::optional<std::int64_t>{};
    };
    const auto size = cell(columns_.size);
    auto live = cell(columns_.live);
    if (!live && size && *size > 0) {
      if (const auto bytes = cell(columns_.allocated)) live = *bytes / *size;
    }
    if (words.size() != columns_.count || !size || *size == 0 || !live || !lines_.terminated()) {
      statistics_->facts.lose("rows of a table that could not be read, left out", lines_.line_offset());
      return true;
    }
    if (Classes* classes = open_classes()) add_live(*classes, *size, *live, lines_.line_offset());
    return true;
  }

  void cut(std::uint64_t offset) {
    if (!out_.empty()) {
      out_.last().lose("a dump without its end, which was left out", offset);
    } else {
      statistics_->facts.lose("the dump has no end: the input was cut", offset);
      take(*statistics_, out_);
      out_.last().complete = false;
    }
    statistics_.reset();
  }

  void finish() override {
    if (statistics_) cut(lines_.offset());
  }

  std::unique_ptr<Statistics> statistics_;  // the open dump
  Table table_ = Table::none;
  Section section_ = Section::single;
  Columns columns_;
};

void read_text(Input& in, SnapshotSink& out) { TextDumps(in, out).run(); }

Match sniff_jemalloc(std::string_view head) {
  if (begins_with(head, {"{", "\"jemalloc\"", ":"})) return Match::certain;
  return certain_if(plain_head(head).find("Begin jemalloc statistics") != std::string::npos);
}

}  // namespace

constexpr Format kJemallocStats{.info = {"jemalloc-stats", "statistics of jemalloc (malloc_stats_print), JSON or text",
                                         "*.json, *.txt", "rates, locks, slabs, dirty pages, the split by arena"},
                                .sniff = sniff_jemalloc,
                                .decode = json::read_json_or_text<read_json, read_text>,
                                .many = "distinct stacks"};

}  // namespace snapdiff::formats
