#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& histogram() { return formats::kJvmHistogram; }

using Rows = std::map<std::string, std::string>;

const std::string kHeading =
    " num     #instances         #bytes  class name "
    "(module)\n-------------------------------------------------------\n";
const std::string kList = kHeading +
                          "   1:            45         321744  [J (java.base@17.0.15)\n"
                          "   2:             2             48  JLeak$Session\n"
                          "Total            47         321792\n";

}  // namespace

TEST_CASE("jvm-histogram: JLeak adds 500 sessions, 40 long[] and 500 byte[] a step") {
  std::vector<Rows> steps;
  for (int step = 0; step < 3; ++step) {
    const auto sample = tracker_sample("jvm/jdk17-histo-step" + std::to_string(step) + ".txt");
    if (!sample) return;
    const Snapshot s = read_one(histogram(), *sample);
    CHECK(s.facts.complete);
    CHECK_FALSE(s.facts.partial);
    CHECK(s.facts.notes.empty());
    steps.push_back(rows(s));
    CHECK(steps.back().at("JLeak$Session {type=JLeak$Session}").rfind(std::to_string(500 * (step + 1)) + " ", 0) == 0);
  }
  const auto growth = [&](const std::string& type, std::size_t to, int column) {
    const auto value = [&](std::size_t step) {
      const std::string text = steps[step].at(type + " {type=" + type + "}");
      return std::stoll(column == 0 ? text : text.substr(text.find(' ') + 1));
    };
    return value(to) - value(to - 1);
  };
  for (std::size_t step = 1; step < 3; ++step) {
    CHECK(growth("JLeak$Session", step, 0) == 500);
    CHECK(growth("[J", step, 0) == 40);
    CHECK(growth("[J", step, 1) == 320'640);
    CHECK(growth("java.util.HashMap$Node", step, 0) == 500);
  }
  CHECK(growth("[B", 2, 0) == 500);
  CHECK(growth("[B", 2, 1) == 136'000);
}

TEST_CASE("jvm-histogram: what the collector fills gaps with is one type") {
  const Snapshot s = read_one(histogram(), kHeading +
                                               "   1:             7         390000  [Ljdk.internal.vm.FillerElement; "
                                               "(java.base@21.0.1)\n"
                                               "   2:           100           1600  jdk.internal.vm.FillerObject "
                                               "(java.base@21.0.1)\n"
                                               "   3:             2             48  com.shop.Order\n"
                                               "Total           109         391648\n");
  CHECK(s.facts.complete);
  CHECK(rows(s) == Rows{{"com.shop.Order {type=com.shop.Order}", "2 48"},
                        {"dead space of the collector {type=dead space of the collector}", "107 391600"}});
}

TEST_CASE("jvm-histogram: totals are those of the Total line") {
  const auto sample = tracker_sample("jvm/jdk17-histo-step0.txt");
  if (!sample) return;
  const Snapshot s = read_one(histogram(), *sample);
  CHECK(total(s, "inuse_objects") == 13'939);
  CHECK(total(s, "inuse_space") == 1'070'040);
}

TEST_CASE("jvm-histogram: jcmd tells the process") {
  const auto sample = tracker_sample("jvm/jdk17-jcmd-class_histogram-step0.txt");
  if (!sample) return;
  const Snapshot s = read_one(histogram(), *sample);
  CHECK(s.facts.pid == 14'774);
  CHECK(s.facts.complete);
}

TEST_CASE("jvm-histogram: a log with several lists is a series, behind the prefixes of unified logging as well") {
  const std::string log =
      "[1.234s][info][gc,classhisto] GC(3)  num     #instances         #bytes  class name\n"
      "[1.234s][info][gc,classhisto] GC(3) ----------\n"
      "[1.235s][info][gc,classhisto] GC(3)    1:  3   72  a.B\n"
      "[1.235s][info][gc,classhisto] GC(3) Total  3  72\nother lines\n" +
      kList;
  const std::vector<Snapshot> series = read_ok(histogram(), log);
  REQUIRE(series.size() == 2);
  CHECK(rows(series[0]) == Rows{{"a.B {type=a.B}", "3 72"}});
  CHECK(rows(series[1]).size() == 2);
}

TEST_CASE("jvm-histogram: the address of a hidden class is no part of its name, equal names are added") {
  const Snapshot s = read_one(histogram(), kHeading +
                                               "   1:  2  48  Main$$Lambda$14/0x0000000800066840\n"
                                               "   2:  1  24  Main$$Lambda$14/0x0000000800077777 (java.base)\n"
                                               "   3:  1  16  [LMain$$Lambda$15/0x00000008;\n"
                                               "   4:  1  16  Old$$Lambda$1/1234567890\n"
                                               "Total  5  104\n");
  CHECK(rows(s) == Rows{{"Main$$Lambda$14/0x {type=Main$$Lambda$14/0x}", "3 72"},
                        {"[LMain$$Lambda$15/0x; {type=[LMain$$Lambda$15/0x;}", "1 16"},
                        {"Old$$Lambda$1/0x {type=Old$$Lambda$1/0x}", "1 16"}});
  CHECK(s.facts.complete);
}

TEST_CASE("jvm-histogram: the module of a class is kept without its version") {
  const Snapshot s = read_one(histogram(), kList);
  const Dictionary& d = *s.dictionary;
  CHECK(d.modules.size() == 2);
  CHECK(d.strings[d.modules.name[1]] == "java.base");
}

TEST_CASE("jvm-histogram: a list without Total, or with a larger one, is not complete") {
  const Snapshot head = read_one(histogram(), kHeading + "   1:  2  48  a.B\n");
  CHECK_FALSE(head.facts.complete);
  CHECK(has_note(head, "no Total line"));
  const Snapshot more = read_one(histogram(), kHeading + "   1:  2  48  a.B\nTotal  5  100\n");
  CHECK_FALSE(more.facts.complete);
  CHECK(rows(more).at("[below threshold]") == "3 52");
  CHECK(total(more, "inuse_space") == 100);
  const Snapshot less = read_one(histogram(), kHeading + "   1:  2  48  a.B\nTotal  1  48\n");
  CHECK_FALSE(less.facts.complete);
  CHECK(has_note(less, "add up to more than"));
}

TEST_CASE("jvm-histogram: lines that are no rows are counted, sums beyond 64 bits are refused") {
  const Snapshot s = read_one(histogram(), kHeading + "   1:  2  48  a.B\n   2: x y z\nTotal 2 48\n");
  CHECK(s.facts.partial);
  CHECK(has_note(s, "no rows, left out"));
  CHECK(read_error(histogram(), kHeading + "   1:  1  9223372036854775807  a.B\n   2:  1  1  a.C\n")
            .find("beyond 2^63-1") != std::string::npos);
  CHECK(read_error(histogram(), "hello\n").find("no histogram: the input ends") != std::string::npos);
}

TEST_CASE("jvm-histogram: every cut is refused, told, or loses nothing, disguises change nothing") {
  check_cuts(histogram(), "12:\n" + kList + "13:\n" + kList, 1);
  check_disguises(histogram(), "12:\n" + kList + "13:\n" + kList);
}
