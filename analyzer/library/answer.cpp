#include "analyzer/library/answer.hpp"

#include <cmath>
#include <iterator>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/base/nearest.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/library/stack_table.hpp"
#include "snapdiff/snapdiff.hpp"

namespace snapdiff::library {
namespace {

std::optional<double> if_known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

std::optional<std::string_view> if_any(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

template <class T>
std::optional<T> if_true(bool known, T value) {
  return known ? std::optional(value) : std::nullopt;
}

/// Verdict, odds, slope and its interval; null without a word.
class VerdictColumns {
 public:
  void push(const Verdict& verdict) {
    const bool judged = !verdict.word.empty();
    word_.push_if(if_any(verdict.word));
    reason_.push_if(if_any(verdict.reason));
    const double values[] = {verdict.p, verdict.slope, verdict.slope_low, verdict.slope_high};
    for (std::size_t i = 0; i < std::size(values); ++i) numbers_[i].push(if_true(judged, values[i]));
  }
  void finish(ArrowTable& table) && {
    const char* const kNames[] = {"p", "slope", "slope_low", "slope_high"};
    table.push_back(std::move(word_).finish("verdict", true));
    for (std::size_t i = 0; i < std::size(kNames); ++i) table.push_back(std::move(numbers_[i]).finish(kNames[i], true));
    table.push_back(std::move(reason_).finish("reason", true));
  }

 private:
  ArrowTexts word_, reason_;
  ArrowNumbers<double> numbers_[4];
};

/// The table "culprits".
class CulpritTable {
 public:
  void push(std::string_view kind, const Culprit& culprit, bool has_objects) {
    const FrameView place = culprit.path.empty() ? FrameView{} : culprit.path.back();
    kind_.push(kind);
    label_.push(culprit.text.label);
    name_.push(prose_text(culprit.text.name));
    file_.push_if(if_any(place.file));
    line_.push(if_true(place.line > 0, place.line));
    via_.push(culprit.via);
    for (std::size_t i = 0; i < 6; ++i) {
      const Change& change = i < 3 ? culprit.value : culprit.objects;
      const std::int64_t values[] = {change.baseline, change.current, change.growth()};
      numbers_[i].push(if_true(i < 3 || has_objects, values[i % 3]));
    }
    share_.push(culprit.share);
    error_.push(if_known(culprit.error));
    verdict_.push(culprit.verdict);
    pace_.push(prose_text(culprit.text.pace));
    for (const FrameView& frame : culprit.path) path_.push(frame_text(frame));
    path_.end_list();
    for (const std::int64_t value : culprit.values) values_.push(value);
    begin_.push_back(begin_.back() + static_cast<std::int64_t>(culprit.values.size()));
  }
  ArrowTable finish() && {
    ArrowTable table;
    table.push_back(std::move(kind_).finish("kind"));
    table.push_back(std::move(label_).finish("label"));
    table.push_back(std::move(name_).finish("name"));
    table.push_back(std::move(file_).finish("file", true));
    table.push_back(std::move(line_).finish("line", true));
    table.push_back(std::move(via_).finish("via"));
    const char* const kNames[] = {"before", "after", "growth", "objects_before", "objects_after", "objects_growth"};
    for (std::size_t i = 0; i < std::size(kNames); ++i)
      table.push_back(std::move(numbers_[i]).finish(kNames[i], i >= 3));
    table.push_back(std::move(share_).finish("share"));
    table.push_back(std::move(error_).finish("error", true));
    std::move(verdict_).finish(table);
    table.push_back(std::move(pace_).finish("pace"));
    table.push_back(std::move(path_).finish("path"));
    table.push_back(list_column("values", std::move(begin_), std::move(values_).finish("item")));
    return table;
  }

 private:
  ArrowTexts kind_, label_, name_, file_, via_, pace_;
  ArrowNumbers<std::int32_t> line_;
  ArrowNumbers<std::int64_t> numbers_[6];
  ArrowNumbers<double> share_, error_;
  VerdictColumns verdict_;
  ArrowTextLists path_;
  ArrowNumbers<std::int64_t> values_;
  ArrowValues<std::int64_t> begin_{0};
};

ArrowTable culprit_table(const snapdiff_answer& answer) {
  CulpritTable table;
  const GrowthReport& report = answer.report();
  if (report.story != nullptr) {
    for (const Culprit& one : report.story->culprits) table.push("culprit", one, report.has_objects);
    for (const Culprit& one : report.story->levelled) table.push("levelled", one, report.has_objects);
    for (const Culprit& one : report.story->freed) table.push("freed", one, report.has_objects);
  }
  return std::move(table).finish();
}

/// All snapshots with their totals; both ends of a comparison.
std::vector<SeriesStep> steps_of(const snapdiff_answer& answer) {
  if (const TrendReport* const trend = answer.any_trend(); trend != nullptr)
    return trend->steps.empty() ? trend->series.steps : trend->steps;
  const GrowthReport& report = answer.report();
  std::vector<SeriesStep> steps(2);
  steps[0].snapshot = report.baseline;
  steps[1].snapshot = report.current;
  steps[0].total = report.total.baseline;
  steps[1].total = report.total.current;
  steps[0].objects = if_true(report.has_objects, report.total_objects.baseline);
  steps[1].objects = if_true(report.has_objects, report.total_objects.current);
  steps[1].growth = report.total.growth();
  return steps;
}

ArrowTable trend_table(const snapdiff_answer& answer) {
  constexpr double kNanoseconds = 1e9;
  ArrowTexts ref, heaviest, restart;
  ArrowNumbers<std::int64_t> total, objects, growth, heaviest_growth;
  ArrowNumbers<double> taken_at;
  ArrowFlags other_build;
  for (const SeriesStep& step : steps_of(answer)) {
    const std::optional<std::int64_t> time = step.snapshot.snapshot->facts.taken_at_ns;
    ref.push(step.snapshot.ref);
    total.push(step.total);
    objects.push(step.objects);
    growth.push(step.growth);
    taken_at.push(time ? std::optional(static_cast<double>(*time) / kNanoseconds) : std::nullopt);
    step.heaviest.empty() ? heaviest.push_if(std::nullopt) : heaviest.push(frame_text(step.heaviest.front()));
    heaviest_growth.push(step.heaviest_growth);
    restart.push(step.restart);
    other_build.push(step.other_build);
  }
  ArrowTable table;
  table.push_back(std::move(ref).finish("ref"));
  table.push_back(std::move(total).finish("total"));
  table.push_back(std::move(objects).finish("objects", true));
  table.push_back(std::move(growth).finish("growth"));
  table.push_back(std::move(taken_at).finish("taken_at", true));
  table.push_back(std::move(heaviest).finish("heaviest", true));
  table.push_back(std::move(heaviest_growth).finish("heaviest_growth"));
  table.push_back(std::move(restart).finish("restart"));
  table.push_back(std::move(other_build).finish("other_build"));
  return table;
}

std::string_view outcome_word(Outcome outcome) {
  constexpr std::string_view kNames[] = {"within", "accepted", "unjudged", "broken"};
  return kNames[static_cast<std::size_t>(outcome)];
}

ArrowTable finding_table(const snapdiff_answer& answer) {
  ArrowTexts texts[6];
  ArrowTexts verdict, file;
  ArrowNumbers<std::int32_t> line;
  ArrowNumbers<double> measured, least, allowed;
  const std::vector<GateFinding> none;
  for (const GateFinding& one : answer.gate ? answer.gate->findings : none) {
    const Budget& budget = answer.gate->budgets[one.budget];
    const std::string_view values[] = {
        outcome_word(one.outcome), budget.text, one.name, one.id, budget.owner, one.note};
    for (std::size_t i = 0; i < std::size(values); ++i) texts[i].push(values[i]);
    measured.push(one.measured);
    least.push(one.least);
    allowed.push(one.allowed);
    verdict.push_if(if_any(one.verdict.word));
    file.push_if(if_any(one.file));
    line.push(if_true(one.line > 0, one.line));
  }
  ArrowTable table;
  table.push_back(std::move(texts[0]).finish("outcome"));
  table.push_back(std::move(texts[1]).finish("budget"));
  table.push_back(std::move(texts[2]).finish("name"));
  table.push_back(std::move(measured).finish("measured", true));
  table.push_back(std::move(least).finish("least", true));
  table.push_back(std::move(allowed).finish("allowed"));
  table.push_back(std::move(verdict).finish("verdict", true));
  table.push_back(std::move(texts[3]).finish("id"));
  table.push_back(std::move(file).finish("file", true));
  table.push_back(std::move(line).finish("line", true));
  table.push_back(std::move(texts[4]).finish("owner"));
  table.push_back(std::move(texts[5]).finish("note"));
  return table;
}

ArrowTable matched_table(const snapdiff_answer& answer) {
  ArrowTexts by;
  ArrowNumbers<double> share;
  for (std::size_t i = 0; i < kMatchTiers; ++i) {
    if (answer.report().matched[i] <= 0) continue;
    by.push(to_text(static_cast<MatchTier>(i)));
    share.push(answer.report().matched[i]);
  }
  ArrowTable table;
  table.push_back(std::move(by).finish("by"));
  table.push_back(std::move(share).finish("share"));
  return table;
}

ArrowTable note_table(const snapdiff_answer& answer) {
  ArrowTexts severity, text;
  ArrowNumbers<std::int64_t> count;
  Notes notes;
  notes.add_all(answer.report().baseline.snapshot->facts.notes);
  notes.add_all(answer.report().current.snapshot->facts.notes);
  notes.add_all(answer.report().notes);
  for (const Note& note : notes.all()) {
    severity.push(to_text(note.severity));
    text.push(note.text);
    count.push(static_cast<std::int64_t>(note.count));
  }
  ArrowTable table;
  table.push_back(std::move(severity).finish("severity"));
  table.push_back(std::move(text).finish("text"));
  table.push_back(std::move(count).finish("count"));
  return table;
}

std::string_view result_word(const GateReport& gate) {
  constexpr std::string_view kNames[] = {"passed", "unjudged", "failed"};
  return kNames[static_cast<std::size_t>(gate.result())];
}

}  // namespace

void set_facts(snapdiff_answer& answer, const Loaded& loaded) {
  const GrowthReport& report = answer.report();
  const TrendReport* const trend = answer.any_trend();
  const Story empty;
  const Story& story = report.story != nullptr ? *report.story : empty;
  const Verdict total = trend != nullptr ? trend->whole : Verdict{};
  const std::pair<const char*, std::string> texts[] = {
      {"headline", prose_text(story.headline)},
      {"figures", story.figures},
      {"extent", story.extent},
      {"verdict", story.verdict},
      {"no_verdict", story.no_verdict},
      {"no_culprit", story.no_culprit},
      {"metric", report.metric},
      {"unit", report.unit},
      {"by", std::string(to_text(report.options.by))},
      {"total_verdict", total.word},
      {"total_reason", total.reason},
      {"restart", trend != nullptr ? trend->restart : ""},
      {"result", answer.gate ? std::string(result_word(*answer.gate)) : ""},
      {"next", prose_text(story.next)}};
  for (const auto& [name, text] : texts) answer.texts[name] = printable(text);
  const bool counted = report.has_objects;
  answer.numbers["before"] = report.total.baseline;
  answer.numbers["after"] = report.total.current;
  answer.numbers["growth"] = report.total.growth();
  answer.numbers["objects_before"] = if_true(counted, report.total_objects.baseline);
  answer.numbers["objects_after"] = if_true(counted, report.total_objects.current);
  answer.numbers["objects_growth"] = if_true(counted, report.total_objects.growth());
  answer.numbers["snapshots"] = static_cast<std::int64_t>(trend != nullptr ? trend->series.steps.size() : 2);
  answer.numbers["left_out"] = static_cast<std::int64_t>(loaded.left_out.size());
  answer.numbers["rows"] = static_cast<std::int64_t>(report.rows.size());
}

ArrowTable answer_table(const snapdiff_answer& answer, std::string_view name) {
  if (name == "rows") return rows_table(answer.report(), answer.any_trend());
  if (name == "culprits") return culprit_table(answer);
  if (name == "trend") return trend_table(answer);
  if (name == "findings") return finding_table(answer);
  if (name == "matched") return matched_table(answer);
  if (name == "notes") return note_table(answer);
  const std::vector<std::string> names = {"rows", "culprits", "trend", "findings", "matched", "notes"};
  fail({ErrorCode::usage, "unknown table: found '" + printable(name) +
                              "', expected rows, culprits, trend, findings, matched or notes" +
                              did_you_mean(name, names)});
}

}  // namespace snapdiff::library
