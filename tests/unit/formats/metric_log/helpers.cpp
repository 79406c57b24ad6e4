#include "unit/formats/metric_log/helpers.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "support/memory_input.hpp"

namespace snapdiff::test {

std::string sample(const std::string& name) {
  std::ifstream file(SNAPDIFF_TEST_DATA "/metric_log/" + name, std::ios::binary);
  INFO(name);
  REQUIRE(file);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::vector<Snapshot> read_log(std::string_view log, const formats::ReadRequest& options, std::size_t window) {
  MemoryInput in(log, window);
  SnapshotList list;
  const Status status = formats::kMetricLog.read(in, list, options);
  INFO((status ? std::string() : status.error().text()));
  REQUIRE(status);
  return std::move(list.snapshots);
}

Error log_error(std::string_view log, const formats::ReadRequest& options) {
  MemoryInput in(log);
  SnapshotList list;
  const Status status = formats::kMetricLog.read(in, list, options);
  REQUIRE_FALSE(status);
  return status.error();
}

const Counter* counter(const Snapshot& snapshot, std::string_view name) {
  for (const Counter& each : snapshot.facts.counters) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

std::vector<std::int64_t> series(const std::vector<Snapshot>& snapshots, std::string_view name) {
  std::vector<std::int64_t> out;
  for (const Snapshot& snapshot : snapshots) {
    if (const Counter* found = counter(snapshot, name)) out.push_back(found->value);
  }
  return out;
}

std::vector<std::int64_t> steps(const std::vector<Snapshot>& snapshots, std::string_view name) {
  const std::vector<std::int64_t> values = series(snapshots, name);
  std::vector<std::int64_t> out;
  for (std::size_t i = 1; i < values.size(); ++i) out.push_back(values[i] - values[i - 1]);
  return out;
}

std::string counters(const Snapshot& snapshot) {
  std::string out;
  for (const Counter& each : snapshot.facts.counters)
    out += (out.empty() ? "" : " ") + each.name + "=" + std::to_string(each.value);
  return out;
}

std::uint64_t noted(const std::vector<Snapshot>& snapshots, std::string_view text) {
  REQUIRE_FALSE(snapshots.empty());
  for (const Note& note : snapshots.back().facts.notes.all()) {
    if (note.text.find(text) != std::string::npos) return note.count;
  }
  return 0;
}

}  // namespace snapdiff::test
