#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyzer/diff/diff.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/trend/verdict.hpp"
#include "support/snapshot_text.hpp"
#include "unit/analyzer/diff/diff_support.hpp"

/// Stories of small heaps in text.
namespace snapdiff::test {

inline GrowthReport told(GrowthReport report) {
  story::tell(report);
  return report;
}

inline GrowthReport told(std::string_view before, std::string_view after, const DiffOptions& options = {}) {
  return told(must_diff(before, after, options));
}

/// A judged series: `heap_at(i)` is the text of snapshot i.
inline TrendReport told_series(std::size_t snapshots, const std::function<std::string(std::size_t)>& heap_at,
                               const TextOptions& options = {}) {
  std::vector<SnapshotRef> refs;
  for (std::size_t i = 0; i < snapshots; ++i) refs.push_back(heap(heap_at(i), options));
  Result<SeriesReport> series = diff::diff_series(refs, {});
  if (!series) throw std::invalid_argument(series.error().text());
  TrendReport trend = trend::analyse(std::move(series).value(), std::nullopt);
  story::tell(trend);
  return trend;
}

inline const Story& story_of(const GrowthReport& report) { return *report.story; }
inline const Story& story_of(const TrendReport& trend) { return *trend.series.overall.story; }

/// "main > handle > leak".
inline std::string path_of(const std::vector<FrameView>& path) {
  std::string text;
  for (const FrameView& frame : path) text += (text.empty() ? "" : " > ") + std::string(frame.function);
  return text;
}

/// Functions of the culprits, in order.
inline std::vector<std::string> names_of(const std::vector<Culprit>& culprits) {
  std::vector<std::string> names;
  for (const Culprit& culprit : culprits)
    names.emplace_back(culprit.path.empty() ? std::string_view("-") : culprit.path.back().function);
  return names;
}

/// "name bytes objects" lines.
inline std::string row(const std::string& stack, long long bytes, long long objects) {
  return stack + " " + std::to_string(bytes) + " " + std::to_string(objects) + "\n";
}

}  // namespace snapdiff::test
