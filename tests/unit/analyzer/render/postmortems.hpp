#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "snapdiff/postmortem.hpp"
#include "unit/analyzer/render/stories.hpp"

namespace snapdiff::test {

/// What a story tells, as a post-mortem with findings and hints of its own.
inline Postmortem postmortem_of(const render::Story& story) {
  Postmortem report;
  report.title = story.title;
  report.version = story.version;
  report.order_note = story.order_note;
  report.created_at_ns = story.created_at_ns;
  report.trend.series.steps = story.steps;
  report.trend.series.overall = story.overall;
  report.trend.series.overall.metric = "inuse_space";
  report.steps = story.steps;
  report.trend.verdicts = story.verdicts;
  for (Verdict& verdict : report.trend.verdicts) verdict.p = .99;
  report.trend.verdicts.resize(story.overall.rows.size());
  report.narrative.headline = {{"In-use bytes grew"}};
  report.narrative.in_short = {{{"Most of it came through "}, {"leak_sessions", true}, {"."}}};
  report.narrative.findings = {{Finding::Kind::what, {{"The total rose in every step but one."}}},
                               {Finding::Kind::where, {{"Through "}, {"leak_sessions", true}, {"."}}},
                               {Finding::Kind::next, {{"snapdiff peek "}, {"leak_sessions", true}}}};
  return report;
}

/// By function, as the assembling module makes it: keys instead of stacks.
inline void add_functions(Postmortem& report, const std::vector<Line>& lines) {
  GrowthReport& by = report.by_function;
  by = report.growth();
  by.options.by = GroupBy::function;
  by.rows.clear();
  by.stacks.clear();
  by.series = {};
  by.series_length = 0;
  by.suspects.clear();
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> sums;
  for (const Line& line : lines) {
    std::string leaf = line.stack.substr(line.stack.rfind(';') + 1);
    leaf = leaf.substr(0, leaf.find('@'));
    sums[leaf].first += line.values.front();
    sums[leaf].second += line.values.back();
  }
  for (const auto& [name, values] : sums) {
    GrowthRow row;
    row.value = {values.first, values.second};
    row.objects = {values.first / 16, values.second / 16};
    row.grew = std::max<std::int64_t>(row.value.growth(), 0);
    row.shrank = std::min<std::int64_t>(row.value.growth(), 0);
    row.key = static_cast<std::uint32_t>(by.keys.size());
    by.keys.push_back(name);
    by.cumulative.push_back({row.value, row.objects, row.grew, row.shrank});
    by.rows.push_back(row);
  }
  std::stable_sort(by.rows.begin(), by.rows.end(),
                   [](const GrowthRow& a, const GrowthRow& b) { return a.grew - a.shrank > b.grew - b.shrank; });
}

/// A tree of calls, wide and deep: `width` branches below main, each `depth` calls long with a leaf at every call.
/// Every fifth branch shrinks.
inline std::vector<Line> branches(int width, int depth, std::size_t snapshots) {
  std::vector<Line> lines;
  for (int w = 0; w < width; ++w) {
    std::string stack = "_start;main";
    for (int d = 0; d < depth; ++d) {
      stack += ";branch_" + std::to_string(w) + "_level_" + std::to_string(d);
      Line line{stack + ";leaf_" + std::to_string(w) + "_" + std::to_string(d) + "@tree.cc:" + std::to_string(10 + d),
                {}};
      const std::int64_t size = 100'000 + 7'000 * w + 900 * d;
      for (std::size_t i = 0; i < snapshots; ++i) {
        const auto n = static_cast<std::int64_t>(w % 5 == 4 ? snapshots - i : i + 1);
        line.values.push_back(size * n);
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace snapdiff::test
