#include "analyzer/session/document.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "analyzer/session/left_out.hpp"

namespace snapdiff::session {

std::string title_of(const Loaded& loaded) {
  for (const LoadedSnapshot& s : loaded.snapshots) {
    if (!s.ref.series.empty()) return s.ref.series;
  }
  return default_series(loaded.snapshots);
}

std::optional<std::int64_t> source_date_epoch_s() {
  const char* const text = std::getenv("SOURCE_DATE_EPOCH");
  if (text == nullptr) return std::nullopt;
  const std::string_view value(text);
  std::int64_t seconds = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (failure != std::errc{} || end != value.data() + value.size() || seconds < 0 || seconds >= 9'000'000'000)
    return std::nullopt;
  return seconds;
}

std::int64_t document_time_ns(const Loaded& loaded) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (const std::optional<std::int64_t> seconds = source_date_epoch_s()) return *seconds * kSecond;
  std::int64_t newest = 0;
  for (const LoadedSnapshot& s : loaded.snapshots) {
    const SnapshotFacts& facts = s.ref.snapshot->facts;
    newest = std::max(newest, facts.taken_at_ns.value_or(facts.source.file_time_ns.value_or(0)));
  }
  return newest;
}

std::string order_of(const Loaded& loaded) {
  const std::size_t missing = missing_inputs(loaded).size();
  return std::to_string(loaded.snapshots.size()) + " snapshots" +
         (missing > 0 ? " (" + std::to_string(missing) + " damaged and left out), " : ", ") + loaded.order_note;
}

}  // namespace snapdiff::session
