#include "analyzer/trend/reason.hpp"

#include <algorithm>
#include <cmath>

#include "snapdiff/number_text.hpp"

namespace snapdiff::trend {

namespace {

std::string p_text(double p) {
  if (p >= .995) return "p > 0.99";
  const auto hundredths = std::lround(p * 100);
  std::string text("p 0.");
  if (hundredths < 10) text += '0';
  return text += std::to_string(hundredths);
}

std::string spikes_text(const Findings& found) {
  if (found.spikes == 0) return {};
  std::string text("; ");
  text += std::to_string(found.spikes);
  return text += found.spikes == 1 ? " spike set aside" : " spikes set aside";
}

std::string cycle_text(const Findings& found) {
  if (found.cycle == 0) return {};
  std::string text(" beside a cycle of ");
  return text.append(std::to_string(found.cycle)).append(" snapshots");
}

std::string count_of(const Findings& found) { return std::to_string(found.values.size()); }

double level(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::string amount(double value, std::string_view unit) {
  constexpr double kMost = 9e18;
  return snapdiff::value_text(std::llround(std::clamp(value, -kMost, kMost)), unit);
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

std::string pace_text(double slope, std::string_view unit) {
  if (slope > 0 && std::llround(slope) == 0) {
    std::string text = amount(1, unit);
    text += " every ";
    return text.append(std::to_string(std::llround(std::min(1 / slope, 9e18)))).append(" snapshots");
  }
  return amount(slope, unit).append(" per snapshot");
}

std::string reason_growing(const Findings& found, std::string_view unit) {
  const double slope = found.slope;
  const std::size_t half = found.values.size() / 2;
  const double early = slope_of(found.values.first(half), std::span(found.fit->tables->place).first(half));
  const bool everywhere = found.late_slope >= .65 * slope && early >= .5 * found.fit->slope;
  std::string text("+");
  text += pace_text(slope, unit);
  if (everywhere) {
    text += ", steady over all ";
    text += count_of(found);
    text += " snapshots";
  } else {
    text += ", +";
    text += amount(found.late_slope, unit);
    text += " in its last half";
  }
  text += cycle_text(found);
  text += "; ";
  text += p_text(found.p_of(Group::climbing));
  return text += spikes_text(found);
}

std::string reason_rising(const Findings& found) {
  std::string text("rose, but ");
  if (found.by_chance) {
    text += "no further than sampling alone may show";
  } else {
    text += count_of(found);
    text += " snapshots cannot exclude random drift";
  }
  text += cycle_text(found);
  text += "; ";
  text += p_text(found.p_of(Group::climbing));
  if (found.values.size() < 8) text += " from few points";
  return text += spikes_text(found);
}

std::string reason_saturating(const Findings& found) {
  const double pace = found.slope > 0 ? found.late_slope / found.slope : 0;
  std::string text("rose early, ");
  if (pace < .005) return text.append("level since").append(spikes_text(found));
  text += "later at ";
  text += std::to_string(std::lround(100 * std::min(pace, 9.99)));
  return text.append(" % of its average rate").append(spikes_text(found));
}

std::string reason_step(const Findings& found, std::string_view unit) {
  const std::span<const double> values = found.values;
  std::string text;
  if (const std::size_t count = doublings(values); count >= 2) {
    text += std::to_string(count);
    return text.append(" jumps, each doubling: a table that resizes");
  }
  const std::vector<std::size_t>& cuts = found.fit->cuts;
  const std::size_t last = cuts.back();
  const std::size_t before = cuts.size() > 1 ? cuts[cuts.size() - 2] : 0;
  const double jump = level(values.subspan(last)) - level(values.subspan(before, last - before));
  if (cuts.size() == 1) {
    text += jump > 0 ? "one jump of " : "one drop of ";
  } else {
    text += std::to_string(cuts.size());
    text += jump > 0 ? " jumps, the last of " : " jumps, the last a drop of ";
  }
  text += amount(std::abs(jump), unit);
  text += " at snapshot ";
  text += std::to_string(last + 1);
  return text.append(", level since").append(spikes_text(found));
}

std::string reason_shrinking(const Findings& found, std::string_view unit) {
  std::string text("falls ");
  text += pace_text(-found.slope, unit);
  text += "; ";
  return text.append(p_text(found.p_of(Group::falling))).append(spikes_text(found));
}

std::string reason_noisy(const Findings& found, std::string_view unit) {
  std::string text;
  if (found.leads(Group::climbing) && !found.kept && found.p_of(Group::climbing) >= .5) {
    text += "rose, but gave back ";
    text += amount(found.largest_fall, unit);
    return text.append(" on the way").append(spikes_text(found));
  }
  if (found.leads(Group::walk)) return text.append("no significant trend, drifts").append(spikes_text(found));
  return text.append("no significant trend").append(spikes_text(found));
}

std::string reason_flat(const Findings& found) {
  const bool moves = found.leads(Group::climbing) || found.leads(Group::falling);
  if (moves && found.rise != 0 && found.fit->mean != 0) {
    const double percent = 100 * std::abs(found.rise / found.fit->mean);
    std::string text(found.rise > 0 ? "rises by " : "falls by ");
    text += percent < 1 ? std::string("less than 1") : "only " + std::to_string(std::lround(std::min(percent, 999.0)));
    text += " % of its level in ";
    return text.append(count_of(found)).append(" snapshots").append(spikes_text(found));
  }
  std::string text("level within 2 % over ");
  text += count_of(found);
  return text.append(" snapshots").append(spikes_text(found));
}

}  // namespace snapdiff::trend
