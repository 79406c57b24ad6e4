#include <algorithm>
#include <cmath>

#include "analyzer/report/csv_record.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {

namespace {

void objects(Record& record, bool known, const Change& value) {
  record.number_if(known, value.baseline);
  record.number_if(known, value.current);
  record.number_if(known, value.growth());
}

/// Value at each snapshot; empty where no source lists the row.
void series(Record& record, const GrowthReport& report, std::size_t row) {
  if (report.series_length == 0) return;
  std::vector<std::int64_t> scratch;
  const std::span<const std::int64_t> values = report.series.row(row, scratch);
  for (std::size_t i = 0; i < values.size(); ++i) record.number_if(report.series.known(row, i), values[i]);
}

/// "leaf;caller;...": a semicolon or backslash inside a part gets a backslash.
template <class Part>
std::string joined(std::span<const FrameView> frames, Part part) {
  std::string field;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i > 0) field += ';';
    for (const char c : part(frames[i])) {
      if (c == ';' || c == '\\') field += '\\';
      field += c;
    }
  }
  return field;
}

std::string line_of(const FrameView& frame) { return frame.line > 0 ? std::to_string(frame.line) : std::string(); }

/// "main.go:28", "main.go", "".
std::string place_of(const FrameView& frame) {
  std::string place(frame.file);
  if (!place.empty() && frame.line > 0) place.append(":").append(line_of(frame));
  return place;
}

/// A stack, where its leaf is, and where each of its frames is: two stacks may differ in a line alone.
constexpr std::string_view kStackColumns = "stack,file,line,module,places";
constexpr std::size_t kLeafColumns = 4;

void stack_fields(Record& record, std::span<const FrameView> frames) {
  record.text(frames.empty() ? std::string("[filtered out]") : joined(frames, recorded_frame_text));
  if (frames.empty()) return record.empty(kLeafColumns);
  record.text(frames[0].file);
  record.number_if(frames[0].line > 0, frames[0].line);
  record.text(frames[0].module);
  const bool any_place = std::ranges::any_of(frames, [](const FrameView& f) { return !f.file.empty(); });
  any_place ? record.text(joined(frames, place_of)) : record.empty();
}

/// What a row of a comparison is of: the key of its group, else its stack.
void key_or_stack(Record& record, const GrowthReport& report, const GrowthRow& row, std::vector<FrameView>& frames) {
  if (report.options.by != GroupBy::stack) return record.text(report.keys[row.key]);
  report.frames(row, frames);
  stack_fields(record, frames);
}

constexpr std::string_view kObjectColumns = ",baseline_objects,current_objects,growth_objects,error,";

/// Stacks without a known growth, class "unknown"; their values are in no sum.
void listed_once_rows(std::string& out, const GrowthReport& report, std::size_t extra) {
  std::vector<FrameView> frames;
  for (const ListedOnce& row : report.listed_once) {
    Record record(out);
    record.text("unknown");
    for (const auto& value : {known_baseline(row, report), known_current(row, report)})
      record.number_if(value.has_value(), value.value_or(0));
    record.empty(report.options.by == GroupBy::stack ? 5 : 8);
    report.view->frames(row.stack, frames);
    // Groups have one column where stacks have five.
    if (report.options.by == GroupBy::stack) {
      stack_fields(record, frames);
      record.empty(extra - kLeafColumns);
    } else {
      record.text(joined(frames, recorded_frame_text));
      record.empty(extra);
    }
  }
}

/// Rows that are no stack and no key: their flat values complete the sum.
void rest_row(std::string& out, const GrowthReport& report, const std::string& name, const Change& value,
              const Change& count, std::size_t extra) {
  Record record(out);
  record.empty();
  record.change(value);
  objects(record, report.has_objects, count);
  record.empty();
  if (report.options.by != GroupBy::stack) record.empty(3);
  record.text(name);
  record.empty(extra);
}

}  // namespace

std::string csv_diff(const GrowthReport& report, RowVerdicts verdicts, const Style& style) {
  const bool grouped = report.options.by != GroupBy::stack;
  const Selection selection = select_rows(report, style, Unchanged::shown);
  std::string text = "class,baseline,current,growth";
  text += kObjectColumns;
  text += grouped ? "cum_baseline,cum_current,cum_growth,key" : kStackColumns;
  text += value_columns(report.series_length);
  if (!verdicts.empty()) text += ",verdict,reason";
  text += "\r\n";
  const std::size_t extra = report.series_length + (verdicts.empty() ? 0 : 2) + (grouped ? 0 : kLeafColumns);

  std::vector<FrameView> frames;
  for (const std::uint32_t index : selection.rows) {
    const GrowthRow& row = report.rows[index];
    Record record(text);
    record.text(to_text(row.row_class));
    record.change(row.value);
    objects(record, report.has_objects, row.objects);
    record.number(row.error);
    if (grouped) record.change(report.cumulative[index].value);
    key_or_stack(record, report, row, frames);
    series(record, report, index);
    if (verdicts.empty()) continue;
    record.text(verdicts[index].word);
    record.text(verdicts[index].reason);
  }
  if (selection.others.rows > 0) {
    rest_row(text, report, others_name(selection.others), selection.others.value, selection.others.objects, extra);
  }
  rest_row(text, report, std::string(kUnattributed), report.unattributed, report.unattributed_objects, extra);
  if (report.filtered != Change{} || report.filtered_objects != Change{}) {
    rest_row(text, report, "[filtered out]", report.filtered, report.filtered_objects, extra);
  }
  listed_once_rows(text, report, extra);
  return text;
}

std::string csv_trend(const TrendReport& trend, const Style& style) {
  const GrowthReport& overall = trend.series.overall;
  const bool grouped = overall.options.by != GroupBy::stack;
  const Selection selection = select_rows(trend, style);
  std::string text = "baseline,current,growth,slope,slope_low,slope_high,slope_per_hour,p,verdict,reason,";
  if (trend.scenario) text += "kept,";
  text += grouped ? "key" : kStackColumns;
  text += value_columns(overall.series_length) + "\r\n";
  std::vector<FrameView> frames;
  for (const std::uint32_t index : selection.rows) {
    const Verdict& verdict = trend.verdicts[index];
    Record record(text);
    record.change(overall.rows[index].value);
    record.number(verdict.slope);
    record.number(verdict.slope_low);
    record.number(verdict.slope_high);
    record.number(trend.axis.per_hour(verdict.slope).value_or(std::nan("")));
    record.number(verdict.p);
    record.text(is_judged(trend) ? verdict.word : "");
    record.text(verdict.reason);
    if (trend.scenario) record.number(trend.scenario->kept[index]);
    key_or_stack(record, overall, overall.rows[index], frames);
    series(record, overall, index);
  }
  const auto rest = [&](const std::string& name, const Change& value) {
    Record record(text);
    record.change(value);
    record.empty(trend.scenario ? 8 : 7);
    record.text(name);
    record.empty(overall.series_length + (grouped ? 0 : kLeafColumns));
  };
  if (selection.others.rows > 0) rest(others_name(selection.others), selection.others.value);
  rest(std::string(kUnattributed), overall.unattributed);
  if (overall.filtered != Change{}) rest("[filtered out]", overall.filtered);
  return text;
}

std::string csv_top(const TopReport& report, const Style& style) {
  const bool grouped = report.options.by != GroupBy::stack;
  const Selection selection = select_rows(report, style);
  std::string text = grouped ? "flat,cum,objects,error,key" : "value,objects,error,";
  if (!grouped) text += kStackColumns;
  text += "\r\n";
  std::vector<FrameView> frames;
  for (const std::uint32_t index : selection.rows) {
    const TopRow& row = report.rows[index];
    Record record(text);
    record.number(row.value);
    if (grouped) record.number(row.cumulative);
    record.number_if(report.has_objects, row.objects);
    record.number(row.error);
    if (grouped) {
      record.text(report.keys[row.key]);
    } else {
      report.view->frames(report.stacks[row.key], frames);
      stack_fields(record, frames);
    }
  }
  const auto rest = [&](const std::string& name, std::int64_t value, std::int64_t count, bool known) {
    Record record(text);
    record.number(value);
    if (grouped) record.empty();
    record.number_if(known && report.has_objects, count);
    record.empty();
    record.text(name);
    record.empty(grouped ? 0 : kLeafColumns);
  };
  const Others& others = selection.others;
  if (others.rows > 0) rest(others_name(others), others.value.current, others.objects.current, true);
  if (report.unattributed != 0) rest(std::string(kUnattributed), report.unattributed, 0, false);
  if (report.filtered != 0) rest("[filtered out]", report.filtered, 0, false);
  return text;
}

}  // namespace snapdiff::report
