#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "formats/registry.hpp"

using namespace snapdiff;
namespace fs = std::filesystem;

namespace {

std::int64_t counter_of(const Snapshot& s, std::string_view name) {
  for (const Counter& c : s.facts.counters) {
    if (c.name == name) return c.value;
  }
  return -1;
}

std::int64_t total(const Snapshot& s, std::string_view metric) {
  std::int64_t sum = 0;
  for (const std::int64_t value : s.column(metric)->value) sum += value;
  return sum;
}

/// The numbers of one file in expected.json, which is one flat object a file, and of `actions`.
std::map<std::string, std::int64_t> expected_of(const std::string& json, const std::string& file) {
  std::map<std::string, std::int64_t> out;
  std::size_t at = json.find('"' + file + '"');
  if (at == std::string::npos) return out;
  at += file.size() + 1;
  const std::size_t end = std::min(json.find(".pickle\"", at + 1), json.size());
  while ((at = json.find('"', at + 1)) < end) {
    const std::size_t close = json.find('"', at + 1);
    const std::string key = json.substr(at + 1, close - at - 1);
    std::size_t value = json.find_first_not_of(": \n[", close + 1);
    if (value < end && json[value] >= '0' && json[value] <= '9') out[key] = std::stoll(json.substr(value));
    at = close;
  }
  return out;
}

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

constexpr std::string_view kActions[] = {"alloc",        "free_requested", "free_completed", "segment_alloc",
                                         "segment_free", "segment_map",    "segment_unmap",  "oom",
                                         "snapshot"};

void check_file(const fs::path& path, const std::string& expected_json) {
  CAPTURE(path.string());
  const auto expected = expected_of(expected_json, path.filename().string());
  REQUIRE(expected.size() >= 8);
  Result<std::vector<Snapshot>> all = formats::read_file(path.string(), {});
  if (!all) FAIL(all.error().text());
  const Snapshot& s = (*all)[0];
  CHECK(counter_of(s, "segments") == expected.at("segments"));
  CHECK(counter_of(s, "blocks") == expected.at("blocks"));
  CHECK(counter_of(s, "reserved") == expected.at("reserved"));
  CHECK(counter_of(s, "allocated") == expected.at("active_allocated_block_bytes"));
  CHECK(counter_of(s, "requested") == expected.at("active_allocated_requested_bytes"));
  CHECK(counter_of(s, "live_blocks") == expected.at("live_blocks"));
  CHECK(counter_of(s, "trace_events") == expected.at("trace_entries"));
  CHECK(total(s, "inuse_space") == expected.at("active_allocated_block_bytes"));
  CHECK(total(s, "requested_space") == expected.at("active_allocated_requested_bytes"));
  CHECK(total(s, "inuse_objects") == expected.at("live_blocks"));
  std::int64_t inactive = 0;
  const BlockTable& blocks = s.allocator->blocks;
  for (std::size_t b = 0; b < blocks.size_rows(); ++b)
    inactive += blocks.state[b] == BlockState::inactive ? blocks.size[b] : 0;
  CHECK(inactive == expected.at("inactive_bytes"));
  std::map<std::string, std::int64_t> actions;
  for (const DeviceTrace& trace : s.allocator->traces) {
    EventLog::Reader reader = trace.events.read();
    TraceEvent event;
    while (reader.next(event)) ++actions[std::string(kActions[static_cast<std::size_t>(event.action)])];
  }
  for (const auto& [action, count] : actions) CHECK(expected.at(action) == count);
}

void check_folder(const fs::path& folder) {
  const std::string expected = slurp(folder / "expected.json");
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".pickle") continue;
    check_file(entry.path(), expected);
    ++files;
  }
  CHECK(files > 0);
}

}  // namespace

TEST_CASE("torch-cuda: small real files have the figures of an independent unpickler") {
  check_folder(fs::path(SNAPDIFF_TEST_DATA) / "torch_cuda");
}

TEST_CASE("torch-cuda: every shared real file has the figures of an independent unpickler") {
  const fs::path folder = fs::path(SNAPDIFF_SHARED_DATA) / "pytorch";
  if (!fs::exists(folder / "expected.json")) {
    WARN("skipped: the shared sample files are not here");
    return;
  }
  check_folder(folder);
}
