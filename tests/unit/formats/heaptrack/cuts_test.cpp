#include <zlib.h>

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "formats/registry.hpp"
#include "unit/formats/heaptrack/small_recording.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("zlib");
  std::string out(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("zlib");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A recording with more bytes than are looked at for detection, in a compression that does not shrink to nothing.
std::string long_recording() {
  std::string text = small_recording();
  std::uint32_t state = 1;
  for (int i = 0; i < 40'000; ++i) {
    state = state * 1664525 + 1013904223;
    text += (state >> 16) % 3 == 0 ? "- " : "+ ";
    text += (state >> 24) % 2 == 0 ? "0\n" : "1\n";
  }
  return text;
}

}  // namespace

TEST_CASE("heaptrack: a compressed recording cut at any byte gives what was written before") {
  const std::string text = long_recording();
  const std::string packed = gzip(text);
  REQUIRE(packed.size() > 5000);
  std::int64_t last_events = -1;
  for (std::size_t size = 0; size < packed.size(); size += size < 400 ? 1 : 97) {
    CAPTURE(size);
    const auto read = formats::read_bytes(std::string_view(packed).substr(0, size), "cut.gz", {});
    if (!read) {
      // Nothing of it decodes, or not as much as its first line.
      CHECK(read.error().code == (size == 1 ? ErrorCode::unsupported : ErrorCode::malformed));
      CHECK(last_events == -1);
      continue;
    }
    REQUIRE(read->size() == 1);
    const Snapshot& s = read->front();
    CHECK(s.facts.partial);
    CHECK(note_count(s, Severity::data_loss, "ends early") == 1);
    const std::int64_t events = total(s, "alloc_objects");
    CHECK(events >= last_events);
    last_events = events;
  }
  const auto whole = formats::read_bytes(packed, "whole.gz", {});
  REQUIRE(whole);
  CHECK_FALSE(whole->front().facts.partial);
  CHECK(rows(whole->front()) == rows(recording_ok(text)));
  CHECK(total(whole->front(), "alloc_objects") >= last_events);
}

TEST_CASE("heaptrack: a zstd recording cut behind its first block is read as far as it goes") {
  const std::string packed = read_whole_file(SNAPDIFF_TEST_DATA "/heaptrack/native_leak-steps6.zst");
  const auto whole = formats::read_bytes(packed, "whole.zst", {});
  REQUIRE(whole);
  // Only the checksum is missing.
  const auto cut = formats::read_bytes(std::string_view(packed).substr(0, packed.size() - 2), "cut.zst", {});
  REQUIRE(cut);
  CHECK(cut->front().facts.partial);
  CHECK(rows(cut->front()) == rows(whole->front()));
  // The only block is not whole: nothing decodes.
  const auto nothing = formats::read_bytes(std::string_view(packed).substr(0, packed.size() / 2), "cut.zst", {});
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().message.find("zstd stream ends early") == 0);
}

TEST_CASE("heaptrack: another format's cut compression ends it, and is an error where nothing may be lost") {
  const std::string packed = gzip("heap_v2/1\n  t*: 0: 0 [0: 0]\n" + std::string(100'000, '\n'));
  const std::string_view half = std::string_view(packed).substr(0, packed.size() / 2);
  const auto part = formats::read_bytes(half, "cut.gz", {});
  REQUIRE(part);
  CHECK(part->front().facts.partial);
  CHECK(note_count(part->front(), Severity::data_loss, "gzip stream ends early") == 1);
  formats::ReadOptions strict;
  strict.strict = true;
  const auto cut = formats::read_bytes(half, "cut.gz", strict);
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code == ErrorCode::malformed);
  CHECK(cut.error().message.find("gzip stream ends early") == 0);
}
