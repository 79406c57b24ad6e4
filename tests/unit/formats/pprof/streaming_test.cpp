#include <catch2/catch.hpp>
#include <random>

#include "formats/input/window_input.hpp"
#include "proto_bytes.hpp"
#include "read_back.hpp"

using namespace proto_bytes;
using namespace snapdiff;
using namespace snapdiff::formats;

namespace {

class BytesSource final : public ByteSource {
 public:
  explicit BytesSource(std::string_view bytes) : bytes_(bytes) {}
  Result<std::size_t> read(char* out, std::size_t capacity) override {
    const std::size_t count = bytes_.copy(out, capacity);
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
};

Result<Snapshot> import_streamed(std::string_view bytes, std::size_t window_bytes) {
  WindowInput in(std::make_unique<BytesSource>(bytes), window_bytes, 0, "test", "");
  SnapshotList list;
  pprof::ReadLimits limits;
  limits.in_memory_bytes = 16;
  Status read = pprof::read_profile(in, list, limits);
  if (!read) return std::move(read).error();
  return std::move(list.snapshots.at(0));
}

/// Many samples over few locations, so that stacks repeat; labels on some; a stack of 5000 frames.
std::string many_samples() {
  std::mt19937 random(1);
  Message profile;
  profile.message(kSampleType, value_type(kObjects, kCount)).message(kSampleType, value_type(kSpace, kBytes));
  for (int i = 0; i < 3000; ++i) {
    Message sample;
    const auto depth = random() % 4;
    std::string ids;
    for (unsigned j = 0; j < depth; ++j) ids += varint(1 + random() % 5);
    sample.bytes_of(1, ids);
    const auto value = static_cast<std::int64_t>(random() % 3);
    sample.packed(2, {value, value * 16});
    if (random() % 2 == 0) sample.message(3, Message().number(1, kBytes).number(3, static_cast<int>(1 + random() % 3)));
    profile.message(kSample, sample);
  }
  profile.message(kSample, Message().bytes_of(1, std::string(5000, '\2')).packed(2, {1, 7}));
  for (std::uint64_t id = 1; id <= 5; ++id) {
    profile.message(kLocation, location(id, 0, 0, {line(1, static_cast<std::int64_t>(id)), line(2, 3)}));
  }
  profile.message(kFunction, function(1, kLeak, 0, kLeakFile)).message(kFunction, function(2, kMain, 0, kMainFile));
  add_strings(profile, small_strings());
  return profile.bytes;
}

std::vector<std::string> sorted_rows(const Snapshot& snapshot) {
  std::vector<std::string> out = read_back::rows(snapshot);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("pprof, streaming: through a window as from memory, merged or not") {
  for (const std::string& bytes : {small_profile().bytes, many_samples()}) {
    const Result<Snapshot> whole = read_back::import(bytes);
    REQUIRE(whole);
    for (const std::size_t window : {1U, 64U, 1000U, 1U << 20}) {
      const Result<Snapshot> streamed = import_streamed(bytes, window);
      REQUIRE(streamed);
      CHECK((sorted_rows(*streamed) == sorted_rows(*whole)));
      CHECK(streamed->facts == whole->facts);
      CHECK(streamed->mappings == whole->mappings);
    }
    pprof::ReadLimits few_samples;
    few_samples.in_memory_samples = 0;
    const Result<Snapshot> merged = read_back::import(bytes, few_samples);
    REQUIRE(merged);
    CHECK((sorted_rows(*merged) == sorted_rows(*whole)));
  }
}

TEST_CASE("pprof, streaming: damage is told at the same byte") {
  const std::string whole = small_profile().bytes;
  for (const Message& bad :
       {Message().message(kSample, sample({9}, {1, 1})), Message().message(kSample, sample({1}, {1})),
        Message().message(kLocation, location(0, 0, 0, {})),
        Message().raw("\x32\x05"
                      "abc"),
        Message().message(kSample, Message().bytes_of(1, "\x80").packed(2, {1, 1})), Message().number(kTime, 1)}) {
    const Result<Snapshot> in_memory = read_back::import(whole + bad.bytes);
    const Result<Snapshot> streamed = import_streamed(whole + bad.bytes, 32);
    REQUIRE_FALSE(in_memory);
    REQUIRE_FALSE(streamed);
    CHECK(streamed.error().code == in_memory.error().code);
    CHECK(streamed.error().offset.value_or(0) >= whole.size());
  }
}

TEST_CASE("pprof, streaming: every truncation is an error") {
  const std::string whole = small_profile().bytes;
  for (std::size_t size = 17; size < whole.size(); ++size) REQUIRE_FALSE(import_streamed(whole.substr(0, size), 8));
}

TEST_CASE("pprof, streaming: a sum beyond 2^63-1 is a limit error") {
  Message profile = small_profile();
  profile.message(kSample, sample({1}, {0, INT64_MAX})).message(kSample, sample({1}, {0, 1}));
  const Result<Snapshot> read = import_streamed(profile.bytes, 64);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::limit);
}
