#include <catch2/catch.hpp>

#include "analyzer/base/validate.hpp"
#include "formats/registry.hpp"
#include "proto_bytes.hpp"
#include "read_back.hpp"

using namespace proto_bytes;
using namespace snapdiff;
using read_back::import;

namespace {

/// What small_profile() holds, each part replaceable; `bad` goes in at the end, at the offset
/// that the error must name.
struct Broken {
  std::string what;
  Message bad;
  std::string message;  // how the error's message begins
};

std::string with(const Message& bad) { return small_profile().bytes + bad.bytes; }

std::string nothing_but(const Message& message) { return message.bytes; }

}  // namespace

TEST_CASE("pprof, malformed: each rule that is broken is told, with the byte") {
  const Broken broken = GENERATE(values<Broken>({
      {"text index too large", Message().message(kFunction, function(3, 12, 0, 0)),
       "string index out of range: 12, the string table has 12 entries"},
      {"text index negative", Message().message(kMapping, mapping(3, 0, 0, 0, -1, 0)), "string index out of range: -1"},
      {"type index", Message().message(kSampleType, value_type(99, 0)), "string index out of range: 99"},
      {"period type index", Message().message(kPeriodType, value_type(0, 99)), "string index out of range: 99"},
      {"too few values", Message().message(kSample, sample({1}, {1})),
       "mismatch: sample has 1 values, 2 sample types declared"},
      {"too many values", Message().message(kSample, sample({1}, {1, 2, 3})), "mismatch: sample has 3 values"},
      {"no values", Message().message(kSample, Message()), "mismatch: sample has 0 values"},
      {"unknown location", Message().message(kSample, sample({3}, {1, 1})), "sample has nil location: location id 3"},
      {"location 0", Message().message(kSample, sample({0}, {1, 1})), "sample has nil location: location id 0"},
      {"mapping 0", Message().message(kMapping, mapping(0, 0, 0, 0, 0, 0)), "found mapping with reserved ID=0"},
      {"function 0", Message().message(kFunction, function(0, 0, 0, 0)), "found function with reserved ID=0"},
      {"location id 0", Message().message(kLocation, location(0, 0, 0, {})), "found location with reserved id=0"},
      {"mapping twice", Message().message(kMapping, mapping(1, 0, 0, 0, 0, 0)), "multiple mappings with same id: 1"},
      {"function twice", Message().message(kFunction, function(2, 0, 0, 0)), "multiple functions with same id: 2"},
      {"location twice", Message().message(kLocation, location(2, 0, 0, {})), "multiple locations with same id: 2"},
      {"line without function", Message().message(kLocation, location(3, 0, 0, {line(0, 1)})),
       "location id: 3 has a line with nil function: id 0"},
      {"line with unknown function", Message().message(kLocation, location(3, 0, 0, {line(9, 1)})),
       "location id: 3 has a line with nil function: id 9"},
      {"second time", Message().number(kTime, 5), "concatenated profiles detected"},
      {"sample as number", Message().number(kSample, 5), "type mismatch: field 2 has wire type 0"},
      {"time as text", Message().bytes_of(kTime, "x"), "type mismatch: field 9 has wire type 2"},
      {"group", Message().raw("\x0b"), "unknown wire type: 3 in field 1"},
      {"wire type 7", Message().raw("\x37"), "unknown wire type: 7"},
      {"field number 0", Message().raw(std::string_view("\x00\x01", 2)), "bad field number: 0"},
      {"number cut", Message().raw("\x48\x80"), "bad varint"},
      {"number of eleven bytes", Message().raw("\x48" + std::string(10, '\x80') + "\x01"), "bad varint"},
      {"length beyond the end",
       Message().raw("\x32\x05"
                     "abc"),
       "profile ends early: field 6 is 5 bytes long, 3 are left"},
      {"length beyond everything", Message().raw("\x32\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "profile ends early"},
      {"fixed number cut",
       Message().raw("\x99\x06"
                     "abc"),
       "profile ends early: field 99 is 8 bytes long"},
  }));
  INFO(broken.what);
  const std::uint64_t at = small_profile().bytes.size();
  const Result<Snapshot> read = import(with(broken.bad));
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::malformed);
  CHECK(read.error().message.substr(0, broken.message.size()) == broken.message);
  REQUIRE(read.error().offset);
  CHECK(*read.error().offset >= at);  // within the record; exact where the record starts with it
  CHECK(*read.error().offset <= at + broken.bad.bytes.size());
}

TEST_CASE("pprof, malformed: fields of another wire type inside records") {
  const auto [what, bad] = GENERATE(table<std::string, Message>({
      {"value type", Message().message(kSampleType, Message().bytes_of(1, "x"))},
      {"sample", Message().message(kSample, sample({1}, {1, 1}).number(3, 1))},
      {"mapping", Message().message(kMapping, Message().id(1, 7).bytes_of(5, "x"))},
      {"mapping flag", Message().message(kMapping, Message().id(1, 7).bytes_of(8, "x"))},
      {"location", Message().message(kLocation, Message().id(1, 7).number(4, 1))},
      {"line", Message().message(kLocation, Message().id(1, 7).message(4, Message().bytes_of(1, "x")))},
      {"function", Message().message(kFunction, Message().id(1, 7).bytes_of(2, "x"))},
      {"label", Message().message(kSample, sample({1}, {1, 1}).message(3, Message().bytes_of(1, "x")))},
      {"packed ids cut", Message().message(kSample, Message().bytes_of(1, "\x80").packed(2, {1, 1}))},
      {"packed values cut", Message().message(kSample, Message().bytes_of(2, "\x80"))},
      {"chunk beyond the sample", Message().message(kSample, Message().raw("\x0a\x05\x01"))},
      {"comments cut", Message().bytes_of(kComment, "\x80")},
      {"label text", Message().message(kSample, sample({1}, {1, 1}).message(3, Message().number(1, 12).number(2, 1)))},
      {"label unit", Message().message(kSample, sample({1}, {1, 1}).message(3, Message().number(1, 1).number(4, 99)))},
  }));
  INFO(what);
  const Result<Snapshot> read = import(with(bad));
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::malformed);
  CHECK(read.error().offset.value_or(0) >= small_profile().bytes.size());
}

TEST_CASE("pprof, malformed: string table and sample types of the whole profile") {
  const auto error_of = [](const std::string& bytes) {
    const Result<Snapshot> read = import(bytes);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::malformed);
    return read.error().message;
  };
  CHECK(error_of("") == "empty input file");
  CHECK(error_of(nothing_but(Message().bytes_of(kString, "x"))).find("string_table[0] must be ''") == 0);
  CHECK(error_of(nothing_but(Message().number(kTime, 1))).find("no string table") == 0);
  CHECK(error_of(nothing_but(Message().message(kSample, sample({}, {1})).bytes_of(kString, "")))
            .find("missing sample type information") == 0);
  CHECK(error_of(nothing_but(Message().bytes_of(kString, "").number(kDefaultType, 5))).find("string index") == 0);
}

TEST_CASE("pprof, malformed: a field that would have to be in memory whole is limited") {
  // Field 6, a text of 64 MiB and a byte: refused at its length, of which none of the text is needed.
  const Result<Snapshot> read = import(small_profile().bytes + std::string("\x32\x81\x80\x80\x20", 5));
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::limit);
  CHECK(read.error().offset == small_profile().bytes.size());
  CHECK(read.error().message.find("field too long: field 6 is 67108865 bytes long") == 0);
}

TEST_CASE("pprof, malformed: two profiles in one file are noticed, with times and without") {
  const std::string profile = small_profile().bytes;
  const Result<Snapshot> read = import(profile + profile);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("concatenated profiles detected") == 0);
}

TEST_CASE("pprof, malformed: too many sample types, mappings or comments are a limit") {
  Message types;
  for (int i = 0; i < 300; ++i) types.message(kSampleType, value_type(0, 0));
  Message comments;
  comments.bytes_of(kComment, std::string(70'000, '\1'));
  for (const Message& message : {types, comments}) {
    const Result<Snapshot> read = import(with(message));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::limit);
  }
}

TEST_CASE("pprof, malformed: every truncation of a small profile is an error") {
  const std::string whole = small_profile().bytes;
  REQUIRE(import(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    const Result<Snapshot> read = import(std::string_view(whole).substr(0, size));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::malformed);
    const Result<std::vector<Snapshot>> detected = formats::read_bytes(whole.substr(0, size), "cut", {});
    REQUIRE_FALSE(detected);
  }
}

TEST_CASE("pprof, malformed: any flipped bit gives an error or a valid snapshot") {
  const std::string whole = small_profile().bytes;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const Result<Snapshot> read = import(damaged);
      if (read) {
        REQUIRE(validate(*read));
      } else {
        ++refused;
        REQUIRE(read.error().code != ErrorCode::internal);
      }
    }
  }
  CHECK(refused > whole.size());  // the tables notice; only texts, numbers and addresses may differ
}

TEST_CASE("pprof, malformed: the error of a compressed profile says what its offset counts") {
  const Result<std::vector<Snapshot>> plain = formats::read_bytes(with(Message().number(kTime, 5)), "a.pb", {});
  REQUIRE_FALSE(plain);
  CHECK(plain.error().text() ==
        "a.pb: malformed at byte " + std::to_string(small_profile().bytes.size()) +
            ": concatenated profiles detected: a second time_nanos, expected one profile in a file");
}
