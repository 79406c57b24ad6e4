#include <map>
#include <utility>
#include <vector>

#include "analyzer/postmortem/make_postmortem.hpp"
#include "analyzer/postmortem/tokens.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::postmortem {
namespace {

using Tokens = Redactor::Tokens;

/// Another view's frames as tokens. Keeps alive what their callers' views pointed into.
class RedactedView : public StackView {
 public:
  RedactedView(std::shared_ptr<const StackView> inner, std::shared_ptr<Tokens> tokens,
               std::vector<std::shared_ptr<const Snapshot>> snapshots)
      : inner_(std::move(inner)), tokens_(std::move(tokens)), snapshots_(std::move(snapshots)) {}
  void frames(StackRef stack, std::vector<FrameView>& out) const override {
    inner_->frames(stack, out);
    for (FrameView& frame : out) frame = tokens_->frame(frame);
  }

 private:
  std::shared_ptr<const StackView> inner_;
  std::shared_ptr<Tokens> tokens_;
  std::vector<std::shared_ptr<const Snapshot>> snapshots_;
};

/// The totals of a column as its only row, unknown where it is.
Column only_total(Tokens& tokens, const Column& column) {
  Column out;
  out.type = {std::string(tokens.harmless(column.type.name)), std::string(tokens.harmless(column.type.unit))};
  out.half_unit = column.half_unit;
  std::int64_t total = 0;
  bool is_known = true;
  for (std::size_t row = 0; row < column.value.size() && is_known; ++row)
    is_known = column.is_known(row) && checked_add(total, column.value[row], total);
  out.value = {is_known ? total : 0};
  if (!is_known) out.known = {0};
  return out;
}

void redact_facts(Tokens& tokens, SnapshotFacts& facts) {
  facts.source.name = tokens.path(facts.source.name);
  facts.pid.reset();
  facts.host = tokens.word(facts.host);
  facts.command_line = tokens.word(facts.command_line);
  facts.drop_frames = tokens.word(facts.drop_frames);
  facts.keep_frames = tokens.word(facts.keep_frames);
  facts.doc_url = tokens.word(facts.doc_url);
  for (std::string& comment : facts.comments) comment = tokens.word(comment);
  facts.producer = tokens.harmless(facts.producer);
  facts.format_detail = tokens.harmless(facts.format_detail);
  facts.default_metric = tokens.harmless(facts.default_metric);
  std::map<std::string, std::string> labels;
  for (const auto& [key, value] : facts.labels) labels.emplace(tokens.harmless(key), tokens.word(value));
  facts.labels = std::move(labels);
  for (Counter& counter : facts.counters) {
    counter.name = tokens.word(counter.name);
    counter.unit = tokens.harmless(counter.unit);
  }
}

/// Notes last, when every name has been met.
void redact_notes(Tokens& tokens, Notes& notes) {
  Notes out;
  for (const Note& note : notes.all()) out.add(note.severity, tokens.text(note.text), note.first_offset, note.count);
  notes = std::move(out);
}

/// Snapshots by address: one that is in several places becomes one.
class Snapshots {
 public:
  explicit Snapshots(Tokens& tokens) : tokens_(tokens) {}
  void redact(SnapshotRef& ref) {
    ref.ref = tokens_.operand(ref.ref);
    ref.series = tokens_.word(ref.series);
    if (ref.snapshot == nullptr) return;
    auto& replaced = replaced_[ref.snapshot.get()];
    if (replaced == nullptr) {
      originals_.push_back(ref.snapshot);
      replaced = copy(*ref.snapshot);
    }
    ref.snapshot = replaced;
  }
  void redact_all_notes() {
    for (auto& [original, replaced] : replaced_) redact_notes(tokens_, replaced->facts.notes);
  }
  const std::vector<std::shared_ptr<const Snapshot>>& originals() const { return originals_; }

 private:
  /// What the writers show of a snapshot itself: its facts, its totals, where its segments lie.
  std::shared_ptr<Snapshot> copy(const Snapshot& snapshot) {
    auto out = std::make_shared<Snapshot>();
    out->dictionary = std::make_shared<const Dictionary>();
    out->facts = snapshot.facts;
    redact_facts(tokens_, out->facts);
    out->samples.stack = {StackId{}};
    out->samples.labels = {LabelSetId{}};
    for (const Column& column : snapshot.samples.columns) out->samples.columns.push_back(only_total(tokens_, column));
    out->allocator = snapshot.allocator;  // addresses and sizes; its names are not shown
    return out;
  }

  Tokens& tokens_;
  std::map<const Snapshot*, std::shared_ptr<Snapshot>> replaced_;
  std::vector<std::shared_ptr<const Snapshot>> originals_;
};

void redact_frames(Tokens& tokens, std::vector<FrameView>& frames) {
  for (FrameView& frame : frames) frame = tokens.frame(frame);
}

void redact_key(Tokens& tokens, GroupBy by, std::string& key) {
  switch (by) {
    case GroupBy::file:
    case GroupBy::module: key = tokens.path(key); break;
    case GroupBy::label: key = tokens.word(key); break;
    case GroupBy::stack:
    case GroupBy::function:
    case GroupBy::line:
    case GroupBy::type: key = tokens.function(key); break;
  }
}

void redact_prose(Tokens& tokens, Prose& prose) {
  for (Span& span : prose) {
    if (span.name) span.text = tokens.span(span.text);
  }
}

void redact_culprit(Tokens& tokens, Culprit& culprit) {
  redact_frames(tokens, culprit.path);
  FrameView via;
  via.function = culprit.via;
  if (!culprit.via.empty()) culprit.via = tokens.frame(via).function;
  for (Culprit::Site& site : culprit.sites) site.frame = tokens.frame(site.frame);
  for (Prose* prose : {&culprit.text.name, &culprit.text.place, &culprit.text.via, &culprit.text.pace})
    redact_prose(tokens, *prose);
}

std::shared_ptr<const Story> redacted_story(Tokens& tokens, const std::shared_ptr<const Story>& open) {
  if (open == nullptr) return open;
  auto story = std::make_shared<Story>(*open);
  for (std::vector<Culprit>* list : {&story->culprits, &story->levelled, &story->freed}) {
    for (Culprit& culprit : *list) redact_culprit(tokens, culprit);
  }
  for (Passing& passing : story->passing) redact_frames(tokens, passing.path);
  if (story->peak != nullptr) {
    auto peak = std::make_shared<PeakStory>(*story->peak);
    for (PeakPart& part : peak->parts) redact_culprit(tokens, part);
    for (Prose& module : peak->modules) redact_prose(tokens, module);
    for (Prose& advice : peak->advice) redact_prose(tokens, advice);
    redact_prose(tokens, peak->next);
    if (peak->facts.layers) peak->facts.layers->file = tokens.path(peak->facts.layers->file);
    for (PeakModule& module : peak->facts.modules) {
      for (CodeLine& line : module.path) line.file = tokens.path(line.file);
    }
    story->peak = std::move(peak);
  }
  for (Band& band : story->bands) {
    redact_prose(tokens, band.name);
    redact_prose(tokens, band.note);
  }
  for (Event& event : story->events) redact_prose(tokens, event.text);
  redact_prose(tokens, story->next);
  redact_prose(tokens, story->headline);
  for (Prose& line : story->also) redact_prose(tokens, line);
  return story;
}

void redact_growth(Tokens& tokens, GrowthReport& report) {
  report.story = redacted_story(tokens, report.story);
  for (std::string& key : report.keys) redact_key(tokens, report.options.by, key);
  for (UnnamedModule& module : report.unnamed.modules) module.module = tokens.path(module.module);
  if (report.common_path.find("+0x") == std::string::npos) {
    report.common_path = tokens.function(report.common_path);
  } else {
    const std::size_t plus = report.common_path.rfind('+');
    report.common_path =
        std::string(tokens.path(report.common_path.substr(0, plus))).append(report.common_path.substr(plus));
  }
  DiffOptions& options = report.options;
  for (std::string* text : {&options.focus, &options.ignore, &options.hide, &options.show, &options.own,
                            &options.library, &options.label_key})
    *text = tokens.word(*text);
  for (std::string* text : {&options.metric, &report.metric, &report.unit, &report.objects_metric})
    *text = tokens.harmless(*text);
}

/// Every stack that will be shown, so that names in notes are known whatever is written first.
void meet_all(Tokens& tokens, const GrowthReport& report) {
  if (report.view == nullptr) return;
  std::vector<FrameView> frames;
  const auto meet = [&](StackRef stack) {
    report.view->frames(stack, frames);
    for (const FrameView& frame : frames) tokens.frame(frame);
  };
  for (const StackRef& stack : report.stacks) meet(stack);
  for (const ListedOnce& row : report.listed_once) meet(row.stack);
}

}  // namespace

Redactor::Redactor(std::string_view key) : tokens_(std::make_shared<Tokens>(key)) {}

std::shared_ptr<const StackView> Redactor::redacted(std::shared_ptr<const StackView> view) const {
  if (view == nullptr) return view;
  return std::make_shared<const RedactedView>(std::move(view), tokens_, std::vector<std::shared_ptr<const Snapshot>>{});
}

void Redactor::redact(PinReport& report) const {
  Snapshots snapshots(*tokens_);
  snapshots.redact(report.baseline);
  snapshots.redact(report.current);
  report.view = std::make_shared<const RedactedView>(report.view, tokens_, snapshots.originals());
  snapshots.redact_all_notes();
}

std::string Redactor::redacted(std::string_view text) const { return tokens_->text(text); }

std::string Redactor::token(std::string_view name) const { return std::string(tokens_->word(name)); }

void Redactor::redact(Postmortem& report) const {
  Tokens& tokens = *tokens_;
  Snapshots snapshots(tokens);
  meet_all(tokens, report.growth());
  TrendReport& trend = report.trend;
  const auto redact_steps = [&](std::vector<SeriesStep>& steps) {
    for (SeriesStep& step : steps) {
      snapshots.redact(step.snapshot);
      redact_frames(tokens, step.heaviest);
    }
  };
  redact_steps(report.steps);
  redact_steps(trend.series.steps);
  for (GrowthReport* growth : {&trend.series.overall, &report.by_function}) {
    snapshots.redact(growth->baseline);
    snapshots.redact(growth->current);
    redact_growth(tokens, *growth);
  }
  if (report.counters) {
    for (SnapshotRef& ref : report.counters->snapshots) snapshots.redact(ref);
    for (CounterRow& row : report.counters->rows) {
      row.name = tokens.word(row.name);
      row.unit = tokens.harmless(row.unit);
    }
  }
  if (report.failure) {
    for (CacheHolder& holder : report.failure->holders) {
      holder.function = tokens.function(holder.function);
      holder.line.file = tokens.path(holder.line.file);
    }
  }
  if (report.pins) {
    snapshots.redact(report.pins->baseline);
    snapshots.redact(report.pins->current);
  }
  const auto wrap = [&](std::shared_ptr<const StackView>& view) {
    if (view != nullptr) view = std::make_shared<const RedactedView>(view, tokens_, snapshots.originals());
  };
  wrap(trend.series.overall.view);
  wrap(report.by_function.view);
  if (report.pins) wrap(report.pins->view);

  redact_prose(tokens, report.narrative.headline);
  for (Finding& finding : report.narrative.findings) redact_prose(tokens, finding.text);
  for (Hint& hint : report.narrative.hints) redact_prose(tokens, hint.evidence);
  for (Prose& line : report.narrative.in_short) redact_prose(tokens, line);

  report.title = tokens.word(report.title);
  report.order_note = tokens.text(report.order_note);
  trend.restart = tokens.text(trend.restart);
  for (std::vector<SeriesStep>* steps : {&report.steps, &trend.series.steps}) {
    for (SeriesStep& step : *steps) step.restart = tokens.text(step.restart);
  }
  for (MissingInput& one : report.missing) {
    one.name = tokens.operand(one.name);
    one.why = tokens.text(one.why);
  }
  redact_notes(tokens, report.notes);
  redact_notes(tokens, trend.series.overall.notes);
  redact_notes(tokens, report.by_function.notes);
  if (report.counters) redact_notes(tokens, report.counters->notes);
  snapshots.redact_all_notes();
  report.redacted = true;
}

}  // namespace snapdiff::postmortem
