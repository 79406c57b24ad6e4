#include "analyzer/session/facts_text.hpp"

#include <chrono>
#include <cstdio>

#include "snapdiff/number_text.hpp"

namespace snapdiff::session {

std::string time_text(std::int64_t unix_ns) {
  using namespace std::chrono;
  const sys_time<nanoseconds> time{nanoseconds(unix_ns)};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<milliseconds>(time - day));
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  std::string out = text;
  if (const auto ms = clock.subseconds().count(); ms != 0) {
    std::snprintf(text, sizeof text, ".%03d", static_cast<int>(ms));
    out += text;
  }
  return out + "Z";
}

const Column* main_column(const Snapshot& snapshot) {
  const Column* const in_use = snapshot.column("inuse_space");
  return in_use != nullptr ? in_use : snapshot.column(snapshot.facts.default_metric);
}

std::int64_t total_of(const Column& column) {
  std::int64_t total = 0;
  for (const std::int64_t value : column.value) total += value;
  return total;
}

std::string value_text(const SampleType& type, std::int64_t value) {
  if (type.unit == "bytes") return bytes_text(value);
  const std::string count = count_text(value);
  return type.unit == "count" || type.unit.empty() ? count : count + " " + type.unit;
}

}  // namespace snapdiff::session
