#include "analyzer/cli/document.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace snapdiff::cli {

std::string title_of(const Loaded& loaded) {
  for (const LoadedSnapshot& s : loaded.snapshots) {
    if (!s.ref.series.empty()) return s.ref.series;
  }
  return default_series(loaded.snapshots);
}

std::int64_t document_time_ns(const Loaded& loaded) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (const char* text = std::getenv("SOURCE_DATE_EPOCH")) {
    const std::string_view value(text);
    std::int64_t seconds = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), seconds).ec == std::errc{} && seconds >= 0 &&
        seconds < 9'000'000'000) {
      return seconds * kSecond;
    }
  }
  std::int64_t newest = 0;
  for (const LoadedSnapshot& s : loaded.snapshots) {
    const SnapshotFacts& facts = s.ref.snapshot->facts;
    newest = std::max(newest, facts.taken_at_ns.value_or(facts.source.file_time_ns.value_or(0)));
  }
  return newest;
}

std::string order_of(const Loaded& loaded) {
  return std::to_string(loaded.snapshots.size()) + " snapshots, " + loaded.order_note;
}

}  // namespace snapdiff::cli
