#include "analyzer/trend/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/base/concat.hpp"
#include "analyzer/trend/rule.hpp"

namespace snapdiff::trend {

namespace {

constexpr double kHarmless = .8;  // odds of step and warm-up together
constexpr double kNoisy = .02;    // residual sd as a share of the level
constexpr double kSampledPace =
    .1;  // of the slope; survivors keep their samples, so chance scatters less than it drifts

constexpr std::size_t kStartShare = 4;  // of the series: a warm-up ends before three quarters of it

/// Two doublings may be any two jumps.
constexpr std::size_t kTableDoubles = 3;

/// 95 % band of the slope (README.md, "The band").
void set_band(const Findings& found, Verdict& verdict) {
  const Fit& fit = *found.fit;
  const std::size_t count = found.values.size();
  const auto n = static_cast<double>(count);
  verdict.slope_low = verdict.slope_high = verdict.slope;
  if (count < 3) return;
  const Climb climb = climb_of(found);
  double products = 0, rss = 0;
  for (std::size_t i = 0; i < count; ++i) {
    rss += climb.residual[i] * climb.residual[i];
    if (i > 0) products += climb.residual[i] * climb.residual[i - 1];
  }
  double r = rss > 0 ? products / rss : 0;
  if (count >= 8) r += 2 / n;
  r = std::clamp(r, 0.0, .9);
  double centre = climb.slope;
  double error = std::sqrt(rss / climb.freedom / climb.spread) * std::sqrt((1 + r) / (1 - r));
  const double d = fit.mean_step;
  const double walk_error = std::sqrt(std::max(0.0, fit.step_squares - (n - 1) * d * d) / (n - 2) / (n - 1));
  if (found.wander >= .1 && walk_error > error) {
    centre = d;
    error = walk_error;
  }
  const double q = 1.96 + 2.4 / (n - 2) + 4 / ((n - 2) * (n - 2));
  verdict.slope_low = (centre - q * error) / found.stretch;
  verdict.slope_high = (centre + q * error) / found.stretch;
}

/// A verdict's word and its reason.
struct Said {
  std::string word, reason;
};

/// True for a large rise that never falls and exceeds its error. Such a series is not noise, whatever the odds say.
bool never_falls(const Findings& found, const Verdict& verdict) {
  return found.large && found.largest_fall == 0 && verdict.slope_low > 0;
}

Said rising(const Findings& found) {
  return found.slowing ? Said{"SATURATING", reason_saturating(found)} : Said{"RISING", reason_rising(found)};
}

Said rest(const Findings& found, std::string_view unit, const Verdict& verdict) {
  const bool bends = found.p_of(Group::warm_up) > found.p_of(Group::climbing) && found.late_slope < found.slope;
  if (never_falls(found, verdict)) return bends ? Said{"SATURATING", reason_saturating(found)} : rising(found);
  const double freedom = static_cast<double>(found.values.size()) - 2;
  const double sd = std::sqrt(found.fit->line_rss / freedom);
  if (sd > kNoisy * std::abs(found.fit->mean) || found.leads(Group::walk)) return {"NOISY", reason_noisy(found, unit)};
  return {"FLAT", reason_flat(found)};
}

/// Climbing shapes lead, but GROWING was not reached. Nothing: it is too small to be called so.
std::optional<Said> climbing_leads(const Findings& found, std::string_view unit) {
  if (found.p_of(Group::climbing) < .5 || (found.large && !found.kept)) return Said{"NOISY", reason_noisy(found, unit)};
  if (!found.large || found.rise <= 0) return std::nullopt;
  return rising(found);
}

/// `verdict`: with its band. A row that may be level by its band is not GROWING, whatever the odds.
Said choose_word(const Findings& found, std::string_view unit, const Verdict& verdict) {
  const double climbing = found.p_of(Group::climbing);
  const bool climbs = found.matters && verdict.slope_low > (found.sampled ? kSampledPace * found.slope : 0) &&
                      found.kept && !found.slowing && !found.by_chance;
  if (found.values.size() >= kJudgedFrom && climbing >= found.wanted && climbs)
    return {"GROWING", reason_growing(found, unit)};
  if (found.leads(Group::climbing)) {
    if (std::optional<Said> said = climbing_leads(found, unit)) return *std::move(said);
  }
  if (found.p_of(Group::falling) >= kSure && found.large && found.rise < 0)
    return {"SHRINKING", reason_shrinking(found, unit)};
  const double warm_up = found.p_of(Group::warm_up);
  const double steps = found.p_of(Group::steps);
  if (warm_up + steps >= kHarmless) {
    if (steps >= warm_up) return {"STEP", reason_step(found, unit)};
    if (found.warm_up > 0 && found.late_slope < found.slope) return {"SATURATING", reason_saturating(found)};
  }
  return rest(found, unit, verdict);
}

/// Variance of each value as the fits may not do better than. Of a sampled series the survivors keep their samples:
/// only what is seen to come or go carries an error, of one sample for each sample that does (README.md, "Sampling").
double known_variance(std::span<const double> values, const PointError& error) {
  if (!(error.sample > 0) || values.size() < 2) return error.variance;
  return error.variance + error.sample * moved_of(values) / static_cast<double>(values.size() - 1);
}

/// A part of a series as it is judged once: its known values, from some point on.
struct Part {
  std::span<double> values;            // spikes and waves are taken out in place
  std::span<double> places;            // in steps; empty: one step apart
  std::span<const std::size_t> index;  // of each in the series
  bool came = false;                   // the series was 0 before: a step is one of the part's own
  double stretch = 1;                  // steps from one value to the next, in the mean
  std::size_t spikes = 0, waves = 0;   // that were taken out
};

/// Makes the places run from 0 to values.size() - 1, as the tables take them.
void to_places(Part& part) {
  if (part.places.empty()) return;
  const double first = part.places.front();
  const double stretch = (part.places.back() - first) / static_cast<double>(part.places.size() - 1);
  for (double& place : part.places) place = (place - first) / stretch;
  if (!part.came) part.stretch *= stretch;
}

/// Returns whether the values rise by much.
bool look_at(const Part& part, const Points& points, Fit& fit, Verdict& verdict) {
  Findings found = find_out(part.values, Tables::of(part.values.size(), part.places), part.stretch,
                            known_variance(part.values, points.error), points.error.sample, points.floor, fit);
  found.index = part.index;
  found.spikes = part.spikes;
  found.waves = part.waves;
  found.unlisted = std::ranges::count(points.known, 0) > 0;
  verdict.p = found.p_of(Group::climbing);
  verdict.slope = found.slope;
  verdict.rise = found.rise;
  set_band(found, verdict);
  Said said = choose_word(found, points.unit, verdict);
  verdict.word = std::move(said.word);
  verdict.reason = std::move(said.reason);
  return found.large && found.rise > 0;
}

bool is_level(std::span<const double> values, double floor) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most <= *least || *most - *least < floor;
}

/// A start-up that is most of the rise makes a steady climb after it look like a warm-up. The values after the first
/// `start`, where they are most of the series, are judged alone.
void look_after_start(Part part, std::size_t start, const Points& points, Fit& fit, Verdict& verdict) {
  const std::size_t count = part.values.size();
  if (start == 0 || start > count / kStartShare || count - start < kJudgedFrom * 2) return;
  part.values = part.values.subspan(start);
  part.index = part.index.subspan(start);
  if (!part.places.empty()) part.places = part.places.subspan(start);
  if (is_level(part.values, points.floor)) return;
  to_places(part);
  Verdict later;
  look_at(part, points, fit, later);
  if (later.word != "GROWING") return;
  later.reason = concat(later.reason, "; the first ", start, " are a start-up");
  verdict = std::move(later);
}

void judge_shapes(Part part, const Points& points, Verdict& verdict) {
  verdict.word = "FLAT";
  verdict.reason = "level where it is listed";
  if (is_level(part.values, points.floor)) return;
  part.spikes = remove_spikes(part.values, known_variance(part.values, points.error));
  verdict.reason = "level but for single spikes";
  if (is_level(part.values, 0)) return;
  to_places(part);
  thread_local Fit fit;
  const bool may_climb = look_at(part, points, fit, verdict);
  if (verdict.word == "SATURATING") {
    look_after_start(part, fit.knee, points, fit, verdict);
  } else if (may_climb && verdict.word != "GROWING" && part.values.size() >= kLong) {
    part.waves = take_out_waves(part.values, *fit.tables);
    if (part.waves > 0) look_at(part, points, fit, verdict);
  }
}

/// The known values and where they are, in steps of the whole series. Reused: judging allocates nothing.
struct Chosen {
  std::vector<double> values;
  std::vector<double> places;      // empty: one step apart
  std::vector<std::size_t> index;  // of each in the series

  Part from(std::size_t first) {
    return {std::span(values).subspan(first), places.empty() ? std::span(places) : std::span(places).subspan(first),
            std::span(index).subspan(first), first > 0};
  }
};

/// Distances below this share of a step are no distances: times that close are those of one moment.
constexpr double kOneMoment = 1e-6;

bool usable(std::span<const double> times, std::size_t count) {
  if (times.size() != count || count < 2) return false;
  const double step = (times.back() - times.front()) / static_cast<double>(count - 1);
  for (std::size_t i = 1; i < count; ++i) {
    if (!(times[i] - times[i - 1] > kOneMoment * step)) return false;
  }
  return true;
}

void choose(const Points& points, Chosen& chosen) {
  const std::size_t count = points.values.size();
  const bool timed = usable(points.times, count);
  const bool gaps = points.known.size() == count;
  chosen.values.clear();
  chosen.places.clear();
  chosen.index.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (gaps && points.known[i] == 0) continue;
    chosen.values.push_back(points.values[i]);
    chosen.index.push_back(i);
  }
  if (!timed && chosen.values.size() == count) return;
  const double step = timed ? (points.times.back() - points.times.front()) / static_cast<double>(count - 1) : 1;
  for (const std::size_t i : chosen.index) {
    chosen.places.push_back(timed ? (points.times[i] - points.times.front()) / step : static_cast<double>(i));
  }
}

/// The word by the values alone; the range is above 0 and above the floor.
void judge_values(const Points& points, Verdict& verdict) {
  thread_local Chosen chosen;
  choose(points, chosen);
  const std::size_t count = chosen.values.size();
  if (count < 3) {
    verdict.reason = "fewer than 3 known values";
    return;
  }
  const auto there = [](double value) { return value != 0; };
  const auto first = std::find_if(chosen.values.begin(), chosen.values.end(), there);
  const auto absent = static_cast<std::size_t>(first - chosen.values.begin());
  if (chosen.values.back() == 0) {
    const auto end = std::find_if(chosen.values.rbegin(), chosen.values.rend(), there).base();
    const auto place = static_cast<std::size_t>(end - chosen.values.begin());
    judge_shapes(chosen.from(0), points, verdict);
    verdict.word = "GONE";
    verdict.reason = concat("last there at snapshot ", place == 0 ? 0 : chosen.index[place - 1] + 1);
    return;
  }
  const bool enough = count - absent >= kJudgedFrom;
  if (absent == 0 || enough) judge_shapes(chosen.from(absent), points, verdict);
  if (absent == 0) return;
  if (verdict.word != "GROWING") {  // a few values may be a climb beside the zeros before them
    Verdict whole;
    choose(points, chosen);
    judge_shapes(chosen.from(0), points, whole);
    if (!enough || whole.word == "GROWING") verdict = std::move(whole);
  }
  if (verdict.word == "GROWING" || (enough && verdict.word != "FLAT" && verdict.word != "NOISY")) {
    verdict.reason += concat("; first there at snapshot ", chosen.index[absent] + 1);
    return;
  }
  verdict.word = "NEW";
  verdict.reason = concat("not there before snapshot ", chosen.index[absent] + 1);
}

/// Scatter and jumps of the values may. A warm-up that slows down is itself well seen: more objects then are small
/// ones.
bool may_hide_a_climb(const Verdict& verdict) {
  return verdict.word == "RISING" || verdict.word == "NOISY" || verdict.word == "FLAT" || verdict.word == "STEP";
}

/// A leak of objects whose sizes scatter shows in their number first.
void judge_counts(const Points& points, Verdict& verdict) {
  double objects = 0, sum = 0;
  for (std::size_t i = 0; i < points.values.size(); ++i) {
    objects += points.counts[i];
    sum += points.values[i];
  }
  if (!(objects > 0) || !(sum > 0)) return;
  const double size = sum / objects;
  Points counts = points;
  counts.values = points.counts;
  counts.counts = {};
  // Whole objects round by up to a half: a variance of 1/12.
  counts.error = {points.error.variance / (size * size) + 1.0 / 12, points.error.sample / size};
  counts.floor = points.floor / size;
  counts.unit = "count";
  const Verdict counted = judge(counts);
  if (counted.word != "GROWING") return;
  const std::string name(points.unit == "bytes" || points.metric.empty() ? points.unit : points.metric);
  verdict.reason = "counted in objects: " + counted.reason + "; by " + name + " alone " + verdict.word;
  verdict.word = counted.word;
  verdict.p = counted.p;
  verdict.rise = std::max(verdict.rise, counted.rise * size);
  verdict.by_objects = true;
}

/// A table that resizes: its bytes double, and it stays the same few objects.
void find_doublings(const Points& points, Verdict& verdict) {
  const auto [least, most] = std::minmax_element(points.counts.begin(), points.counts.end());
  if (*least != *most || !(*least > 0)) return;
  const std::size_t count = doublings(points.values);
  if (count >= kTableDoubles) verdict.doublings = count;
}

}  // namespace

Verdict judge(const Points& points) {
  Verdict verdict;
  if (points.values.size() < 3) {
    verdict.reason = "fewer than 3 snapshots show growth, not a trend";
    return verdict;
  }
  const auto [least, most] = std::minmax_element(points.values.begin(), points.values.end());
  const double range = *most - *least;
  if (!(range > 0) || range < points.floor) {
    verdict.minor = range > 0;
    if (!verdict.minor) verdict.word = "FLAT";
    verdict.reason =
        verdict.minor ? "changes less than the floor" : concat("unchanged in all ", points.values.size(), " snapshots");
    return verdict;
  }
  judge_values(points, verdict);
  if (points.counts.size() != points.values.size() || !may_hide_a_climb(verdict)) return verdict;
  judge_counts(points, verdict);
  find_doublings(points, verdict);
  return verdict;
}

}  // namespace snapdiff::trend
