#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formats/registry.hpp"
#include "support/imported.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

Snapshot only(const std::string& path, const std::string& point = "") {
  formats::ReadOptions options;
  options.point = point;
  Result<std::vector<Snapshot>> read = formats::read_file(path, options);
  if (!read) FAIL(read.error().text());
  REQUIRE(read->size() == 1);
  return std::move(read->front());
}

std::map<std::string, std::int64_t> in_use(const Snapshot& snapshot, std::size_t column) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [stack, values] : rows(snapshot)) {
    if (values[column] != 0) out[stack] = values[column];
  }
  return out;
}

const std::string kTail = ";main:16;__libc_start_call_main:58;__libc_start_main_impl:360;_start";

void check_native_leak(const std::string& path, std::int64_t steps) {
  CAPTURE(path);
  const Snapshot s = only(path);
  CHECK(s.facts.format == "heaptrack");
  CHECK(s.facts.format_detail.ends_with("zstd"));
  CHECK(s.facts.command_line == "./native_leak " + std::to_string(steps));
  const std::string cache = "alloc_block(unsigned long):9;leak_cache():10" + kTail;
  const std::string strings = "alloc_block(unsigned long):9;leak_strings():11" + kTail;
  const std::string churn = "operator new(unsigned long);operator new[](unsigned long);churn():12" + kTail;
  CHECK(in_use(s, 0) == std::map<std::string, std::int64_t>{{cache, 3 * steps}, {strings, 100 * steps}});
  CHECK(in_use(s, 1) == std::map<std::string, std::int64_t>{{cache, 120'000 * steps}, {strings, 6'400 * steps}});
  CHECK(total(s, "inuse_space") == 126'400 * steps);
  CHECK(total(s, "temporary_objects") == 50 * steps);
  // churn, the emergency pool of the C++ library and main's vector are gone, but were there.
  CHECK(total(s, "alloc_space") == (126'400 + 250'000) * steps + 0x11c00 + 0x8000);
  CHECK(counter(s, "peak") == 126'400 * steps + 0x11c00 + 0x8000 + 5000);
  CHECK(total(only(path, "peak"), "inuse_space") == counter(s, "peak"));
}

}  // namespace

TEST_CASE("heaptrack: own recordings give what their program leaks") {
  check_native_leak(SNAPDIFF_TEST_DATA "/heaptrack/native_leak-steps2.zst", 2);
  check_native_leak(SNAPDIFF_TEST_DATA "/heaptrack/native_leak-steps6.zst", 6);
}

TEST_CASE("heaptrack: the shared series gives its truth") {
  for (const int steps : {2, 4, 6}) {
    const auto path = shared_sample("trackers/heaptrack/native_leak-steps" + std::to_string(steps) + ".zst");
    if (path) check_native_leak(*path, steps);
  }
}

TEST_CASE("heaptrack: suppressions embedded by a program mark their rows") {
  const auto path = shared_sample("trackers/heaptrack/public-embedded_lsan_suppressions.84207.zst");
  if (!path) return;
  const Snapshot s = only(*path);
  const std::string tail = ";__libc_start_main;_start";
  CHECK(in_use(s, 1) ==
        std::map<std::string, std::int64_t>{{"foobar:39;main:65" + tail + "{suppressed=foobar}", 1},
                                            {"leak:46;main:66" + tail, 2},
                                            {"leakFoo:53;main:67" + tail, 3},
                                            {"leakFooSupp:60;main:69" + tail + "{suppressed=^leak*Supp$}", 4}});
  CHECK(counter(s, "suppressed") == 5);
}

TEST_CASE("heaptrack: a public recording of version 2 gives what heaptrack_print says of it") {
  const auto path = shared_sample("trackers/heaptrack/public-heaptrack.david.18594.gz");
  if (!path) return;
  // heaptrack_print 1.4.0 says: 2896 calls, 729 temporary, peak 996.97K, leaked 25.26K and 5.20K more that it
  // suppresses by a list of its own; the exact bytes are those of tests/oracle/tracker_oracle.py.
  const Snapshot s = only(*path);
  CHECK(total(s, "alloc_objects") == 2896);
  CHECK(total(s, "temporary_objects") == 729);
  CHECK(counter(s, "peak") == 996'970);
  CHECK(total(s, "inuse_space") == 30'463);
  CHECK(counter(s, "rss") == 0x4885 * 0x1000);
  CHECK(total(only(*path, "peak"), "inuse_space") == 996'970);
}
