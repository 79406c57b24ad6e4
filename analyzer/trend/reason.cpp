#include <algorithm>
#include <cmath>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/trend/rule.hpp"

namespace snapdiff::trend {

namespace {

std::string spikes_text(const Findings& found) {
  if (found.spikes == 0) return {};
  return concat("; ", found.spikes, found.spikes == 1 ? " spike set aside" : " spikes set aside");
}

std::string cycle_text(const Findings& found) {
  if (found.waves > 0) return " beside a wave";
  return found.cycle == 0 ? std::string() : concat(" beside a cycle of ", found.cycle, " snapshots");
}

/// A change in the unit of the values, rounded to a whole one: "2.92 MiB".
std::string amount(double value, std::string_view unit) { return snapdiff::value_text(whole_number(value), unit); }

/// A slope above 0: "2.92 MiB per snapshot"; "1 every 4 snapshots" where the former would round to nothing.
std::string pace_text(double slope, std::string_view unit) {
  if (slope > 0 && std::llround(slope) == 0)
    return concat(amount(1, unit), " every ", std::llround(std::min(1 / slope, 9e18)), " snapshots");
  return amount(slope, unit) + " per snapshot";
}

}  // namespace

std::string p_text(double p) {
  if (p >= .995) return "p > 0.99";
  const auto hundredths = std::lround(p * 100);
  return concat(hundredths < 10 ? "p 0.0" : "p 0.", hundredths);
}

std::size_t doublings(std::span<const double> values) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] == values[i - 1]) continue;
    const double ratio = values[i - 1] > 0 ? values[i] / values[i - 1] : 0;
    if (ratio < 1.8 || ratio > 2.2) return 0;
    ++count;
  }
  return count;
}

std::string reason_growing(const Findings& found, std::string_view unit) {
  const double slope = found.slope;
  const std::size_t half = found.values.size() / 2;
  const double early = slope_of(found.values.first(half), std::span(found.fit->tables->place).first(half));
  const bool everywhere = found.keeps_pace() && early >= .5 * found.fit->slope;
  const std::string where = found.stairs ? concat(", in ", found.fit->cuts.size(), " even jumps, the last at snapshot ",
                                                  found.index[found.fit->cuts.back()] + 1)
                            : everywhere
                                ? concat(found.unlisted ? ", steady over the " : ", steady over all ",
                                         found.values.size(), found.unlisted ? " snapshots that list it" : " snapshots")
                                : concat(", +", amount(found.late_slope, unit), " in its last half");
  return concat("+", pace_text(slope, unit), where, cycle_text(found), "; ", p_text(found.p_of(Group::climbing)),
                spikes_text(found));
}

std::string reason_rising(const Findings& found) {
  const std::string why = found.by_chance ? "no further than sampling alone may show"
                          : found.values.size() < 2 * kJudgedFrom
                              ? concat(found.values.size(), " snapshots are too few to be sure")
                              : "not steady enough to be sure";
  return concat("rising, but ", why, cycle_text(found), "; ", p_text(found.p_of(Group::climbing)),
                found.values.size() < 8 ? " from few points" : "", spikes_text(found));
}

std::string reason_saturating(const Findings& found) {
  const double pace = found.slope > 0 ? found.late_slope / found.slope : 0;
  if (pace < .005) return "rose early, level since" + spikes_text(found);
  const auto percent = std::lround(100 * std::min(pace, 9.99));
  return concat(pace < kKeepsPace ? "rose early" : "slows down", ", later at ", percent, " % of its average rate",
                spikes_text(found));
}

std::string reason_step(const Findings& found, std::string_view unit) {
  const std::span<const double> values = found.values;
  if (const std::size_t count = doublings(values); count >= 2)
    return concat(count, " jumps, each doubling: a table that resizes");
  const std::vector<std::size_t>& cuts = found.fit->cuts;
  const std::size_t last = cuts.back();
  const std::size_t before = cuts.size() > 1 ? cuts[cuts.size() - 2] : 0;
  const double jump = mean_of(values.subspan(last)) - mean_of(values.subspan(before, last - before));
  const std::string what = cuts.size() == 1
                               ? std::string(jump > 0 ? "one jump of " : "one drop of ")
                               : concat(cuts.size(), jump > 0 ? " jumps, the last of " : " jumps, the last a drop of ");
  return concat(what, amount(std::abs(jump), unit), " at snapshot ", found.index[last] + 1,
                last + 1 < values.size() ? ", level since" : ", the last", spikes_text(found));
}

std::string reason_shrinking(const Findings& found, std::string_view unit) {
  return concat("falls ", pace_text(-found.slope, unit), "; ", p_text(found.p_of(Group::falling)), spikes_text(found));
}

std::string reason_noisy(const Findings& found, std::string_view unit) {
  if (found.leads(Group::climbing) && !found.kept && found.p_of(Group::climbing) >= .5)
    return concat("rose, but gave back ", amount(found.largest_fall, unit), " on the way", spikes_text(found));
  return concat("no significant trend", found.leads(Group::walk) ? ", drifts" : "", spikes_text(found));
}

std::string reason_flat(const Findings& found) {
  const std::size_t count = found.values.size();
  const bool moves = found.leads(Group::climbing) || found.leads(Group::falling);
  if (!moves || found.rise == 0 || found.fit->mean == 0)
    return concat("level within 2 % over ", count, " snapshots", spikes_text(found));
  const double percent = 100 * std::abs(found.rise / found.fit->mean);
  return concat(found.rise > 0 ? "rises by " : "falls by ",
                percent < 1 ? "less than 1" : concat("only ", std::lround(std::min(percent, 999.0))),
                " % of its level in ", count, " snapshots", spikes_text(found));
}

}  // namespace snapdiff::trend
