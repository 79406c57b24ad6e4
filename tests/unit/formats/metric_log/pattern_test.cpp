#include <catch2/catch.hpp>

#include "unit/formats/metric_log/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Values = std::vector<std::int64_t>;

namespace {

formats::ReadRequest pattern(std::vector<std::string> expressions) {
  formats::ReadRequest options;
  options.patterns = std::move(expressions);
  return options;
}

}  // namespace

TEST_CASE("pattern: named groups give counter, value, unit, step, time and tags") {
  const auto snapshots = read_log(
      "t=1767323045.5 it=4 pool[a] arena=1.5KiB cache=7\nt=1767323046 it=5 pool[b] arena=2KiB cache=9\n",
      pattern(
          {R"(t=(?P<time>[\d.]+) it=(?P<iteration>\d+) pool\[(?P<pool>\w)\] (?P<name>\w+)=(?P<value>[\d.]+)(?P<unit>\w+))"}));
  REQUIRE(snapshots.size() == 2);
  CHECK(counters(snapshots[0]) == "arena{pool=a}=1536");
  CHECK(counter(snapshots[0], "arena{pool=a}")->unit == "bytes");
  CHECK(counter(snapshots[0], "arena{pool=a}")->half_unit == 52);
  CHECK(snapshots[0].facts.taken_at_ns == 1767323045500000000);
  CHECK(snapshots[1].facts.comments == std::vector<std::string>{"step 5"});
  CHECK(snapshots[1].facts.format_detail == "own pattern");
}

TEST_CASE("pattern: all matches of a line, several patterns, units as they are") {
  const auto snapshots = read_log("a=1 b=2\nq 5 jobs\na=3 b=4\nq 6 jobs\n",
                                  pattern({R"((?P<name>[ab])=(?P<value>\d+))", R"(q (?P<value>\d+) (?P<unit>\w+))"}));
  REQUIRE(snapshots.size() == 2);
  CHECK(counters(snapshots[0]) == "a=1 b=2 value2=5");
  CHECK(counter(snapshots[0], "value2")->unit == "jobs");
  CHECK(counter(snapshots[0], "a")->unit == "count");
  CHECK(series(snapshots, "value2") == Values{5, 6});
}

TEST_CASE("pattern: one group without a name is the value, the known lines are not read") {
  const auto snapshots = read_log("rss: 5 MB\nheap 12\nrss: 6 MB\nheap 13MB\n", pattern({"heap (\\S+)"}));
  CHECK(snapshots.size() == 2);
  CHECK(counter(snapshots[0], "value")->value == 12);
  CHECK(counter(snapshots[1], "value")->value == 13631488);
}

TEST_CASE("pattern: bytes that are no UTF-8 are matched and kept") {
  const auto snapshots = read_log("\xff\xfe x=5\n", pattern({R"((?P<name>\S+) x=(?P<value>\d+))"}));
  CHECK(counters(snapshots[0]) == "\xff\xfe=5");
}

TEST_CASE("pattern: expressions that are none, or name no value, are told") {
  CHECK(log_error("", pattern({"("})).code == ErrorCode::usage);
  CHECK(log_error("", pattern({"(?P<name>x)"})).message.find("no group called value") != std::string::npos);
  formats::ReadRequest options;
  options.group_by = "[";
  CHECK(log_error("", options).message.find("--group-by '['") == 0);
  CHECK(log_error("rss: 5 MB\n", pattern({"y=(\\d+)"})).message.find("no line matches") == 0);
  CHECK(log_error("y=z\n", pattern({"y=(\\w+)"})).message.find("no numbers") != std::string::npos);
}

TEST_CASE("group-by: named groups are tags of known lines, too") {
  formats::ReadRequest options;
  options.group_by = R"(\[(?P<role>\w+)-(?P<worker>\d+)\])";
  const auto snapshots = read_log("[w-1] rss: 5 MB\n[w-2] rss: 6 MB\nrss: 7 MB\n", options);
  REQUIRE(snapshots.size() == 1);
  CHECK(counters(snapshots[0]) == "rss{role=w,worker=1}=5242880 rss{role=w,worker=2}=6291456 rss=7340032");
}
