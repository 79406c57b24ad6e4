#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& state() { return formats::kJvmMemoryState; }

}  // namespace

TEST_CASE("jvm-memory: the heap of each collector") {
  struct Expected {
    std::string file;
    std::int64_t used, size;  // KiB
  };
  for (const Expected& expected : {Expected{"jdk17-G1", 1579, 10240}, Expected{"jdk17-Serial", 1177, 19648 + 43712},
                                   Expected{"jdk17-Shenandoah", 1217, 65536}, Expected{"jdk17-Z", 4096, 65536},
                                   Expected{"jdk25-G1", 1757, 8192}, Expected{"jdk25-Serial", 1748, 19648 + 43712}}) {
    CAPTURE(expected.file);
    const std::string text = test_data("jvm_native/" + expected.file + ".heap_info.02.txt");
    const Snapshot s = read_one(state(), text);
    CHECK(counter(s, "heap_used") == expected.used * 1024);
    CHECK(counter(s, "heap_total") == expected.size * 1024);
    CHECK(s.facts.pid.has_value());
    CHECK(s.facts.notes.empty());
    CHECK(state().sniff(text) == Match::certain);
  }
  const Snapshot g1 = read_one(state(), test_data("jvm_native/jdk17-G1.heap_info.02.txt"));
  CHECK(counter(g1, "metaspace_used") == 839 * 1024);
  CHECK(counter(g1, "metaspace_committed") == 1024 * 1024);
  CHECK(counter(g1, "class_space_used") == 69 * 1024);
}

TEST_CASE("jvm-memory: reports in one text are a series") {
  const std::string text =
      test_data("jvm_native/jdk17-G1.heap_info.02.txt") + test_data("jvm_native/jdk17-Z.heap_info.02.txt");
  const std::vector<Snapshot> series = read_ok(state(), text);
  REQUIRE(series.size() == 2);
  CHECK(series[0].facts.pid == 19656);
  CHECK(series[1].facts.pid == 19880);
  check_disguises(state(), text);
}

TEST_CASE("jvm-memory: VM.metaspace gives the totals of both spaces") {
  const Snapshot s = read_one(state(), test_data("jvm_native/metaspace.03.txt"));
  const auto near = [&](std::string_view name, double kib) {
    const auto value = counter(s, name);
    REQUIRE(value.has_value());
    CHECK(std::abs(static_cast<double>(*value) - kib * 1024) < 6 * 1024);
  };
  near("metaspace_used", 921.23);
  near("metaspace_free", 179.68);
  CHECK(counter(s, "metaspace_waste") == 96);
  near("metaspace_committed", 1.19 * 1024);
  CHECK(counter(s, "classes") == 1066);
  CHECK(s.facts.pid == 18552);
}

TEST_CASE("jvm-memory: a heap inside another log is not taken, numbers that may be cut are left out") {
  CHECK(state().sniff(
            "[0.1s][info][gc] GC(0) Pause Young 5M->1M(8M) 1.2ms\n garbage-first heap   total 10240K, used 1579K\n") ==
        Match::no);
  const std::string text = test_data("jvm_native/jdk17-G1.heap_info.02.txt");
  check_cuts(state(), text, 3);
  CHECK(read_error(state(), "nothing\n").find("GC.heap_info") != std::string::npos);
}

TEST_CASE("jvm-memory: heaps of two collectors in one report do not add up to a third") {
  const Snapshot s = read_one(state(),
                              " garbage-first heap   total 10240K, used 1579K [0x1, 0x2)\n"
                              " def new generation   total 12288K, used 218K [0x1, 0x2, 0x3)\n"
                              " tenured generation   total 27328K, used 1295K [0x1, 0x2, 0x3)\n");
  CHECK(counter(s, "heap_used") == 1579 * 1024);
  CHECK(counter(s, "young_used") == 218 * 1024);
}
