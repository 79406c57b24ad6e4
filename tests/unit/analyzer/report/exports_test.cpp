#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/report/report.hpp"
#include "fakes.hpp"

using namespace snapdiff;
using nlohmann::json;

TEST_CASE("folded: growth minus shrinkage is the net, each line ends in a positive number") {
  GrowthReport report = fakes::svc_diff(4, 5);
  report.unattributed = {10, 3};
  report.total.baseline += 10;
  report.total.current += 3;
  std::istringstream in(report::to_folded(report));
  std::int64_t sum = 0;
  for (std::string line; std::getline(in, line);) {
    const std::size_t blank = line.rfind(' ');
    const std::int64_t value = std::stoll(line.substr(blank + 1));
    CHECK(value > 0);
    const bool grew = line.compare(0, 7, "[grew];") == 0;
    CHECK((grew || line.compare(0, 9, "[shrank];") == 0));
    sum += grew ? value : -value;
  }
  CHECK(sum == report.total.growth());
}

TEST_CASE("folded: values of one snapshot add up to its total, root first") {
  const TopReport report = fakes::svc_top();
  const std::string text = report::to_folded(report);
  std::istringstream in(text);
  std::int64_t sum = 0;
  for (std::string line; std::getline(in, line);) sum += std::stoll(line.substr(line.rfind(' ') + 1));
  CHECK(sum == report.total);
  CHECK(text.substr(0, text.find('\n')) ==
        "_start;libc.so.6+0x271ca;main;handle_request;leak_sessions;alloc_body 2880000");
}

TEST_CASE("folded: line ends and semicolons in names break no line") {
  fakes::DiffMaker maker;
  maker.row("a;b\nc < main", {0, 1});
  CHECK(report::to_folded(maker.report()) == "[grew];main;a:b\\x0ac 1\n");
}

TEST_CASE("speedscope: two sampled profiles, one weight per stack, sums at the end value") {
  const GrowthReport report = fakes::svc_diff(4, 5);
  const json document = json::parse(report::to_speedscope(report));
  CHECK(document["$schema"] == "https://www.speedscope.app/file-format-schema.json");
  const std::size_t frames = document["shared"]["frames"].size();
  REQUIRE(document["profiles"].size() == 2);
  std::vector<std::int64_t> totals;
  for (const json& profile : document["profiles"]) {
    CHECK(profile["type"] == "sampled");
    CHECK(profile["unit"] == "bytes");
    CHECK(profile["samples"].size() == profile["weights"].size());
    std::int64_t sum = 0;
    for (const json& weight : profile["weights"]) {
      CHECK(weight.get<std::int64_t>() > 0);
      sum += weight.get<std::int64_t>();
    }
    CHECK(profile["endValue"] == sum);
    CHECK(profile["startValue"] == 0);
    for (const json& sample : profile["samples"]) {
      for (const json& frame : sample) CHECK(frame.get<std::size_t>() < frames);
    }
    totals.push_back(sum);
  }
  CHECK(totals[0] == report.grew);
  CHECK(totals[1] == -report.shrank);
  // Root first: every stack of the series starts at _start.
  for (const json& sample : document["profiles"][0]["samples"]) {
    CHECK(document["shared"]["frames"][sample[0].get<std::size_t>()]["name"] == "_start");
  }
}

TEST_CASE("speedscope: a snapshot is one profile") {
  const TopReport report = fakes::svc_top();
  const json document = json::parse(report::to_speedscope(report));
  REQUIRE(document["profiles"].size() == 1);
  CHECK(document["profiles"][0]["endValue"] == report.total);
}

TEST_CASE("exports: by function a key is a stack of one frame") {
  const GrowthReport report = fakes::svc_by_function();
  CHECK(report::to_folded(report).find("[grew];alloc_body 2640000\n") == 0);
  const json document = json::parse(report::to_speedscope(report));
  CHECK(document["profiles"][0]["samples"][0].size() == 1);
}
