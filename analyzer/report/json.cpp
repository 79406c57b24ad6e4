#include <cmath>

#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/json_story.hpp"
#include "analyzer/report/output.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {

namespace {

/// Rows in the machine forms: everything, unless a limit was asked for.
Selection rows_of(const GrowthReport& report, const Style& style) {
  return select_rows(report, style, Unchanged::shown);
}

/// Functions that the two builds call otherwise; not there where they agree.
void renamed_field(JsonWriter& json, const GrowthReport& report) {
  if (report.renamed.empty()) return;
  json.key("renamed");
  json.begin_array();
  for (const RenamedFunction& one : report.renamed) {
    json.begin_object();
    json.field("before", one.before);
    json.field("after", one.after);
    json.key("stacks");
    json.unsigned_integer(one.stacks);
    json.end_object();
  }
  json.end_array();
}

void head_fields(JsonWriter& json, const GrowthReport& report) {
  json.field("schema", "snapdiff.diff/1");
  json.field("metric", report.metric);
  json.field("unit", report.unit);
  json.field("by", to_text(report.options.by));
  if (report.options.by == GroupBy::label) json.field("label", report.options.label_key);
  json.key("baseline");
  json_snapshot(json, report.baseline);
  json.key("current");
  json_snapshot(json, report.current);
  json.key("total");
  json.begin_object();
  json_change_fields(json, report.total);
  json.field("grew", report.grew);
  json.field("shrank", report.shrank);
  json.key("error");
  json.number(report.total_error);
  json.end_object();
  json.key("exact");
  json.boolean(report.exact);
  json.key("matched");
  json.begin_object();
  for (std::size_t tier = 0; tier < kMatchTiers; ++tier) {
    json.key(to_text(static_cast<MatchTier>(tier)));
    json.number(report.matched[tier]);
  }
  json.end_object();
  json.field_or_null("rule_set", report.rule_set);
  renamed_field(json, report);
  json_unnamed(json, report.unnamed);
}

void tail_fields(JsonWriter& json, const GrowthReport& report, const Others& others) {
  json_rest(json, report, others);
  json_listed_once(json, report);
  json.key("possible_pairs");
  json.unsigned_integer(report.possible_pairs);
  json_notes(json, report.notes);
}

class RowWriter {
 public:
  RowWriter(JsonWriter& json, const GrowthReport& report, const std::vector<RowVerdict>& verdicts)
      : json_(json), report_(report), verdicts_(verdicts) {}

  void write(std::uint32_t index) {
    const GrowthRow& row = report_.rows[index];
    json_.begin_object();
    json_.field("class", to_text(row.row_class));
    json_change_fields(json_, row.value);
    const auto objects = [&](std::int64_t value) { return report_.has_objects ? std::optional(value) : std::nullopt; };
    json_.field_or_null("baseline_objects", objects(row.objects.baseline));
    json_.field_or_null("current_objects", objects(row.objects.current));
    json_.field_or_null("growth_objects", objects(row.objects.growth()));
    json_.key("error");
    json_.number(row.error);
    json_.field("tier", to_text(row.tier));
    if (!report_.instances.empty()) json_instances(json_, report_.instances[index]);
    if (report_.options.by == GroupBy::stack) {
      report_.frames(row, frames_);
      json_stack(json_, "stack", frames_);
      write_counterpart(row.key);
    } else {
      json_.field("key", report_.keys[row.key]);
      json_change(json_, "flat", row.value);
      json_change(json_, "cum", report_.cumulative[index].value);
    }
    if (report_.series_length > 0) {
      json_values(json_, report_, index);
    }
    if (!verdicts_.empty()) {
      json_.field_or_null("verdict", verdicts_[index].word);
      json_.field("reason", verdicts_[index].reason);
    }
    json_.end_object();
  }

 private:
  /// What the baseline calls a stack that was matched across builds.
  void write_counterpart(std::uint32_t key) {
    const Counterpart* const found = report_.counterpart(key);
    if (found == nullptr) return;
    report_.view->frames(found->before, frames_);
    json_stack(json_, "baseline_stack", frames_);
    json_.key("stacks");
    json_.begin_object();
    json_.field("baseline", static_cast<std::int64_t>(found->stacks_before));
    json_.field("current", static_cast<std::int64_t>(found->stacks_after));
    json_.end_object();
  }

  JsonWriter& json_;
  const GrowthReport& report_;
  const std::vector<RowVerdict>& verdicts_;
  std::vector<FrameView> frames_;
};

void diff_object(JsonWriter& json, Output& out, const GrowthReport& report, const std::vector<RowVerdict>& verdicts,
                 const Style& style) {
  const Selection selection = rows_of(report, style);
  json.begin_object();
  head_fields(json, report);
  json_story_fields(json, report);
  json.key("rows");
  json.begin_array();
  RowWriter rows(json, report, verdicts);
  for (const std::uint32_t row : selection.rows) {
    json.new_line();
    rows.write(row);
    out.row_done();
  }
  json.end_array();
  tail_fields(json, report, selection.others);
  json.end_object();
}

/// Header line, then one line per row; each line is a document.
void diff_lines(Output& out, const GrowthReport& report, const std::vector<RowVerdict>& verdicts, const Style& style) {
  const Selection selection = rows_of(report, style);
  {
    JsonWriter json(out.text(), true);
    json.begin_object();
    head_fields(json, report);
    json_story_fields(json, report);
    tail_fields(json, report, selection.others);
    json.end_object();
    out.text() += '\n';
  }
  for (const std::uint32_t row : selection.rows) {
    JsonWriter json(out.text(), true);
    RowWriter(json, report, verdicts).write(row);
    out.text() += '\n';
    out.row_done();
  }
}

std::vector<RowVerdict> matching(const GrowthReport& report, const std::vector<RowVerdict>& verdicts) {
  return verdicts.size() == report.rows.size() ? verdicts : std::vector<RowVerdict>{};
}

}  // namespace

void json_growth_row(JsonWriter& json, const GrowthReport& report, std::uint32_t row) {
  const std::vector<RowVerdict> none;
  RowWriter(json, report, none).write(row);
}

void json_diff(const GrowthReport& report, const std::vector<RowVerdict>& verdicts, const Style& style,
               const Sink& sink) {
  Output out(sink);
  if (style.form == Form::jsonl) {
    diff_lines(out, report, verdicts, style);
    return;
  }
  JsonWriter json(out.text());
  diff_object(json, out, report, verdicts, style);
  out.text() += '\n';
}

void json_series(const SeriesReport& series, const std::vector<GrowthReport>& steps,
                 const std::vector<RowVerdict>& verdicts, const Style& style, const Sink& sink) {
  const std::vector<RowVerdict> known = matching(series.overall, verdicts);
  Output out(sink);
  if (style.form == Form::jsonl) {
    for (const GrowthReport& step : steps) diff_lines(out, step, {}, style);
    diff_lines(out, series.overall, known, style);
    return;
  }
  JsonWriter json(out.text());
  json.begin_object();
  json.field("schema", "snapdiff.diff/1");
  json.key("snapshots");
  json.begin_array();
  for (const SeriesStep& step : series.steps) {
    json.new_line();
    json.begin_object();
    json.field("ref", step.snapshot.ref);
    json.field("total", step.total);
    json.field_or_null("objects", step.objects);
    json.field("growth", step.growth);
    json.field_or_null("restart", step.restart);
    if (step.other_build) json.field("other_build", true);
    json.end_object();
  }
  json.end_array();
  json.key("steps");
  json.begin_array();
  for (const GrowthReport& step : steps) {
    json.new_line();
    diff_object(json, out, step, {}, style);
  }
  json.end_array();
  json.key("overall");
  diff_object(json, out, series.overall, known, style);
  json.end_object();
  out.text() += '\n';
}

}  // namespace snapdiff::report
