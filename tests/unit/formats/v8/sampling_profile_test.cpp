#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& profile() { return formats::kV8HeapProfile; }

using Rows = std::map<std::string, std::string>;

std::string node(const std::string& name, int line, const std::string& size, const std::string& children) {
  return R"({"callFrame":{"functionName":")" + name + R"(","scriptId":"1","url":"/a.js","lineNumber":)" +
         std::to_string(line) + R"(,"columnNumber":0},"selfSize":)" + size + R"(,"id":1,"children":[)" + children +
         "]}";
}

const std::string kTree = R"({"head":)" + node("(root)", -1, "0", node("", 2, "100", node("f", 4, "1e3", ""))) +
                          R"(,"samples":[{"size":128,"nodeId":3,"ordinal":1},{"size":96,"nodeId":2,"ordinal":2}]})";

std::int64_t bytes_of(const Snapshot& s, const std::string& function) {
  std::int64_t sum = 0;
  for (const auto& [stack, value] : rows(s)) {
    if (stack.starts_with(function + "@")) sum += std::stoll(value);
  }
  return sum;
}

}  // namespace

TEST_CASE("v8-heapprofile: figures of real profiles") {
  const std::string leak = test_data("v8/leak.heapprofile");
  CHECK(profile().sniff(leak.substr(0, 16384)) == Match::certain);
  const Snapshot s = read_one(profile(), leak);
  CHECK(total(s, "inuse_space") == 411344);
  CHECK(bytes_of(s, "getCLIOptionsFromBinding") == 57504);
  CHECK(bytes_of(s, "harmless") == 49256);
  CHECK(s.facts.sampling == Sampling::poisson);
  CHECK(s.facts.period == 16392);  // 16384 was asked for

  const Snapshot first = read_one(profile(), test_data("v8/series.001.heapprofile"));
  const Snapshot second = read_one(profile(), test_data("v8/series.002.heapprofile"));
  CHECK(total(first, "inuse_space") == 2592216);
  CHECK(total(second, "inuse_space") == 4508688);
  CHECK(bytes_of(second, "openSession") - bytes_of(first, "openSession") == 3119344 - 1192544);
  CHECK(bytes_of(second, "Session") == bytes_of(first, "Session"));
  CHECK(first.facts.period == 32800);  // 32768 was asked for
}

TEST_CASE("v8-heapprofile: lines count from 1, functions without a name are called so, the root is no frame") {
  const Snapshot s = read_one(profile(), kTree);
  CHECK(rows(s) == Rows{{"(anonymous)@/a.js:3", "100"}, {"f@/a.js:5 < (anonymous)@/a.js:3", "1000"}});
  CHECK(s.facts.period == 96);
  CHECK(has_note(s, "sampling interval taken from the smallest sample"));
}

TEST_CASE("v8-heapprofile: members may come in any order, the root may hold bytes, there may be no samples") {
  const std::string turned =
      R"x({"head":{"children":[{"selfSize":7,"children":[],"callFrame":{"functionName":"f"}}],"selfSize":5,)x"
      R"x("callFrame":{"functionName":"(root)"}}})x";
  CHECK(profile().sniff(turned) == Match::certain);
  const Snapshot s = read_one(profile(), turned);
  CHECK(rows(s) == Rows{{"f", "7"}, {"(root)", "5"}});
  CHECK(s.facts.period == 0);
}

TEST_CASE("v8-heapprofile: what is damaged is refused with its place") {
  CHECK(read_error(profile(), R"({"samples":[]})").find("without head") != std::string::npos);
  CHECK(read_error(profile(), R"({"head":{"selfSize":7}})").find("callFrame missing") != std::string::npos);
  CHECK(read_error(profile(), R"({"head":)" + node("f", 0, "-1", "") + "}").find("size not readable") !=
        std::string::npos);
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += R"({"callFrame":{},"children":[)";
  CHECK(read_error(profile(), R"({"head":)" + deep).find("nested too deeply") != std::string::npos);
}

TEST_CASE("v8-heapprofile: a CPU profile and a trace are none") {
  CHECK(profile().sniff(R"x({"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"hitCount":0}]})x") == Match::no);
  CHECK(profile().sniff(R"({"traceEvents":[{"args":{"callFrame":1,"selfSize":2}}]})") == Match::no);
}

TEST_CASE("v8-heapprofile: every cut is refused, disguises change nothing") {
  check_cuts(profile(), kTree, 1);
  check_disguises(profile(), kTree);
}
