#include <zlib.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "formats/registry.hpp"
#include "python_values.hpp"
#include "support/same_content.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

std::vector<Snapshot> read_wrapped(const std::string& bytes) {
  Result<std::vector<Snapshot>> all = formats::read_bytes(bytes, "test", {});
  if (!all) FAIL(all.error().text());
  return std::move(*all);
}

std::string wrapping_error(const std::string& bytes) {
  Result<std::vector<Snapshot>> all = formats::read_bytes(bytes, "test", {});
  return all ? "it was read" : all.error().message;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned v = 0;
    for (std::size_t k = 0; k < 3; ++k)
      v = v << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kAlphabet[v >> (18 - 6 * k) & 63];
  }
  return out;
}

std::string page(const std::vector<std::string>& blobs) {
  std::string out =
      "<!DOCTYPE html>\n<html><head><script type=\"module\">\nimport {add_local_files} from \"MemoryViz.js\"\nconst "
      "local_files = [";
  for (const std::string& blob : blobs)
    out += (blob == blobs.front() ? "" : ", ") + std::string("{\"name\": \"snapshot.pickle\", \"base64\": \"") +
           base64(blob) + "\"}";
  return out + "]\nadd_local_files(local_files, 'Active Memory Timeline')\n</script></head></html>\n";
}

std::string gzipped(const std::string& bytes) {
  std::string out(bytes.size() + 200, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

bool same(const Snapshot& a, const Snapshot& b) {
  const AllocatorState& x = *a.allocator;
  const AllocatorState& y = *b.allocator;
  return a.samples.columns.size() == b.samples.columns.size() && a.samples.stack.size() == b.samples.stack.size() &&
         a.facts.counters == b.facts.counters && x.traces == y.traces && x.streams == y.streams && x.pools == y.pools &&
         x.annotations == y.annotations && x.blocks.address == y.blocks.address && x.blocks.stack == y.blocks.stack &&
         x.segments.stack == y.segments.stack;
}

}  // namespace

TEST_CASE("torch-cuda: gzip, HTML and JSON give the same snapshot") {
  const Py value = small_snapshot();
  const std::string pickle = pickled(value);
  const Snapshot plain = std::move(read_wrapped(pickle)[0]);
  CHECK(same(plain, read_wrapped(gzipped(pickle))[0]));
  const std::vector<Snapshot> from_page = read_wrapped(page({pickle + std::string(2, '\0'), pickle + '\0'}));
  REQUIRE(from_page.size() == 2);
  CHECK(same(plain, from_page[0]));
  CHECK(same(plain, from_page[1]));
  CHECK(from_page[0].facts.notes.empty());
  CHECK(from_page[0].facts.format == "torch-html");
  CHECK(from_page[1].facts.position == 1);
  const Snapshot from_json = std::move(read_wrapped(json(value))[0]);
  CHECK(same(plain, from_json));
  CHECK(from_json.facts.format_detail == "layout F, JSON");
  const Py bare = at(const_cast<Py&>(value), "segments");
  CHECK(same(read_wrapped(pickled(bare))[0], read_wrapped(json(bare))[0]));
}

TEST_CASE("torch-html: pages without a snapshot are told") {
  CHECK(wrapping_error("<!DOCTYPE html><html><script>let alloc_data = {\"a\": 1}</script></html>")
            .find("HTML without an embedded snapshot") == 0);
  CHECK(wrapping_error("<html><body><img src=\"data:image/png;base64,iVBOR\"></body></html>")
            .find("HTML without an embedded snapshot") == 0);
  CHECK(wrapping_error("<html><script>const local_files = []\nadd_local_files(local_files)</script></html>")
            .find("HTML without an embedded snapshot") == 0);
  CHECK(wrapping_error("<html>hello</html>").find("not a heap profile: this is HTML") == 0);
}

TEST_CASE("torch-html: a damaged page is an error") {
  const std::string good = page({pickled(small_snapshot())});
  for (std::size_t size = 200; size < good.size() - 100; size += 7) {
    CAPTURE(size);
    CHECK(wrapping_error(good.substr(0, size)) != "it was read");
  }
  std::string bad = good;
  bad[400] = '%';
  CHECK(wrapping_error(bad).find("no base64: a character outside its alphabet") == 0);
}

TEST_CASE("torch-json: truncation and damage are errors") {
  const std::string good = json(small_snapshot());
  formats::ReadOptions options;
  options.format = "torch-json";
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK_FALSE(formats::read_bytes(good.substr(0, size), "x", options).has_value());
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const auto read_or_error = formats::read_bytes(damaged, "x", options);
    if (!read_or_error) CHECK_FALSE(read_or_error.error().message.empty());
  }
  const auto message = [&](const std::string& text) {
    auto all = formats::read_bytes(text, "x", options);
    return all ? "it was read" : all.error().message;
  };
  CHECK(message("{\"segments\": [}") == "malformed JSON: found \"}\", expected a value");
  CHECK(message("{\"segments\": [] \"a\": 1}").find("expected , or }") != std::string::npos);
  CHECK(message("{\"a\": [1x]}").find("found \"x\", expected , or ]") != std::string::npos);
  CHECK(message("{\"a\": [01x]}").find("bad number \"01\"") != std::string::npos);
  CHECK(message("{\"segments\": [], \"a\": \"\\q\"}").find("expected an escape") != std::string::npos);
  CHECK(message("{\"segments\": [], \"\\u00e4\\ud83d\\ude00\": tru}").find("expected true") != std::string::npos);
  CHECK(message("{\"segments\": [], \"a\": " + std::string(100, '[') + std::string(100, ']') + "}")
            .find("nested too deeply") == 0);
  CHECK(formats::read_bytes("\xef\xbb\xbf" + good, "x", options).has_value());
  CHECK(message("\r\xef").find("not JSON: expected { or [") == 0);
  CHECK(message("{\"a\": 1}").find("not a memory snapshot: the root is a dict with the keys a") == 0);
  CHECK(message("{\"segments\": [], \"a\": 123456789012345678901234567890, \"b\": 1e400, \"c\": -0.5}") ==
        "it was read");
}
