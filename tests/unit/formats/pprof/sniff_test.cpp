#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "proto_bytes.hpp"

using namespace proto_bytes;
using snapdiff::kSniffBytes;
using snapdiff::Match;

const auto sniff_profile = snapdiff::formats::kPprof.sniff;

TEST_CASE("pprof, sniff: a whole small profile is certain") {
  CHECK(sniff_profile(small_profile().bytes) == Match::certain);
  CHECK(sniff_profile(Message().bytes_of(kString, "").bytes) == Match::certain);
}

TEST_CASE("pprof, sniff: the head of a long profile is certain wherever it is cut") {
  Message profile;
  profile.message(kSampleType, value_type(1, 2));
  while (profile.bytes.size() < kSniffBytes) {
    for (int i = 0; i < 100; ++i) {
      profile.message(kSample, sample({1, 200, 3000}, {i}));
      CHECK(profile.bytes.size() > 0);
    }
  }
  for (std::size_t skip = 0; skip < 40; ++skip) {
    const std::string head =
        Message().bytes_of(kString, "").bytes_of(kString, std::string(skip, 'x')).bytes + profile.bytes;
    CHECK(sniff_profile(std::string_view(head).substr(0, kSniffBytes)) == Match::certain);
  }
}

TEST_CASE("pprof, sniff: a first field longer than the head") {
  const std::string head = Message().message(kSample, Message().bytes_of(1, std::string(100'000, '\1'))).bytes;
  CHECK(sniff_profile(std::string_view(head).substr(0, kSniffBytes)) != Match::no);
}

TEST_CASE("pprof, sniff: a profile that breaks later is possible, so that the break is told") {
  CHECK(sniff_profile(small_profile().bytes + "\x0f") == Match::possible);
}

TEST_CASE("pprof, sniff: texts and zeros are no profiles") {
  using namespace std::string_view_literals;
  for (const std::string_view head :
       {"heap profile:    406:  7764458 [  17394: 8388623] @ heapprofile\n"sv,
        "heap_v2/524288\n  t*: 28106: 56637512\n"sv, "--- heapz 1 ---\n"sv, "\n\n\n\n"sv, "{\"head\":"sv, "2\n3\n4\n"sv,
        "hello"sv, "\0\0\0\0"sv, "\x89PNG\r\n"sv, ""sv, "zzzzzzzzzz"sv, "\"quoted\""sv, "xxxx"sv, "PPPP"sv}) {
    INFO(head);
    CHECK(sniff_profile(head) == Match::no);
  }
}
