#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/render/render.hpp"
#include "analyzer/render/text.hpp"

/// What the pages say, worked out of a Story; no drawing here.
namespace snapdiff::render {

/// "In-use bytes grew from 1.02 to 6.72 MiB".
std::string headline(const GrowthReport& report);
/// Paths, shares, what speaks against; one to four sentences.
std::string summary_sentence(const Story& story);
/// What changed in one step.
std::string pair_sentence(const GrowthReport& report);
/// The heaviest suspect's verdict: never one on the total. "" below eight snapshots.
std::string headline_verdict(const Story& story);
/// Verdict of a suspect: of its row that grew most.
const Story::Verdict* suspect_verdict(const Story& story, const Suspect& suspect);

/// "svc.0001.heap", from the file or else the operand.
std::string snapshot_name(const SnapshotRef& ref);
/// First 8 digits of the source's hash, "" when there is none.
std::string short_hash(const SnapshotRef& ref);
/// "a.heap 40ca30c3 → b.heap a7f9298c · inuse_space · matched by ... · rule set 1".
std::string footer_text(const GrowthReport& report);
/// "100 % of bytes" matched, and by what mostly.
double matched_share(const GrowthReport& report);
std::string_view matching_text(const GrowthReport& report);

/// The last frames of a suspect's path, below what all suspects share, root side first.
std::vector<std::string> suspect_path(const GrowthReport& report, const Suspect& suspect);

/// A row's callers, nearest first, repeated ones folded; without the leaf.
std::vector<std::string> callers(const GrowthReport& report, const GrowthRow& row, std::string& leaf,
                                 std::string& site);

/// Value of a row at snapshot i of the series (of two: baseline, current).
std::int64_t value_at(const GrowthReport& report, std::size_t row, std::size_t i);
std::vector<std::int64_t> row_series(const GrowthReport& report, std::size_t row);

/// A band of the plot of totals.
struct Band {
  enum class Kind : std::uint8_t { other, suspect, grown, passing, shrunk };
  std::string name;
  Kind kind = Kind::other;
  std::vector<double> values;  ///< one per snapshot
};
/// From the bottom up; they add up to the totals. Empty when there are no values per snapshot, or a
/// negative one.
std::vector<Band> plot_bands(const Story& story);
/// A row that came and went again: its peak is this much above both ends. -1: none.
std::ptrdiff_t passing_row(const Story& story);

/// What is not in the rows shown: `shown` are row numbers.
struct Others {
  std::uint64_t rows = 0;
  Change value, objects;
  bool unchanged = true;
};
Others others(const GrowthReport& report, const std::vector<std::size_t>& shown);

}  // namespace snapdiff::render
