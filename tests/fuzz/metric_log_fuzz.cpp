// Any bytes as a log: whole and in small windows, by the known lines or by patterns.

#include "formats/input/all_formats.hpp"
#include "fuzz/fuzz_format.hpp"
#include "fuzz/fuzz_targets.hpp"

using namespace snapdiff;

namespace {

std::uint64_t digest_counters(const Snapshot& snapshot) {
  std::uint64_t hash = static_cast<std::uint64_t>(snapshot.facts.taken_at_ns.value_or(-1));
  for (const Counter& counter : snapshot.facts.counters) {
    for (const char c : counter.name + counter.unit) hash = mix64(hash ^ static_cast<unsigned char>(c));
    hash = mix64(hash ^ static_cast<std::uint64_t>(counter.value));
    hash = mix64(hash ^ static_cast<std::uint64_t>(counter.half_unit));
    if (counter.half_unit < 0) std::abort();
  }
  return hash;
}

std::uint64_t read(const formats::ReadRequest& request, std::string_view bytes, std::size_t window) {
  test::MemoryInput in(bytes, window);
  SnapshotList list;
  if (!formats::kMetricLog.read(in, list, request)) return 1;
  std::uint64_t hash = list.snapshots.size();
  for (const Snapshot& snapshot : list.snapshots) hash = mix64(hash ^ digest_counters(snapshot));
  return hash;
}

}  // namespace

void snapdiff::test::fuzz_metric_log(const std::uint8_t* data, std::size_t size) {
  static const auto kOwn = [] {
    formats::ReadRequest options;
    options.patterns = {R"((?P<name>\w+)=(?P<value>[\d.,eE+-]+) *(?P<unit>\w*))",
                        R"(t(?P<time>\S+) i(?P<step>\d+) (?P<value>\S+))"};
    options.group_by = R"(\[(\w+)\])";
    options.decimal_units = true;
    return options;
  }();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  formats::kMetricLog.sniff(bytes);
  for (const formats::ReadRequest& request : {formats::ReadRequest{}, kOwn}) {
    if (read(request, bytes, 0) != read(request, bytes, 1 + size % 61)) std::abort();
  }
}
