#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diff/diff.hpp"
#include "support/snapshot_text.hpp"

/// What the tests of the diff module share.
namespace snapdiff::test {

inline SnapshotRef heap(std::string_view text, const TextOptions& options = {}) { return snapshot_ref(text, options); }

/// The report, or an exception with the error's text.
inline GrowthReport must_diff(const SnapshotRef& a, const SnapshotRef& b, const DiffOptions& options = {}) {
  Result<GrowthReport> report = diff::diff(a, b, options);
  if (!report) throw std::invalid_argument(report.error().text());
  return std::move(report).value();
}

inline GrowthReport must_diff(std::string_view a, std::string_view b, const DiffOptions& options = {}) {
  return must_diff(heap(a), heap(b), options);
}

/// Growth by key text.
inline std::map<std::string, std::int64_t> growth_by_key(const GrowthReport& report) {
  std::map<std::string, std::int64_t> out;
  for (const GrowthRow& row : report.rows) out[key_of(report, row)] += row.value.growth();
  return out;
}

inline const GrowthRow& row_called(const GrowthReport& report, std::string_view key) {
  for (const GrowthRow& row : report.rows) {
    if (key_of(report, row) == key) return row;
  }
  throw std::invalid_argument("no row " + std::string(key));
}

inline std::vector<std::string> keys_in_order(const GrowthReport& report) {
  std::vector<std::string> out;
  for (const GrowthRow& row : report.rows) out.push_back(key_of(report, row));
  return out;
}

/// Callees below a stack, each at a line that moved by `by`: enough of them to tell two builds of a program of a few
/// stacks, which otherwise might be other work of one build.
inline std::string moved_frames(int by) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += ";step" + std::to_string(i) + "@step.cc:" + std::to_string(100 * i + 50 + by);
  return out;
}

inline DiffOptions by(GroupBy group) {
  DiffOptions options;
  options.by = group;
  return options;
}

}  // namespace snapdiff::test
