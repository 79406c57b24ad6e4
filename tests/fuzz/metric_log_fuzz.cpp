// Any bytes as a log: whole and in small windows, by the known lines or by patterns.
#include "formats/metric_log/metric_log_importer.hpp"

#include "fuzz/heap_text_fuzz.hpp"

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

std::uint64_t read(const Importer& importer, std::string_view bytes, std::size_t window) {
  test::MemoryInput in(bytes, window);
  SnapshotList list;
  if (!importer.read(in, list)) return 1;
  std::uint64_t hash = list.snapshots.size();
  for (const Snapshot& snapshot : list.snapshots) hash = mix64(hash ^ digest_counters(snapshot));
  return hash;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kKnown = formats::make_metric_log_importer();
  static const auto kOwn = [] {
    formats::MetricLogOptions options;
    options.patterns = {R"((?P<name>\w+)=(?P<value>[\d.,eE+-]+) *(?P<unit>\w*))",
                        R"(t(?P<time>\S+) i(?P<step>\d+) (?P<value>\S+))"};
    options.group_by = R"(\[(\w+)\])";
    options.decimal_units = true;
    return std::move(formats::make_metric_log_importer(options)).value();
  }();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  kKnown->sniff(bytes);
  for (const Importer* importer : {kKnown.get(), kOwn.get()}) {
    if (read(*importer, bytes, 0) != read(*importer, bytes, 1 + size % 61)) std::abort();
  }
  return 0;
}
