#include <catch2/catch.hpp>
#include <string>

#include "compress.hpp"
#include "formats/input/open_input.hpp"

using namespace snapdiff;
using namespace snapdiff::formats;

namespace {

struct Outcome {
  std::string bytes;
  std::string compression;
  Notes notes;
  std::optional<Error> error;
};

Outcome read_all(const std::string& given, InputOptions options = {}) {
  Outcome out;
  Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_bytes(given, "test", options);
  if (!opened) {
    out.error = opened.error();
    return out;
  }
  out.compression = (*opened)->compression();
  Result<Input*> body = (*opened)->body();
  REQUIRE(body);
  for (;;) {
    Result<std::string_view> view = (*body)->peek(1);
    if (!view) {
      out.error = view.error();
      return out;
    }
    if (view->empty()) break;
    out.bytes.append(*view);
    (*body)->consume(view->size());
  }
  out.notes = (*opened)->notes();
  const std::size_t head = std::min<std::size_t>(out.bytes.size(), kSniffBytes);
  CHECK((*opened)->head() == out.bytes.substr(0, head));
  return out;
}

/// Not compressible to nothing, longer than the sniffed head and any buffer.
std::string sample_bytes(std::size_t size = 700'000) {
  std::string out;
  std::uint32_t state = 1;
  while (out.size() < size) {
    state = state * 1664525 + 1013904223;
    out += "frame " + std::to_string(state >> 20) + "\n";
  }
  return out;
}

InputOptions streamed() {
  InputOptions options;
  options.in_memory_bytes = 1000;
  options.window_bytes = 4096;
  return options;
}

using Compressor = std::string (*)(std::string_view);
std::string gzip6(std::string_view bytes) { return packed_by::gzip(bytes); }
std::string zstd3(std::string_view bytes) { return packed_by::zstd(bytes); }

}  // namespace

TEST_CASE("input: each compression gives back the bytes, at once and streamed") {
  const auto [name, pack] = GENERATE(table<std::string, Compressor>(
      {{"gzip", &gzip6}, {"zstd", &zstd3}, {"xz", &packed_by::xz}, {"lz4", &packed_by::lz4}}));
  const std::string bytes = sample_bytes();
  const std::string packed = pack(bytes);
  for (const InputOptions& options : {InputOptions{}, streamed()}) {
    const Outcome out = read_all(packed, options);
    REQUIRE_FALSE(out.error);
    CHECK((out.bytes == bytes));
    CHECK(out.compression == name);
    CHECK(out.notes.empty());
  }
}

TEST_CASE("input: several members or frames follow one another") {
  const auto [name, pack] = GENERATE(table<std::string, Compressor>(
      {{"gzip", &gzip6}, {"zstd", &zstd3}, {"xz", &packed_by::xz}, {"lz4", &packed_by::lz4}}));
  const std::string first = sample_bytes(50'000);
  const std::string packed = pack(first) + pack("") + pack("second\n") + pack(first);
  for (const InputOptions& options : {InputOptions{}, streamed()}) {
    const Outcome out = read_all(packed, options);
    REQUIRE_FALSE(out.error);
    CHECK((out.bytes == first + "second\n" + first));
  }
}

TEST_CASE("input: bytes behind the end are ignored and told") {
  const auto [name, pack] = GENERATE(table<std::string, Compressor>(
      {{"gzip", &gzip6}, {"zstd", &zstd3}, {"xz", &packed_by::xz}, {"lz4", &packed_by::lz4}}));
  const std::string packed = pack("heap profile");
  const Outcome out = read_all(packed + "trailing");
  REQUIRE_FALSE(out.error);
  CHECK(out.bytes == "heap profile");
  REQUIRE(out.notes.all().size() == 1);
  CHECK(out.notes.all()[0].text == "bytes after the end of the " + name + " stream were ignored");
  CHECK(out.notes.all()[0].first_offset == packed.size());
}

TEST_CASE("input: every truncation of a compressed file is an error") {
  const auto [name, pack] = GENERATE(table<std::string, Compressor>(
      {{"gzip", &gzip6}, {"zstd", &zstd3}, {"xz", &packed_by::xz}, {"lz4", &packed_by::lz4}}));
  const std::string packed = pack(sample_bytes(300));
  for (std::size_t size = 6; size < packed.size(); ++size) {
    INFO(name << " cut to " << size << " of " << packed.size());
    const Outcome out = read_all(packed.substr(0, size));
    REQUIRE(out.error);
    CHECK(out.error->code == ErrorCode::malformed);
    CHECK(out.error->message.find(name + " stream ends early") == 0);
    CHECK(out.error->offset == size);
    // Who asks for what there is gets a beginning, and the same words.
    const std::string given = packed.substr(0, size);
    Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_bytes(given, "test", {});
    if (!opened) continue;
    Result<Input*> body = (*opened)->body(true);
    REQUIRE(body);
    const Result<std::string_view> all = (*body)->peek(std::size_t{1} << 20);
    REQUIRE(all);
    CHECK(sample_bytes(300).starts_with(*all));
    REQUIRE((*opened)->cut());
    CHECK((*opened)->cut()->message == out.error->message);
  }
}

TEST_CASE("input: a second member that is cut is an error, not trailing bytes") {
  const std::string whole = packed_by::gzip("first");
  for (std::size_t extra = 1; extra < 12; ++extra) {
    const Outcome out = read_all(whole + whole.substr(0, extra));
    INFO(extra);
    REQUIRE(out.error);
    CHECK(out.error->code == ErrorCode::malformed);
  }
}

TEST_CASE("input: damage is told with the compressed byte") {
  std::string packed = packed_by::gzip(sample_bytes(5'000));
  SECTION("check sum") { packed[packed.size() - 8] = static_cast<char>(packed[packed.size() - 8] ^ 1); }
  SECTION("length") { packed[packed.size() - 1] = static_cast<char>(packed[packed.size() - 1] ^ 1); }
  const Outcome out = read_all(packed);
  REQUIRE(out.error);
  CHECK(out.error->code == ErrorCode::malformed);
  CHECK(out.error->offset);
  CHECK(out.error->message.find("damaged gzip stream: incorrect ") == 0);
}

TEST_CASE("input: a gzip trailer may lie about the size in either direction") {
  const std::string bytes = sample_bytes(100'000);
  std::string packed = packed_by::gzip(bytes);
  const char lie = GENERATE('\x00', '\x7f');
  for (std::size_t i = packed.size() - 4; i < packed.size(); ++i) packed[i] = lie;
  const Outcome out = read_all(packed);
  REQUIRE(out.error);
  CHECK(out.error->message.find("damaged gzip stream: incorrect length check") == 0);
}

TEST_CASE("input: a skippable zstd frame in front is no obstacle") {
  const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  const Outcome out = read_all(skippable + packed_by::zstd("data") + skippable + packed_by::zstd(" more"));
  REQUIRE_FALSE(out.error);
  CHECK(out.bytes == "data more");
}

TEST_CASE("input: nested compressions are peeled, up to four") {
  std::string packed = packed_by::xz(packed_by::zstd(packed_by::gzip("nested")));
  const Outcome out = read_all(packed);
  REQUIRE_FALSE(out.error);
  CHECK(out.bytes == "nested");
  CHECK(out.compression == "xz+zstd+gzip");
  for (int i = 0; i < 2; ++i) packed = packed_by::gzip(packed);
  const Outcome deep = read_all(packed);
  REQUIRE(deep.error);
  CHECK(deep.error->code == ErrorCode::limit);
}

TEST_CASE("input: more bytes than --max-input are a limit error") {
  const auto [name, pack] = GENERATE(table<std::string, Compressor>(
      {{"gzip", &gzip6}, {"zstd", &zstd3}, {"xz", &packed_by::xz}, {"lz4", &packed_by::lz4}, {"none", nullptr}}));
  const std::string bytes = sample_bytes(200'000);
  InputOptions options;
  options.max_input_bytes = bytes.size();
  const std::string given = pack != nullptr ? pack(bytes) : bytes;
  CHECK_FALSE(read_all(given, options).error);
  options.max_input_bytes = bytes.size() - 1;
  const Outcome out = read_all(given, options);
  REQUIRE(out.error);
  CHECK(out.error->code == ErrorCode::limit);
  CHECK(out.error->message.find("--max-input") != std::string::npos);
}

TEST_CASE("input: what unfolds more than 2000-fold beyond 64 MiB is a bomb") {
  const std::string zeros(80 << 20, '\0');
  const std::string packed = packed_by::zstd(zeros);
  REQUIRE(packed.size() * 2000 < zeros.size());
  const Outcome out = read_all(packed);
  REQUIRE(out.error);
  CHECK(out.error->code == ErrorCode::limit);
  CHECK(out.error->message.find("compression bomb: ") == 0);
  CHECK_FALSE(read_all(packed_by::gzip(zeros)).error);  // deflate cannot pass 1032
  CHECK(read_all(packed_by::gzip(packed_by::gzip(zeros))).error);
}

TEST_CASE("input: what unfolds more than 500-fold beyond 256 MiB is a bomb") {
  const std::string zeros(300 << 20, '\0');
  const Outcome out = read_all(packed_by::gzip(zeros));
  REQUIRE(out.error);
  CHECK(out.error->code == ErrorCode::limit);
  CHECK(out.error->message.find("compression bomb: ") == 0);
}

TEST_CASE("input: a zstd frame that needs a huge window is refused") {
  // Frame header by RFC 8878: magic, descriptor 0 (window byte follows), window exponent 21 = 2 GiB.
  const std::string frame("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
  const Outcome out = read_all(frame);
  REQUIRE(out.error);
  CHECK(out.error->code == ErrorCode::limit);
}
