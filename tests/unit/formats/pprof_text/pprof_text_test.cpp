#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& printed() { return formats::kPprofText; }

using Rows = std::map<std::string, std::string>;

const std::string kHead = "File: a\nType: inuse_space\nTime: 2026-11-26 14:20:36 UTC\n";
const std::string kTop = kHead +
                         "Showing nodes accounting for 3kB, 75% of 4kB total\nShowing top 2 nodes out of 9\n"
                         "      flat  flat%   sum%        cum   cum%\n"
                         "       2kB 50.00% 50.00%        3kB 75.00%  main.(*cache).fetch\n"
                         "       1kB 25.00%   75%         1kB 25.00%  main.f (inline)\n"
                         "         0     0%   75%         4kB   100%  main.main\n";
const std::string kTraces = kHead +
                            "-----------+-------------------------------------------------------\n"
                            "     bytes:  112B\n"
                            "      512B   net/http.send (inline)\n"
                            "             main.main\n"
                            "-----------+-------------------------------------------------------\n"
                            "         0   main.f\n"
                            "             main.main\n"
                            "-----------+-------------------------------------------------------\n";
const std::string kRaw =
    "PeriodType: space bytes\nPeriod: 524288\nTime: 2026-11-26 14:20:36.5 +0000 UTC\nSamples:\n"
    "inuse_objects/count inuse_space/bytes[dflt]\n"
    "          2       1024: 1 2 \n                bytes:[512]\n"
    "          1         64: 2 \n                pool:[small]\n"
    "Locations\n"
    "     1: 0x53f92d M=1 net.dial /src/net/dial.go:791:0 s=773\n"
    "             net.Dial /src/net/dial.go:12:0 s=10\n"
    "     2: 0x401000 M=1 \n"
    "Mappings\n1: 0x400000/0x738000/0x0 /srv/app afea7f [FN]\n";

/// Stacks without labels and without files, of one column.
std::map<std::string, std::int64_t> by_stack(const Snapshot& s, std::string_view metric) {
  const Dictionary& d = *s.dictionary;
  const Column* column = s.column(metric);
  REQUIRE(column != nullptr);
  std::map<std::string, std::int64_t> out;
  for (std::size_t row = 0; row < s.samples.size(); ++row) {
    std::string key;
    for (const FrameId id : d.stacks.frames(s.samples.stack[row]))
      key.append(d.strings[d.functions.name[index_of(d.frames.function[index_of(id)])]]).append(";");
    out[key] += column->value[row];
    if (out[key] == 0) out.erase(key);
  }
  return out;
}

}  // namespace

TEST_CASE("pprof-text: -raw equals the profile itself, in every column and stack") {
  const Snapshot proto = read_data_of("pprof_text/heap.001.pb.gz", formats::kPprof);
  const Snapshot raw = read_data_of("pprof_text/heap.001.raw.txt.gz", printed());
  REQUIRE(raw.samples.columns.size() == 4);
  for (const Column& column : proto.samples.columns)
    CHECK(by_stack(raw, column.type.name) == by_stack(proto, column.type.name));
  CHECK(total(raw, "inuse_space") == 12611720);
  CHECK(raw.facts.period == proto.facts.period);
  CHECK(raw.facts.taken_at_ns == proto.facts.taken_at_ns);
}

TEST_CASE("pprof-text: -top, -tree, -peek and -traces equal the profile within their rounding") {
  const Snapshot proto = read_data_of("pprof_text/heap.001.pb.gz", formats::kPprof);
  std::map<std::string, std::int64_t> flat;
  for (const auto& [stack, bytes] : by_stack(proto, "inuse_space")) flat[stack.substr(0, stack.find(';') + 1)] += bytes;
  for (const std::string name : {"top.txt", "tree.txt.gz"}) {
    const Snapshot list = read_data_of("pprof_text/heap.001." + name, printed());
    CHECK(list.facts.complete);
    CHECK_FALSE(list.facts.partial);
    const auto found = by_stack(list, "inuse_space");
    const auto half = by_stack(list, half_unit_name("inuse_space"));
    CHECK(found.size() == flat.size());
    for (const auto& [stack, bytes] : flat) {
      CAPTURE(stack);
      CHECK(std::abs(found.at(stack) - bytes) <= half.at(stack));
    }
  }
  const Snapshot peek = read_data_of("pprof_text/heap.001.peek.txt", printed());
  CHECK_FALSE(peek.facts.complete);
  CHECK(by_stack(peek, "inuse_space").count("github.com/gorilla/context.Set;") == 1);
  CHECK(std::abs(total(peek, "inuse_space") - 12611720) <= 6);  // with what is not shown

  const Snapshot traces = read_data_of("pprof_text/heap.001.traces.txt.gz", printed());
  const auto stacks = by_stack(proto, "inuse_space");
  const auto found = by_stack(traces, "inuse_space");
  const auto half = by_stack(traces, half_unit_name("inuse_space"));
  REQUIRE(found.size() == stacks.size());
  for (const auto& [stack, bytes] : stacks) CHECK(std::abs(found.at(stack) - bytes) <= half.at(stack));
}

TEST_CASE("pprof-text: a list that leaves functions out says how much, a difference does not know") {
  const Snapshot s = read_one(printed(), kTop);
  CHECK(rows(s) == Rows{{"main.(*cache).fetch", "2048 6"}, {"main.f", "1024 6"}, {"[below threshold]", "1024 18"}});
  const Snapshot more = read_one(printed(), kTop.substr(0, kTop.find("       1kB")));
  CHECK(rows(more).count("[below threshold]") == 1);
  CHECK_FALSE(more.facts.complete);
  const Snapshot diff = read_data_of("pprof_text/diff.top.txt", printed());
  CHECK(diff.facts.is_diff);
  CHECK_FALSE(diff.facts.complete);
  CHECK(rows(diff).at("main.(*pageCache).fetch") == "-1575997 6");
}

TEST_CASE("pprof-text: places of -lines, and a session that was pasted") {
  const std::string table = kTop.substr(kTop.find("Showing"));
  std::string lines = table;
  lines.replace(lines.find("main.f (inline)"), 15, "main.f /srv/a.go:29 (inline)");
  const std::string session = "(pprof) top\n" + lines + "(pprof) top -cum\n" + table;
  CHECK(printed().sniff(session) == Match::certain);
  const Snapshot s = read_one(printed(), session);
  CHECK(rows(s).count("main.f@/srv/a.go:29") == 1);
  CHECK_FALSE(s.facts.partial);
  CHECK(s.column("bytes") != nullptr);
}

TEST_CASE("pprof-text: traces and raw") {
  CHECK(rows(read_one(printed(), kTraces)) == Rows{{"net/http.send < main.main", "512 0"}});
  const Snapshot raw = read_one(printed(), kRaw);
  CHECK(rows(raw) == Rows{{"net.dial@/src/net/dial.go:791 < net.Dial@/src/net/dial.go:12 < app+0x1000", "2 1024"},
                          {"app+0x1000 {pool=small}", "1 64"}});
  CHECK(raw.facts.default_metric == "inuse_space");
  CHECK(raw.facts.period == 524288);
}

TEST_CASE("pprof-text: a location of many lines cannot be named without end") {
  std::string lines, ids;
  for (int i = 0; i < 30000; ++i) {
    lines += "             f /a.go:1:0 s=1\n";
    ids += "1 ";
  }
  const std::string text = "PeriodType: space bytes\nSamples:\na/b\n1: " + ids + "\n1: " + ids +
                           "\nLocations\n     1: 0x1 M=0 f /a.go:1:0 s=1\n" + lines + "Mappings\n";
  CHECK(read_error(printed(), text).find("stacks expand") != std::string::npos);
}

TEST_CASE("pprof-text: times are refused, other texts are none") {
  CHECK(printed().sniff(kTop) == Match::certain);
  CHECK(printed().sniff(kTraces) == Match::certain);
  CHECK(printed().sniff(kRaw) == Match::certain);
  std::string cpu = kTop;
  cpu.replace(cpu.find("inuse_space"), 11, "cpu");
  CHECK(printed().sniff(cpu) == Match::no);
  CHECK(printed().refusal(cpu).find("profile of time") != std::string::npos);
  CHECK(printed().sniff("Samples:\n1 2: 3\n") == Match::no);
  CHECK(printed().sniff("-----------+----\nType: x\n") == Match::no);
}

TEST_CASE("pprof-text: every cut is refused or told, disguises change nothing") {
  check_cuts(printed(), kTop, 1);
  check_line_cuts(printed(), kRaw);
  check_disguises(printed(), kTop);
  check_disguises(printed(), kTraces);
  check_disguises(printed(), kRaw);
  CHECK(read_error(printed(), "PeriodType: space bytes\nSamples:\nfoo\n").find("TYPE/UNIT") != std::string::npos);
  CHECK(read_error(printed(), "PeriodType: space bytes\nSamples:\na/b\n1 x\n").find("found") != std::string::npos);
}
