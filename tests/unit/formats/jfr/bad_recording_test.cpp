#include <catch2/catch.hpp>

#include "analyzer/base/object_graph.hpp"
#include "formats/registry.hpp"
#include "jfr_bytes.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using namespace snapdiff::test::jfr_bytes;

namespace {

std::string error_of(const std::string& bytes) {
  const Imported got = read_jfr(bytes);
  return got.error ? got.error->text() : "none";
}

const std::string kSample = B::event(105, n(40) + n(1) + n(2) + n(8192));

}  // namespace

TEST_CASE("jfr: cut at every byte, the first chunk is refused and a later one left out") {
  const std::string whole = one_of_each(JfrBytes());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Imported got = read_jfr(std::string_view(whole).substr(0, size), 1 + size % 50);
    CAPTURE(size);
    REQUIRE(got.error.has_value());
    CHECK(got.error->code == ErrorCode::malformed);
  }
  const std::string two = whole + whole;
  for (std::size_t size = whole.size() + 1; size < two.size(); size += 7) {
    const Imported got = read_jfr(std::string_view(two).substr(0, size));
    CAPTURE(size);
    REQUIRE_FALSE(got.error.has_value());
    CHECK(got.snapshots.back().facts.partial);
    CHECK(total(got.snapshots.back(), "inuse_space") == 4112 + 96);
  }
}

TEST_CASE("jfr: every byte changed is read or refused") {
  const std::string whole = one_of_each(JfrBytes());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      const Imported got = read_jfr(bytes);
      if (got.error) CHECK(got.error->code != ErrorCode::internal);
    }
  }
}

TEST_CASE("jfr: refusals say where, what was found and what was expected") {
  JfrBytes j;
  CHECK(error_of(j.chunk(kSample, 1000, 0)) ==
        "unsupported at byte 64: numbers that are not compressed: found flags 0, expected bit 0");
  std::string version = j.chunk(kSample);
  version[5] = 3;
  CHECK(error_of(version) == "unsupported at byte 0: version not read: found 3, expected 1 or 2");
  std::string size = j.chunk(kSample);
  size.replace(68, 4, "\xff\xff\xff\x7f");
  CHECK(error_of(size).starts_with("malformed at byte 68: size of an event: found 268435455, expected 5 to "));
  CHECK(error_of(j.chunk(B::event(99, n(1)))) ==
        "malformed at byte 73: event of an unknown type: found id 99, expected one of the metadata");
  CHECK(error_of(j.chunk(B::checkpoint(1, B::pool(99, 0, "")))) ==
        "malformed at byte 78: constants of an unknown type: found id 99, expected one of the metadata");
  CHECK(error_of(j.chunk(B::event(110, n(1) + std::string(4, '\0')))) ==
        "unsupported: flight recording without events of memory: found jdk.CPULoad (1), expected jdk.OldObjectSample, "
        "jdk.ObjectAllocationSample, jdk.GCHeapSummary, profiler.LiveObject, profiler.Malloc or the like");
}

TEST_CASE("jfr: types within themselves and very deep ones are refused") {
  JfrBytes j;
  j.types.push_back({300, "a", {{"b", 301, false, true}}});
  j.types.push_back({301, "b", {{"a", 300}}});
  CHECK(error_of(j.chunk(kSample)).ends_with("type within itself in the metadata, expected none"));
  for (const bool from_the_end : {false, true}) {
    JfrBytes deep;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      const std::uint64_t next = from_the_end ? 300 + i - (i > 0 ? 1 : 0) : 301 + i;
      deep.types.push_back({300 + i, "t", {{"f", from_the_end ? (i > 0 ? next : 1) : (i < 2999 ? next : 1)}}});
    }
    CHECK(error_of(deep.chunk(kSample)).ends_with("types nest too deep, expected at most 32 levels"));
  }
  JfrBytes twice;
  twice.types.push_back({1, "long", {}});
  CHECK(error_of(twice.chunk(kSample)).ends_with("type twice in the metadata: id 1"));
  JfrBytes unknown;
  unknown.types.push_back({300, "a", {{"b", 999}}});
  CHECK(error_of(unknown.chunk(kSample))
            .ends_with("field of an unknown type: found id 999, expected that of a type of this metadata"));
}

TEST_CASE("jfr: fields without bytes cost nothing, however many there are") {
  JfrBytes j;
  j.types.push_back({300, "empty", {}});
  for (std::uint64_t i = 301; i < 330; ++i) j.types.push_back({i, "wide", {{"a", i - 1}, {"b", i - 1}}});
  j.types.push_back({400, "event", {{"x", 329}, {"many", 329, false, true}, {"end", 1}}});
  const Imported got = read_jfr(j.chunk(kSample + B::event(400, n(~0ULL >> 8) + n(1))));
  REQUIRE_FALSE(got.error.has_value());
  CHECK(total(got.snapshots.back(), "alloc_space") == 8192);
}

TEST_CASE("jfr: one long name that very many others use, arrays of nothing") {
  JfrBytes j;
  constexpr std::uint64_t kMethods = 2000;
  std::string methods, frames;
  for (std::uint64_t i = 1; i <= kMethods; ++i) {
    methods += n(i) + n(1) + n(1);
    frames += n(i) + n(i) + n(0);
  }
  const std::string pools =
      B::checkpoint(4, B::pool(10, 1, n(1) + B::text(std::string(1 << 20, 'x'))) + B::pool(11, 1, n(1) + n(0) + n(1)) +
                           B::pool(12, kMethods, methods) + B::pool(14, 1, n(1) + '\0' + n(kMethods) + frames));
  const Imported got = read_jfr(j.chunk(pools + kSample));
  REQUIRE_FALSE(got.error.has_value());
  CHECK(got.snapshots.back().dictionary->strings[got.snapshots.back().dictionary->functions.name[1]].size() == 512);

  JfrBytes nothing;
  for (JfrBytes::Type& type : nothing.types) {
    if (type.id == 13) type.fields.clear();
  }
  std::string traces;
  for (std::uint64_t i = 1; i <= kMethods; ++i) traces += n(i) + '\0' + n(1 << 20);
  const Imported empty = read_jfr(nothing.chunk(B::checkpoint(1, B::pool(14, kMethods, traces)) + kSample));
  REQUIRE_FALSE(empty.error.has_value());
  CHECK(rows(empty.snapshots.back()).count("[no stack recorded]") == 1);
}

TEST_CASE("jfr: very many chunks after one with very many rows") {
  JfrBytes j;
  std::string first = B::constants();
  for (std::uint64_t i = 1; i <= 3000; ++i) first += B::event(102, n(1) + n(1) + n(2) + n(16));
  JfrBytes small;
  std::erase_if(small.types, [](const JfrBytes::Type& type) { return type.id != 1 && type.id != 103; });
  small.types.back().fields = {{"startTime", 1}, {"address", 1}, {"size", 1}};
  std::string bytes = j.chunk(first);
  for (std::uint64_t i = 0; i < 1000; ++i) bytes += small.chunk(B::event(103, n(1) + n(i) + n(10)));
  const Imported got = read_jfr(bytes);
  REQUIRE_FALSE(got.error.has_value());
  CHECK(got.snapshots.size() == 1001);
  CHECK(total(got.snapshots.back(), "inuse_space") == 3000 * 16 + 1000 * 10);
}

TEST_CASE("jfr: constants that refer to each other in a circle") {
  JfrBytes j;
  // A text that is itself, and objects that hold each other.
  const std::string pools =
      B::checkpoint(4, B::pool(4, 1, n(1) + '\2' + n(1)) + B::pool(10, 1, n(4) + '\2' + n(1)) +
                           B::pool(15, 2, n(1) + n(64) + n(2) + '\1' + n(1) + n(2) + n(128) + n(2) + '\1' + n(2)) +
                           B::pool(16, 2, n(1) + n(0) + n(0) + n(2) + n(0) + n(2) + n(0) + n(0) + n(1) + n(0)));
  const Imported got = read_jfr(j.chunk(pools + B::event(101, n(1) + n(1) + n(16) + n(1) + n(0)) + kSample));
  REQUIRE_FALSE(got.error.has_value());
  REQUIRE(got.snapshots.back().graph != nullptr);
  CHECK(got.snapshots.back().graph->size() == 2);
  CHECK(note_count(got.snapshots.back(), Severity::warning, "names and stacks that are not in the file") > 0);
}

TEST_CASE("jfr: sizes beyond 64 bits are refused") {
  JfrBytes j;
  const std::string huge = B::event(105, n(1) + n(1) + n(2) + n(0x7fffffffffffffff));
  CHECK(error_of(j.chunk(B::constants() + huge + huge))
            .ends_with("bytes of one stack are beyond 2^63-1, expected them to fit in 64 bits"));
}
