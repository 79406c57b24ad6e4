#include <catch2/catch.hpp>
#include <string>

#include "unit/formats/heap_text/helpers.hpp"

using snapdiff::Match;
using namespace snapdiff::test;

namespace {

/// "format" or "format?" of all that claim `head`, in a row.
std::string claims(std::string_view head) {
  std::string out;
  for (const snapdiff::formats::Format* each : all_importers()) {
    const Match match = each->sniff(head);
    if (match == Match::no) continue;
    if (!out.empty()) out += ' ';
    out += std::string(each->info.name) + (match == Match::possible ? "?" : "");
  }
  return out;
}

std::string refusals(std::string_view head) {
  std::string out;
  for (const snapdiff::formats::Format* each : all_importers()) out += each->refusal(head);
  return out;
}

}  // namespace

TEST_CASE("detection: each format is claimed by its own importer and no other") {
  CHECK(claims("heap profile:  1:  8 [ 1:  8] @ heapprofile\n") == "gperftools");
  CHECK(claims("heap profile: 1: 8 [1: 8] @ heap_v2/524288\n") == "gperftools");
  CHECK(claims("heap profile: 1: 8 [1: 8] @ heapz_v2/524288\n") == "gperftools");
  CHECK(claims("heap profile: 1: 8 [1: 8] @ growth\n") == "gperftools");
  CHECK(claims("heap profile: 1: 8 [1: 8] @ heap\n") == "gperftools");
  CHECK(claims("heap profile: 1: 8 [1: 8]\n") == "gperftools");
  CHECK(claims("heap profile: 1: 8 [1: 8] @ heap/1048576\n") == "go-text");
  CHECK(claims("heap_v2/524288\n  t*: 0: 0 [0: 0]\n") == "jemalloc");
  CHECK(claims("--- heapz 1 ---\nformat = java\n") == "java-heapz");
  CHECK(claims("--- symbol\nbinary=/a\n") == "symbolized");
  CHECK(claims("---   symbol\r\nbinary=/a\r\n") == "symbolized");
}

TEST_CASE("detection: what stands in front of a dump is looked through") {
  CHECK(claims("%warn old\n%other\n\n--- heap\r\nheap profile: 1: 8 [1: 8] @ heapprofile\n") == "gperftools");
  CHECK(claims("--- growth\nheap profile: 1: 8 [1: 8] @ growth\n") == "gperftools");
  CHECK(claims("--- profile\nheap profile: 1: 8 [1: 8] @ heapprofile\n") == "gperftools");
  CHECK(claims("<jemalloc>: Invalid conf pair\n--- heap\nheap_v2/1\n") == "jemalloc");
  CHECK(claims("<jemalloc>: Invalid conf pair\n<jemalloc>: Inv") == "jemalloc?");
}

TEST_CASE("detection: half a signature is only possible") {
  CHECK(claims("heap profile:") == "gperftools?");
  CHECK(claims("heap_v2/") == "jemalloc?");
}

TEST_CASE("detection: foreign files are claimed by none") {
  using namespace std::string_literals;
  for (const std::string& head : {""s, "\n\n"s, "%warn\n"s, "\x1f\x8b\x08"s, "\x7f"s + "ELF"s, "{\"head\":{}}"s,
                                  "goroutine profile: total\n"s, "--- contentionz 1 ---\n"s, "--- threadz 1 ---\n"s,
                                  "heap profile 1: 8\n"s, "x heap profile: 1: 8 [1: 8] @ heapprofile\n"s,
                                  "heap_v3/1\n"s, "--- heapz 2 ---\n"s, "--- symbols\n"s, "\0\0\0\0\0\0\0\0"s}) {
    CAPTURE(head);
    CHECK(claims(head).empty());
  }
}

TEST_CASE("detection: Go's profiles that count are read as its heap profiles are") {
  CHECK(claims("goroutine profile: total 12\n1 @ 0x1\n") == "go-text");
  CHECK(claims("goroutineleak profile: total 12\n") == "go-text");
  CHECK(claims("a profile of things: total 12\n").empty());
}

TEST_CASE("detection: relatives are refused by name") {
  using namespace std::string_literals;
  CHECK(refusals("--- contentionz 1 ---\nformat = java\n") == "this is a contention profile, expected a heap profile");
  CHECK(refusals("--- contention:\ncycles/second=1\n") == "this is a contention profile, expected a heap profile");
  CHECK(refusals("--- mutex:\ncycles/second=1\n") == "this is a mutex profile, expected a heap profile");
  CHECK(refusals("--- threadz 1 ---\n") == "this is a list of threads, expected a heap profile");
  CHECK(refusals("{\n\t\"info\": {\"version\": \"5.3\", \"lg_sample_rate\": 0}") ==
        "this is an allocation log of jemalloc, expected a heap dump: make one with mallctl \"prof.dump\" or "
        "lg_prof_interval");
  const std::string cpu = "this is a CPU profile, expected a heap profile";
  const auto word = [](std::uint64_t value, std::size_t width, bool big) {
    std::string out;
    for (std::size_t i = 0; i < width; ++i) {
      out += static_cast<char>(value >> (8 * (big ? width - 1 - i : i)));
    }
    return out;
  };
  for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
    for (const bool big : {false, true}) {
      std::string head;
      for (const std::uint64_t value : {0U, 3U, 0U, 10000U, 0U, 1U, 2U, 3U}) head += word(value, width, big);
      CHECK(refusals(head) == cpu);
    }
  }
  CHECK(refusals("--- profile\n" + std::string(16, '\0')) == cpu);
}

TEST_CASE("detection: accepted and unknown files are not refused") {
  for (const char* head :
       {"", "heap profile: 1: 8 [1: 8] @ growth\n", "--- profile\nheap profile: 1: 8 [1: 8] @ heapprofile\n",
        "{\"head\":{\"callFrame\":{}}}", "profile: total 3\n", "my big profile: total 3\n"}) {
    CAPTURE(head);
    CHECK(refusals(head).empty());
  }
}
