#include "analyzer/base/words.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace snapdiff {

std::string counted(std::int64_t count, std::string_view thing, const NumberGlyphs& glyphs, bool with_sign) {
  std::string text = with_sign ? growth_count_text(count, glyphs) : count_text(count, glyphs);
  text.append(glyphs.before_unit).append(thing);
  return count == 1 || count == -1 ? text : text.append(thing.ends_with('s') ? "es" : "s");
}

std::string duration_text(double seconds, const NumberGlyphs& glyphs) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {Unit{1, "s"}, Unit{60, "min"}, Unit{3600, "h"}, Unit{86400, "d"}};
  const Unit* unit = kUnits.data();
  for (const Unit& larger : kUnits) {
    if (std::abs(seconds) >= 2 * larger.seconds) unit = &larger;
  }
  const double number = seconds / unit->seconds;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), number < 100 ? "%.3g" : "%.0f", number);
  return std::string(text.data()).append(glyphs.before_unit).append(unit->name);
}

std::string utc_text(std::int64_t unix_ns, char between) {
  using namespace std::chrono;
  const sys_seconds at(floor<seconds>(nanoseconds(unix_ns)));
  const sys_days day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss time(at - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u%c%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), between,
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  return text.data();
}

std::string sampling_periods(const GrowthReport& report, const NumberGlyphs& glyphs) {
  std::string periods;
  for (const SnapshotRef* ref : {&report.baseline, &report.current}) {
    if (ref->snapshot == nullptr) continue;
    const SnapshotFacts& facts = ref->snapshot->facts;
    if (facts.sampling != Sampling::poisson || facts.period <= 1) continue;
    const std::string period = bytes_text(facts.period, glyphs);
    if (periods != period) periods.append(periods.empty() ? "" : " and ").append(period);
  }
  return periods;
}

}  // namespace snapdiff
