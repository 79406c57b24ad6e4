#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/base/row_values.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/text.hpp"
#include "analyzer/render/render.hpp"

/// The facts of a comparison that pages show; no drawing and no judgement here.
namespace snapdiff::render {

/// What was worked out; empty where nothing was.
const snapdiff::Story& told(const GrowthReport& report);

/// "In-use bytes grew from 1.02 to 6.72 MiB".
std::string headline(const GrowthReport& report);
/// "leak_sessions +3.15 MiB (44 %); leak_log +2.10 MiB (30 %); the net hides ...": the culprits in one line.
std::string culprits_sentence(const GrowthReport& report);

/// Whether any snapshot has a time.
bool has_times(const Story& story);

/// "svc.0001.heap", from the file or else the operand.
std::string snapshot_name(const SnapshotRef& ref);
/// First 8 digits of the source's hash, "" when there is none.
std::string short_hash(const SnapshotRef& ref);
/// "a.heap 40ca30c3 → b.heap a7f9298c · inuse_space · matched by ... · rule set 1".
std::string footer_text(const GrowthReport& report);
/// By what most bytes were matched.
std::string matching_text(const GrowthReport& report);

/// A row's callers, nearest first, repeated ones folded; without the leaf.
std::vector<std::string> callers(const GrowthReport& report, const GrowthRow& row, std::string& leaf,
                                 std::string& site);

/// A band of the plot of totals, as the story has it.
struct Band {
  enum class Kind : std::uint8_t { other, culprit, freed, passing, role };
  std::string name;
  Kind kind = Kind::other;
  std::string note;
  std::vector<double> values;  ///< one per snapshot
  std::size_t index = 0;       ///< of Kind::role: its number
};
/// From the bottom up; they add up to the totals. Empty where the story has none.
std::vector<Band> plot_bands(const Story& story);

/// The sum of the rows that are not shown; `shown` holds row numbers.
struct Others {
  std::uint64_t rows = 0;
  Change value, objects;
  bool unchanged = true;
};
Others others(const GrowthReport& report, const std::vector<std::size_t>& shown);

bool has_filtered(const GrowthReport& report);

/// The lines that complete the sum of the rows `shown`: others, unattributed and filtered, each where there is any, and
/// the total.
struct SumLine {
  std::string name;
  Change value, objects;
  bool total = false;
};
std::vector<SumLine> sum_lines(const GrowthReport& report, const std::vector<std::size_t>& shown);

/// At most `most` of the steps, in order: both ends, restarts, then those of the largest growth.
std::vector<std::size_t> chosen_steps(const std::vector<SeriesStep>& steps, std::size_t most);

/// How a band is filled: growing ones get paler from the top down; what shrank or went is hatched blue.
struct Paint {
  Color fill;
  bool hatched = false;
};
std::vector<Paint> paints_of(const std::vector<Band>& bands);

/// Totals over the series with the heaviest paths stacked under the line; of two snapshots a bar
/// before and a bar after. From y down; returns the lower edge. `mark_steps`: says how much the steps that stand out
/// added or took away.
double draw_plot(const Story& story, Canvas& canvas, double y, double height, bool mark_steps = false);
/// Left and right end of its axis, and the place of snapshot i of n on it.
inline constexpr double kPlotLeft = kLeft + 34, kPlotRight = kRight - 100;
double plot_x(std::size_t i, std::size_t n);
/// Height the plot asks for.
double plot_height(const Story& story);

}  // namespace snapdiff::render
