#include <catch2/catch.hpp>
#include <cstdlib>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& dump() { return formats::kGoHeapDump; }

const std::string kHead = "go1.7 heap dump\n";
/// A bucket of 3 allocated and 1 freed object of 2^20 bytes at main.f in a.go:7.
const std::string kBucket =
    "\x10\x01\x80\x80\x40\x01\x06main.f\x04"
    "a.go\x07\x03\x01";

}  // namespace

TEST_CASE("go-heapdump: a real dump has the figures of the profile of its moment") {
  const Snapshot s = read_data_of("go_heapdump/heapdump.gz", dump());
  const Snapshot profile = read_data_of("go_heapdump/heapdump.profile.txt", formats::kGoText);
  for (const char* const metric : {"inuse_objects", "inuse_space", "alloc_objects", "alloc_space"})
    CHECK(total(s, metric) == total(profile, metric));
  CHECK(total(s, "inuse_space") > 6 << 20);
  bool has_keep = false;
  for (const auto& [stack, values] : rows(s)) has_keep = has_keep || stack.find("main.keep") != std::string::npos;
  CHECK(has_keep);
  CHECK(counter(s, "object_space").value_or(0) > 400 * 16384);
  const std::int64_t heap = counter(s, "HeapAlloc").value_or(0), objects = counter(s, "object_space").value_or(0);
  CHECK(std::abs(heap - objects) * 100 < heap);
  CHECK_FALSE(s.facts.partial);
}

TEST_CASE("go-heapdump: buckets, objects, and a dump without an end") {
  const std::string object = std::string(
      "\x01\x10\x03"
      "abc\x01\x00\x00",
      9);
  const Snapshot s = read_one(dump(), kHead + kBucket + object + std::string(1, '\0'));
  REQUIRE(rows(s).size() == 1);
  CHECK(rows(s).begin()->first == "main.f@a.go:7");
  CHECK(total(s, "inuse_objects") == 2);
  CHECK(counter(s, "objects") == 1);
  CHECK(counter(s, "object_space") == 3);
  const std::string whole = kHead + kBucket + object;
  for (std::size_t size = kHead.size(); size <= whole.size(); ++size)
    CHECK(read_one(dump(), whole.substr(0, size)).facts.partial);
  CHECK_THAT(read_error(dump(), kHead + "\x12"), Catch::Contains("tag of a record: found 18"));
  CHECK_THAT(read_error(dump(), kHead + std::string(12, '\xff')), Catch::Contains("more than 10 bytes"));
}
