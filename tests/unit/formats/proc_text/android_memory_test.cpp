#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& android() { return formats::kAndroidMemory; }
using Rows = std::map<std::string, std::string>;

std::string kib(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += (out.empty() ? "" : " ") + std::to_string(value * 1024);
  return out;
}

}  // namespace

TEST_CASE("android-memory: dumpsys meminfo gives a row for each category, heaps and objects as counters") {
  const std::string text = test_data("proc_text/android-meminfo.txt");
  const Snapshot s = read_one(android(), text);
  CHECK(rows(s).size() == 5);
  CHECK(rows(s).at("Native Heap {type=Native Heap}") == kib({383073, 382944, 0, 62}));
  CHECK(total(s, "pss") == std::int64_t{412963 - 139} * 1024);
  CHECK_FALSE(has_note(s, "do not add up"));
  CHECK(counter(s, "heap_alloc{heap=Native Heap}") == std::int64_t{404535} * 1024);
  CHECK(counter(s, "Activities") == 11);
  CHECK_FALSE(counter(s, "MEMORY_USED"));
  CHECK(s.facts.pid == 23844);
  CHECK(s.facts.command_line == "com.example.shop");
  CHECK_FALSE(s.facts.partial);
  CHECK(read_one(android(), text.substr(0, text.find("        TOTAL"))).facts.partial);
  CHECK(read_ok(android(), text + text).size() == 2);
  check_disguises(android(), text);
}

TEST_CASE("android-memory: showmap gives a row for each object") {
  const std::string text = test_data("proc_text/showmap.txt");
  const Snapshot s = read_one(android(), text);
  CHECK(rows(s) ==
        Rows{{"[anon:scudo:primary] {type=[anon:scudo:primary]}", kib({8192, 4096, 4096, 0, 0, 0, 4096, 0, 0})},
             {"/apex/com.android.runtime/lib64/bionic/libc.so "
              "{type=/apex/com.android.runtime/lib64/bionic/libc.so}",
              kib({868, 520, 29, 512, 0, 0, 8, 0, 0})}});
  CHECK_FALSE(has_note(s, "do not add up"));
  CHECK(read_ok(android(), text + text).size() == 2);
  check_cuts(android(), text, 3);
  check_disguises(android(), text);
}
