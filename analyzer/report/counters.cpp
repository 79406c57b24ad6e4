#include <algorithm>
#include <cmath>
#include <span>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/names.hpp"
#include "analyzer/report/story_lines.hpp"
#include "analyzer/report/table.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kReasonsShown = 3;

/// Bars of the known points; unknown ones take the value before them.
std::string sparkline_of(const CounterRow& row, bool utf8) {
  std::vector<std::int64_t> values;
  for (std::size_t i = row.first; i <= row.last; ++i) values.push_back(row.values[i] ? *row.values[i] : values.back());
  // From the lowest one up: a level of gigabytes that climbs by megabytes would be a flat line of bars from zero.
  const std::int64_t lowest = *std::min_element(values.begin(), values.end());
  for (std::int64_t& value : values) {
    // The smallest bar instead of none for the lowest.
    if (__builtin_sub_overflow(value, lowest, &value)) return {};
  }
  return sparkline(values.data(), values.size(), kSparkWidth, utf8);
}

std::string marks_of(const CounterRow& row) {
  std::string text;
  if (row.cumulative) text += "  (counted up";
  if (row.resets > 0) text += ", began anew " + counted(static_cast<std::int64_t>(row.resets), "time");
  return row.cumulative ? text + ")" : text;
}

std::string mean_step(const CounterRow& row) {
  if (row.last == row.first) return {};
  const double step = static_cast<double>(row.growth) / static_cast<double>(row.last - row.first);
  if (step != 0 && std::abs(step) < 0.5) return step < 0 ? "-<1" : "<1";
  return snapdiff::value_text(std::llround(std::clamp(step, -9e18, 9e18)), row.unit, true);
}

/// Growth that the source's rounding alone could make.
bool within_rounding(const CounterRow& row) {
  return row.half_unit > 0 && std::abs(static_cast<double>(row.growth)) <= 2 * static_cast<double>(row.half_unit);
}

class CountersText {
 public:
  CountersText(const CounterReport& report, const Style& style)
      : report_(report), style_(style), glyphs_(glyphs_for(style.utf8)), wide_(style.width >= kWide) {
    single_ = report.snapshots.size() == 1;
    judged_ = std::any_of(report.rows.begin(), report.rows.end(),
                          [](const CounterRow& row) { return !word_of(row).empty(); });
    spark_ = wide_ && report.snapshots.size() > 2;
  }

  std::string all() const {
    std::string out = head();
    const std::size_t shown = shown_of(report_.rows.size(), style_);
    TextTable table(columns(), "counter", style_.thousands);
    for (std::size_t i = 0; i < shown; ++i) fill(report_.rows[i], table.add());
    const std::size_t width = table.rest_width(style_.width);
    for (std::size_t i = 0; i < shown; ++i) {
      const CounterRow& row = report_.rows[i];
      const std::string marks = marks_of(row) + (within_rounding(row) && !single_ ? "  ~" : "");
      table.rows()[i].last = cut_middle(printable(row.name, style_.utf8),
                                        width > marks.size() ? width - marks.size() : 0, glyphs_.ellipsis) +
                             marks;
    }
    if (shown < report_.rows.size()) {
      TextTable::Row& rest = table.add();
      rest.cells.resize(columns().size());
      rest.last = others_text(static_cast<std::int64_t>(report_.rows.size() - shown));
    }
    out += table.text(style_.colour);
    std::vector<std::string> notes = note_lines(report_.notes, style_.utf8);
    const bool rounded = std::any_of(report_.rows.begin(), report_.rows.end(), within_rounding);
    if (rounded && !single_) notes.emplace_back("~ growth within what the input is rounded to");
    return out + text_end(notes, style_);
  }

 private:
  std::string head() const {
    if (report_.rows.empty()) return "no counters\n";
    std::string span = counted(static_cast<std::int64_t>(report_.snapshots.size()), "snapshot");
    if (!report_.axis.seconds.empty()) span += ", " + duration_text(report_.axis.seconds.back());
    std::vector<HeadLine> lines{
        {"counters",
         {{counted(static_cast<std::int64_t>(report_.rows.size()), "counter") + " over " + span, Paint::none}}}};
    if (!single_ && !judged_) lines.push_back({"verdict", {{"none: 8 or more snapshots are judged", Paint::none}}});
    std::size_t told = 0;
    for (const CounterRow& row : report_.rows) {
      if (!judged_ || told == kReasonsShown || (row.verdict.word != "GROWING" && row.verdict.word != "RISING"))
        continue;
      ++told;
      lines.push_back({told == 1 ? "verdict" : "",
                       {{row.verdict.word, verdict_paint(row.verdict.word)},
                        {" " + printable(row.name, style_.utf8) + ": " + printable(row.verdict.reason, style_.utf8),
                         Paint::none}}});
    }
    if (judged_ && told == 0 && !single_)
      lines.push_back({"verdict", {{"no counter is GROWING or RISING", Paint::none}}});
    if (!report_.axis.note.empty())
      lines.push_back({"times", {{printable(report_.axis.note, style_.utf8), Paint::none}}});
    return headline_text(lines, style_) + "\n";
  }

  std::vector<TextTable::Column> columns() const {
    if (single_) return {{"value", 10, true, ""}};
    std::vector<TextTable::Column> columns{{"growth", 10, true, ""},
                                           {"before", 9, true, " "},
                                           {"after", 9, true, spaced(glyphs_.arrow)},
                                           {"a snapshot", 10, true, "  "}};
    if (spark_)
      columns.push_back(
          {"1 " + std::string(glyphs_.dash) + " " + std::to_string(report_.snapshots.size()), 8, false, "  "});
    if (judged_) columns.push_back({"verdict", 8, false, "  "});
    return columns;
  }

  void fill(const CounterRow& row, TextTable::Row& line) const {
    const auto value = [&](std::int64_t number, bool sign) { return snapdiff::value_text(number, row.unit, sign); };
    if (single_) {
      line.cells = {{value(row.after(), false), Paint::none}};
      return;
    }
    line.cells = {{value(row.growth, true), row.cumulative ? Paint::none : growth_paint(row.growth)},
                  {value(row.before(), false), Paint::dim},
                  {value(row.after(), false), Paint::dim},
                  {mean_step(row), Paint::none}};
    if (spark_) line.cells.push_back({sparkline_of(row, style_.utf8), Paint::none});
    if (judged_) line.cells.push_back({std::string(word_of(row)), verdict_paint(word_of(row))});
    line.dim = within_rounding(row);
  }

  const CounterReport& report_;
  const Style& style_;
  Glyphs glyphs_;
  bool wide_;
  bool single_ = false, judged_ = false, spark_ = false;
};

void row_fields(JsonWriter& json, const CounterRow& row) {
  json.field("name", row.name);
  json.field("unit", row.unit);
  json.field("cumulative", row.cumulative);
  json_change_fields(json, {row.before(), row.after()}, row.growth);
  json.field("resets", static_cast<std::int64_t>(row.resets));
  json.field("half_unit", row.half_unit);
  json.field_or_null("verdict", word_of(row));
  json.field_or_null("reason", word_of(row).empty() ? std::string_view() : std::string_view(row.verdict.reason));
  const bool judged = !row.verdict.word.empty();
  for (const auto& [key, number] :
       {std::pair("slope", row.verdict.slope), std::pair("slope_low", row.verdict.slope_low),
        std::pair("slope_high", row.verdict.slope_high), std::pair("p", row.verdict.p)}) {
    json.field(key, judged ? number : std::nan(""));
  }
  json.array("values", row.values,
             [&](const std::optional<std::int64_t>& value) { value ? json.integer(*value) : json.null(); });
}

}  // namespace

std::string_view word_of(const CounterRow& row) {
  return row.known() >= kJudgedFrom ? std::string_view(row.verdict.word) : std::string_view();
}

std::string text_counters(const CounterReport& report, const Style& style) { return CountersText(report, style).all(); }

std::string json_counters(const CounterReport& report, const Style& style) {
  const std::span<const CounterRow> shown = std::span(report.rows).first(shown_of(report.rows.size(), style));
  const auto head = [&](JsonWriter& json) {
    json.field("schema", "snapdiff.counters/1");
    json.rows("snapshots", report.snapshots, [&](const SnapshotRef& snapshot) { json_snapshot(json, snapshot); });
    json.field("step_seconds", report.axis.step_seconds > 0 ? report.axis.step_seconds : std::nan(""));
    json.field_or_null("times", report.axis.note);
    json_notes(json, report.notes);
    json.field("others", report.rows.size() - shown.size());
  };
  const auto row = [](JsonWriter& json, const CounterRow& one) { json.object([&] { row_fields(json, one); }); };
  std::string out;
  json_document(out, style.form, "rows", shown, head, row, [](JsonWriter&) {});
  return out;
}

std::string write_counters(const CounterReport& report, const Style& style) {
  switch (style.form) {
    case Form::text: return text_counters(report, style);
    case Form::markdown: return markdown_counters(report, style);
    case Form::csv: return csv_counters(report, style);
    case Form::json:
    case Form::jsonl: return json_counters(report, style);
  }
  return {};
}

}  // namespace snapdiff::report
