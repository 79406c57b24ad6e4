#include <algorithm>
#include <cmath>

#include "analyzer/document/prose.hpp"
#include "analyzer/postmortem/findings.hpp"
#include "analyzer/postmortem/series_facts.hpp"

namespace snapdiff::postmortem {

using namespace document;  // its words
namespace {

/// Number of a judged snapshot among all.
std::size_t number_of(const Postmortem& report, std::size_t index) { return report.trend.left_out + index + 1; }

std::string sampling_text(const GrowthReport& report) {
  if (report.exact) return "nothing was sampled, the figures are exact";
  const std::string periods = sampling_periods(report, kPageNumbers);
  if (periods.empty()) return "how the values were sampled is not known";
  return "sampled every " + periods + ", values scaled";
}

std::string error_text(const GrowthReport& report, double error) {
  return std::isfinite(error) ? value(report, std::llround(std::min(error, 9e18))) : std::string("n/a");
}

}  // namespace

Writer& snapshot_text(Writer& out, const Postmortem& report, std::size_t index) {
  const std::vector<SeriesStep>& steps = report.trend.series.steps;
  out << "snapshot" << kPageNumbers.before_unit << number_of(report, index);
  if (index >= steps.size()) return out;
  (out << " (").snapshot(steps[index].snapshot);
  const Snapshot* snapshot = steps[index].snapshot.snapshot.get();
  if (snapshot != nullptr && snapshot->facts.taken_at_ns) out << ", " << utc_text(*snapshot->facts.taken_at_ns) << "Z";
  return out << ")";
}

Writer& culprit_name(Writer& out, const Culprit& culprit) {
  return culprit.text.name.empty() ? out << "a path without frames" : out << culprit.text.name;
}

std::vector<Culprit> culprits_of(const Postmortem& report) {
  std::vector<Culprit> all;
  const auto& story = report.growth().story;
  if (story == nullptr) return all;
  all = story->culprits;
  all.insert(all.end(), story->freed.begin(), story->freed.end());
  return all;
}

Writer& counter_change(Writer& out, const CounterRow& row) {
  out.name(row.name);
  if (row.cumulative) return out << " counted " << value_text(row.growth, row.unit, true, kPageNumbers);
  return out << " " << change_text(row.before(), row.after(), row.unit, kPageNumbers);
}

const CounterRow* leading_counter(const Postmortem& report) {
  if (!report.counters) return nullptr;
  for (const CounterRow& row : report.counters->rows) {
    if (!row.cumulative && row.known() > 0) return &row;
  }
  return nullptr;
}

Prose headline_of(const Postmortem& report) {
  Writer out;
  if (!has_stacks(report)) {
    const CounterRow* row = leading_counter(report);
    if (row == nullptr) return {{"No levels to compare", false}};
    counter_change(out, *row);
    return out.take();
  }
  return report.growth().story->headline;
}

Prose opening_of(const Postmortem& report) {
  const GrowthReport& report_growth = report.growth();
  std::vector<std::string> figures;
  if (has_stacks(report)) {
    const Change& total = report_growth.total;
    // Where both ends read alike the headline says by how much already.
    if (value(report_growth, total.baseline) != value(report_growth, total.current))
      figures.push_back(growth(report_growth, total.growth()));
    if (report_growth.has_objects && report_growth.objects_metric != report_growth.metric &&
        report_growth.total_objects.growth() != 0)
      figures.push_back(amount_of(report_growth.total_objects.growth(), "object", true));
  } else if (const CounterRow* row = leading_counter(report); row != nullptr && row->growth != 0) {
    figures.push_back(value_text(row->growth, row->unit, true, kPageNumbers));
  }
  Writer out;
  out << headline_of(report);
  if (!figures.empty()) out << ":";
  for (const std::string& figure : figures) out << " " << figure << ",";
  out << " over " << amount_of(report.trend.series.steps.size(), "snapshot");
  const std::vector<double>& seconds = report.trend.axis.seconds;
  if (report.trend.axis.step_seconds > 0 && seconds.size() > 1) out << " in " << duration(seconds.back());
  out << ".";
  return out.take();
}

namespace {

/// "leak_sessions +2.10 MiB (63 % of the growth), ..." of the culprits that rise or of those that fall.
Prose shares_of(const Postmortem& report, bool falling) {
  const GrowthReport& report_growth = report.growth();
  Writer out;
  for (const Culprit& culprit : culprits_of(report)) {
    if (is_falling(culprit) != falling) continue;
    const bool first = out.empty();
    if (!first) out << ", ";
    culprit_name(out, culprit) << " " << growth(report_growth, culprit.growth()) << " (" << percent_of(culprit.share)
                               << (!first    ? ")"
                                   : falling ? " of the shrinkage)"
                                             : " of the growth)");
  }
  return out.take();
}

}  // namespace

Prose shares_of_growth(const Postmortem& report) { return shares_of(report, false); }
Prose freed_of(const Postmortem& report) { return shares_of(report, true); }

Prose rise_of_culprit(const Postmortem& report, const Culprit& culprit) {
  Writer out;
  culprit_name(out, culprit);
  const std::vector<std::int64_t> values = values_of(report.growth(), culprit.rows);
  if (values.size() < 3) {
    out << " " << growth(report.growth(), culprit.growth()) << " between the two snapshots";
    return out.take();
  }
  const Rise rise = rise_of(values);
  if (rise.rises == rise.steps) {
    out << " rose at every step";
    return out.take();
  }
  out << " rose in " << rise.rises << " of " << rise.steps << " steps";
  if (rise.since == 0) {
    out << ", and ends at or below its first value";
  } else {
    snapshot_text(out << ", above its first value since ", report, rise.since);
  }
  return out.take();
}

Prose matching_of(const Postmortem& report) {
  const GrowthReport& growth = report.growth();
  if (growth.rows.empty()) return {};
  double matched = 0;
  for (std::size_t tier = 0; tier + 1 < kMatchTiers; ++tier) matched += growth.matched[tier];
  const double fuzzy = growth.matched[static_cast<std::size_t>(MatchTier::fuzzy)];
  Writer out;
  if (percent_of(matched) == "100 %") {
    out << "All stacks matched; ";
  } else {
    out << percent_of(matched) << (growth.unit == "bytes" ? " of the bytes" : " of the values")
        << " matched, the rest is new or gone; ";
  }
  out << sampling_text(growth);
  if (growth.has_error && std::isfinite(growth.total_error) && !growth.exact)
    out << "; the total's growth is \u00b1 " << error_text(growth, growth.total_error)
        << (growth.rounded ? " by rounding" : " by sampling");
  if (fuzzy > 0) out << "; " << percent_of(fuzzy) << " were matched by similarity only";
  out << ".";
  return out.take();
}

Prose limit_of(const Postmortem& report) {
  const TrendReport& trend = report.trend;
  if (!trend.limit || !has_stacks(report)) return {};
  const std::string limit = value(report.growth(), *trend.limit);
  const auto whole = [](double number) { return count(std::llround(std::min(number, 9e15))); };
  Writer out;
  switch (trend.forecast.kind) {
    case Forecast::Kind::none:
      out << "When the total reaches " << limit << " cannot be said: the snapshots are too few.";
      break;
    case Forecast::Kind::reached: out << "The limit of " << limit << " is reached already."; break;
    case Forecast::Kind::never:
      out << "The limit of " << limit << " is not in sight: nothing in these snapshots is GROWING.";
      break;
    case Forecast::Kind::ahead: {
      const Forecast& f = trend.forecast;
      out << "At this pace the total reaches " << limit << " in "
          << amount_of(std::llround(std::min(f.steps, 9e15)), "snapshot") << " (" << whole(f.soonest) << " to "
          << whole(f.latest) << ")";
      if (const double step = trend.axis.step_seconds; step > 0)
        out << ", that is " << duration(f.steps * step) << " (" << duration(f.soonest * step) << " to "
            << duration(f.latest * step) << ")";
      out << ".";
      break;
    }
  }
  return out.take();
}

Prose failure_of(const Postmortem& report) {
  if (!report.failure) return {};
  const OutOfMemory& failure = *report.failure;
  return prose_of("An allocation of ", sized(failure.asked), " failed on device ", failure.device,
                  failure.sentence.empty() ? "" : ": ", failure.sentence, ".");
}

}  // namespace snapdiff::postmortem
