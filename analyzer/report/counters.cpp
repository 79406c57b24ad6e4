#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/first_notes.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/report/csv_record.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kReasonsShown = 3;

/// The verdict; "" where there are too few values to claim one.
std::string_view word_of(const CounterRow& row) {
  return row.known() >= kJudgedFrom ? std::string_view(row.verdict.word) : std::string_view();
}

/// Bars of the known points; unknown ones take the value before them.
std::string sparkline_of(const CounterRow& row, bool utf8) {
  std::vector<std::int64_t> values;
  for (std::size_t i = row.first; i <= row.last; ++i) values.push_back(row.values[i] ? *row.values[i] : values.back());
  // From the lowest one up: a level of gigabytes that rises by megabytes would be a flat line of bars from zero.
  const std::int64_t lowest = *std::ranges::min_element(values);
  for (std::int64_t& value : values) {
    // The smallest bar instead of none for the lowest.
    if (__builtin_sub_overflow(value, lowest, &value)) return {};
  }
  return sparkline(values.data(), values.size(), kSparkWidth, utf8);
}

/// The brackets behind the name: the unit that amounts do not show, and whether the counter only counts up.
std::string marks_of(const CounterRow& row) {
  constexpr std::array<std::string_view, 4> kSaid = {"", "bytes", "count", "nanoseconds"};
  std::string text;
  const auto add = [&](std::string_view mark) { text.append(text.empty() ? "  (" : ", ").append(mark); };
  if (std::ranges::find(kSaid, row.unit) == kSaid.end()) add(literal(printable(row.unit)));
  if (row.cumulative) add("counted up");
  if (row.cumulative && row.resets > 0) add("reset " + counted(row.resets, "time"));
  return text.empty() ? text : text + ")";
}

std::string mean_step(const CounterRow& row) {
  if (row.last == row.first) return {};
  const double step = static_cast<double>(row.growth) / static_cast<double>(row.last - row.first);
  if (step != 0 && std::abs(step) < 0.5) return step < 0 ? "-<1" : "<1";
  return value_text(whole_number(step), row.unit, true);
}

/// Growth that the source's rounding alone could make.
bool within_rounding(const CounterRow& row) {
  return row.half_unit > 0 && std::abs(static_cast<double>(row.growth)) <= 2 * static_cast<double>(row.half_unit);
}

class CounterSheet {
 public:
  using Cell = Sheet::Cell;
  CounterSheet(const CounterReport& report, const Style& style)
      : report_(report), style_(style), glyphs_(glyphs_for(style.utf8)), wide_(style.width >= kWide) {
    single_ = report.snapshots.size() == 1;
    judged_ = std::ranges::any_of(report.rows, [](const CounterRow& row) { return !word_of(row).empty(); });
    shown_ = std::span(report.rows).first(shown_of(report.rows.size(), style));
  }

  std::string text() const {
    Sheet sheet("counter", style_.thousands);
    values(sheet);
    if (!single_) {
      sheet.column({"a snapshot", 10, true, "  "}, shown_, [](const CounterRow& row) { return Cell{mean_step(row)}; });
      if (wide_ && report_.snapshots.size() > 2)
        sheet.column(
            {"1 " + std::string(glyphs_.dash) + " " + std::to_string(report_.snapshots.size()), 8, false, "  "}, shown_,
            [&](const CounterRow& row) { return Cell{sparkline_of(row, style_.utf8)}; });
      if (judged_) verdicts(sheet);
    }
    const std::size_t width = sheet.rest_width(style_.width);
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      const CounterRow& row = shown_[i];
      const bool rounded = within_rounding(row) && !single_;
      const std::string marks = marks_of(row) + (rounded ? "  ~" : "");
      sheet.rows()[i].last = cut_middle(printable(row.name, style_.utf8),
                                        width > marks.size() ? width - marks.size() : 0, glyphs_.ellipsis) +
                             marks;
      sheet.rows()[i].dim = rounded;
    }
    if (shown_.size() < report_.rows.size()) sheet.add().last = others_text(report_.rows.size() - shown_.size());
    std::vector<std::string> notes = note_lines(report_.notes, style_.utf8);
    const std::string told = concat("note: ", kOutOfMemory, printable(failure(), style_.utf8));
    std::erase_if(notes, [&](const std::string& note) { return note == told; });
    const bool rounded = std::ranges::any_of(report_.rows, within_rounding);
    if (rounded && !single_) notes.emplace_back("~ growth within what the input is rounded to");
    return head() + sheet.text(style_.colour) + text_end(notes, style_);
  }

  std::string markdown() const {
    Sheet sheet("counter");
    values(sheet);
    if (judged_) verdicts(sheet);
    for (std::size_t i = 0; i < shown_.size(); ++i)
      sheet.rows()[i].last = literal(printable(shown_[i].name)) + marks_of(shown_[i]);
    return "### " + counted(report_.rows.size(), "counter") + " over " + counted(report_.snapshots.size(), "snapshot") +
           "\n\n" + sheet.markdown() + markdown_notes(note_lines(report_.notes, true));
  }

 private:
  /// Why memory ran out, by the last message of the log: the one that ended the run. "" where none is there.
  std::string_view failure() const {
    std::string_view reason;
    for (const Note& note : report_.notes.all()) {
      if (note.text.starts_with(kOutOfMemory)) reason = std::string_view(note.text).substr(kOutOfMemory.size());
    }
    return reason;
  }

  std::string head() const {
    if (report_.rows.empty()) return "no counters\n";
    std::string span = counted(report_.snapshots.size(), "snapshot");
    if (!report_.axis.seconds.empty()) span += ", " + duration_text(report_.axis.seconds.back());
    std::vector<HeadLine> lines{
        {"counters", {{counted(report_.rows.size(), "counter") + " over " + span, Paint::none}}}};
    if (const std::string_view reason = failure(); !reason.empty())
      lines.push_back({"failure", {{printable(reason, style_.utf8), Paint::none}}});
    if (!single_ && !judged_)
      lines.push_back({"verdict",
                       {{"none: no counter has the " + std::to_string(kJudgedFrom) + " snapshots that a verdict needs",
                         Paint::none}}});
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
    if (report_.limit && !single_) forecasts(lines);
    if (!report_.axis.note.empty())
      lines.push_back({"times", {{printable(report_.axis.note, style_.utf8), Paint::none}}});
    return headline_text(lines, style_) + "\n";
  }

  /// When each counter that is GROWING meets the limit.
  void forecasts(std::vector<HeadLine>& lines) const {
    const std::string limit = value_text(*report_.limit, "bytes");
    std::size_t told = 0;
    for (const CounterRow& row : report_.rows) {
      if (row.forecast.kind == Forecast::Kind::none || told++ == kReasonsShown) continue;
      lines.push_back(
          {"forecast",
           {{printable(row.name, style_.utf8) + ": " + limit + forecast_text(row.forecast, report_.axis.step_seconds),
             Paint::none}}});
    }
    if (told == 0) lines.push_back({"forecast", {{limit + forecast_text({Forecast::Kind::never}, 0), Paint::none}}});
  }

  /// The value of a single snapshot, else growth, before and after.
  void values(Sheet& sheet) const {
    const auto before_or_after = [&](const std::string& header, const std::string& separator, bool after) {
      sheet.column({header, single_ ? 10U : 9U, true, separator}, shown_, [&](const CounterRow& row) {
        return Cell{value_text(after ? row.after() : row.before(), row.unit), single_ ? Paint::none : Paint::dim};
      });
    };
    if (single_) {
      before_or_after("value", "", true);
      return;
    }
    sheet.column({"growth", 10, true, ""}, shown_, [](const CounterRow& row) {
      return Cell{value_text(row.growth, row.unit, true), row.cumulative ? Paint::none : growth_paint(row.growth)};
    });
    before_or_after("before", " ", false);
    before_or_after("after", spaced(glyphs_.arrow), true);
  }

  void verdicts(Sheet& sheet) const {
    sheet.column({"verdict", 8, false, "  "}, shown_, [](const CounterRow& row) {
      return Cell{std::string(word_of(row)), verdict_paint(word_of(row))};
    });
  }

  const CounterReport& report_;
  const Style& style_;
  Glyphs glyphs_;
  bool wide_;
  bool single_ = false, judged_ = false;
  std::span<const CounterRow> shown_;
};

/// The numbers of the verdict; not a number where there is none.
std::array<std::pair<std::string_view, double>, 4> fit_of(const CounterRow& row) {
  const Verdict& fit = row.verdict;
  const double known = fit.word.empty() ? std::nan("") : 0;
  return {{{"slope", known + fit.slope},
           {"slope_low", known + fit.slope_low},
           {"slope_high", known + fit.slope_high},
           {"p", known + fit.p}}};
}

void row_fields(JsonWriter& json, const CounterRow& row) {
  json.field("name", row.name);
  json.field("unit", row.unit);
  json.field("cumulative", row.cumulative);
  json_change_fields(json, {row.before(), row.after()}, row.growth);
  json.field("resets", static_cast<std::int64_t>(row.resets));
  json.field("half_unit", row.half_unit);
  json.field_or_null("verdict", word_of(row));
  json.field_or_null("reason", word_of(row).empty() ? std::string_view() : std::string_view(row.verdict.reason));
  for (const auto& [key, number] : fit_of(row)) json.field(key, number);
  json.array("values", row.values,
             [&](const std::optional<std::int64_t>& value) { value ? json.integer(*value) : json.null(); });
}

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
  json_document(out, style, "rows", shown, head, row, [](JsonWriter&) {});
  return out;
}

std::string csv_counters(const CounterReport& report, const Style& style) {
  std::string text =
      "name,unit,cumulative,baseline,current,growth,resets,half_unit,verdict,reason,slope,slope_low,slope_high,p";
  text += value_columns(report.snapshots.size()) + "\r\n";
  for (std::size_t i = 0; i < shown_of(report.rows.size(), style); ++i) {
    const CounterRow& row = report.rows[i];
    Record record(text);
    record.text(row.name);
    record.text(row.unit);
    record.number(static_cast<std::int64_t>(row.cumulative ? 1 : 0));
    record.number(row.before());
    record.number(row.after());
    record.number(row.growth);
    record.number(static_cast<std::int64_t>(row.resets));
    record.number(row.half_unit);
    record.text(word_of(row));
    record.text(word_of(row).empty() ? "" : row.verdict.reason);
    for (const auto& [key, number] : fit_of(row)) record.number(number);
    for (const std::optional<std::int64_t>& value : row.values) record.number_if(value.has_value(), value.value_or(0));
  }
  return text;
}

}  // namespace

std::string write_counters(const CounterReport& report, const Style& style) {
  return in_form(
      style.form, [&] { return CounterSheet(report, style).text(); },
      [&] { return CounterSheet(report, style).markdown(); }, [&] { return csv_counters(report, style); },
      [&] { return json_counters(report, style); });
}

}  // namespace snapdiff::report
