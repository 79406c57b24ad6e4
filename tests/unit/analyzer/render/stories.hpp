#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/render/render.hpp"
#include "snapdiff/story.hpp"
#include "unit/analyzer/graph/fake_report.hpp"

namespace snapdiff::test {

/// A view that also keeps another one's texts.
class KeepAlive : public StackView {
 public:
  KeepAlive(std::shared_ptr<const StackView> view, std::shared_ptr<const StackView> other)
      : view_(std::move(view)), other_(std::move(other)) {}
  void frames(StackRef stack, std::vector<FrameView>& out) const override { view_->frames(stack, out); }

 private:
  std::shared_ptr<const StackView> view_, other_;
};

/// A row of a story: its stack and its value at each snapshot; objects are value / 16.
struct Line {
  std::string stack;
  std::vector<std::int64_t> values;
};

inline SnapshotRef fake_snapshot(std::size_t number) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->facts.source.name = std::string("dumps/svc.").append(std::to_string(1000 + number)).append(".heap");
  snapshot->facts.source.sha256 = std::string(56, 'a').append(std::to_string(10000000 + number));
  snapshot->facts.source.size_bytes = 4321;
  return {snapshot, snapshot->facts.source.name, ""};
}

inline GrowthReport report_between(const std::vector<Line>& lines, std::size_t a, std::size_t b) {
  FakeReport report;
  for (const Line& line : lines)
    report.row(line.stack, line.values[a], line.values[b], line.values[a] / 16, line.values[b] / 16);
  report.get().baseline = fake_snapshot(a);
  report.get().current = fake_snapshot(b);
  return report.get();
}

/// The whole story of the lines: totals, first -> last with series, one pair per step.
inline render::Story story_of(const std::vector<Line>& lines) {
  render::Story story;
  const std::size_t n = lines.empty() ? 2 : lines.front().values.size();
  story.overall = report_between(lines, 0, n - 1);
  if (n > 2) {
    story.overall.series_length = n;
    for (const Line& line : lines) story.overall.series.push_row(line.values);
  }
  for (std::size_t i = 0; i < n; ++i) {
    SeriesStep step;
    step.snapshot = fake_snapshot(i);
    for (const Line& line : lines) step.total += line.values[i];
    if (i > 0) step.growth = step.total - story.steps.back().total;
    story.steps.push_back(step);
  }
  story.title = "svc_cache";
  story.version = "snapdiff 0.1";
  story.order_note = "ordered by the number in the file name";
  story.created_at_ns = 1'700'000'000'000'000'000;
  return story;
}

/// A culprit of these rows, as the story module would describe it; its texts belong to the views of `from`.
inline Culprit culprit_of(const render::Story& story, const Culprit& from, std::string verdict) {
  Culprit out;
  out.path = from.path;
  out.rows = from.rows;
  out.sites = from.sites;
  out.share = from.share;
  for (std::size_t i = 0; i < story.steps.size(); ++i) out.values.push_back(0);
  for (const std::uint32_t row : from.rows) {
    const GrowthRow& values = story.overall.rows[row];
    out.value = {out.value.baseline + values.value.baseline, out.value.current + values.value.current};
    out.objects = {out.objects.baseline + values.objects.baseline, out.objects.current + values.objects.current};
    for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] += story.overall.series.at(row, i);
  }
  out.verdict.word = verdict;
  out.verdict.reason = "climbs in every part of the window";
  out.text.label = std::move(verdict);
  out.text.name = {{std::string(from.path.back().function), true}};
  out.text.place = {{std::string(from.path.back().file), true}};
  out.text.growth = value_text(out.value.growth(), "bytes", true);
  out.text.share = std::to_string(static_cast<int>(100 * from.share)) + " %";
  return out;
}

/// What the outputs lay out: these culprits, and what `passing` names as allocated and freed again.
inline void tell_story(render::Story& story, const std::vector<Culprit>& from, std::vector<std::uint32_t> passing) {
  auto told = std::make_shared<Story>();
  told->snapshots = story.steps.size();
  told->verdict = "GROWING";
  told->headline = {
      {"In-use bytes " + change_text(story.overall.total.baseline, story.overall.total.current, "bytes")}};
  told->figures = value_text(story.overall.total.growth(), "bytes", true);
  told->extent = std::to_string(told->snapshots) + " snapshots";
  told->next = {{"snapdiff peek '"}, {"leak_sessions", true}, {"' a b"}};
  for (const Culprit& culprit : from) told->culprits.push_back(culprit_of(story, culprit, "GROWING"));
  for (std::size_t i = told->culprits.size(); i-- > 0;)
    told->bands.push_back({Band::Kind::culprit, i, told->culprits[i].text.name, {}, told->culprits[i].values});
  for (const std::uint32_t row : passing) {
    Band band{Band::Kind::passing, 0, {{"background", true}}, {{"background: 4.00 MiB, snapshots 3 to 5"}}, {}};
    for (std::size_t i = 0; i < story.steps.size(); ++i) band.values.push_back(story.overall.series.at(row, i));
    told->bands.push_back(std::move(band));
  }
  story.overall.story = std::move(told);
}

/// Twelve snapshots, two leaks and a block that came and went, after the sample series svc_cache.
inline render::Story twelve_snapshots() {
  std::vector<Line> lines = {{"_start;main;handle_request;leak_sessions;alloc_body@svc_cache.cc:24", {}},
                             {"_start;main;background;leak_log;make_log_line@svc_cache.cc:28", {}},
                             {"_start;main;background;leak_rec;leak_rec;leak_rec@svc_cache.cc:34", {}},
                             {"_start;main;background@svc_cache.cc:46", {}},
                             {"_start;main;handle_request;lru_touch;alloc_body@svc_cache.cc:24", {}}};
  for (std::int64_t i = 0; i < 12; ++i) {
    lines[0].values.push_back(240'000 * (i + 1));
    lines[1].values.push_back(200'000 * (i + 1));
    lines[2].values.push_back(65'536 * (i + 1));
    lines[3].values.push_back(i >= 2 && i <= 4 ? 4'194'304 : 0);
    lines[4].values.push_back(524'288);
  }
  render::Story story = story_of(lines);
  FakeReport culprits;  // only for its frames
  for (const Line& line : lines) culprits.row(line.stack, line.values.front(), line.values.back());
  culprits.culprit("_start;main;handle_request;leak_sessions;alloc_body@svc_cache.cc:24", 2'640'000, 0.47, {0});
  culprits.culprit("_start;main;background;leak_log;make_log_line@svc_cache.cc:28", 2'200'000, 0.4, {1});
  story.overall.common_path = "main";
  tell_story(story, culprits.get().story->culprits, {3});
  for (std::size_t row = 0; row < lines.size(); ++row)
    story.verdicts.push_back({row < 3 ? "GROWING" : row == 3 ? "GONE" : "FLAT", "climbs in every part of the window"});
  // The culprits' texts live in this view.
  story.overall.view = std::make_shared<KeepAlive>(story.overall.view, culprits.get().view);
  return story;
}

}  // namespace snapdiff::test
