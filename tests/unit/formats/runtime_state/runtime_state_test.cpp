#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using namespace snapdiff::formats;

TEST_CASE("erlang-memory: terms over several lines are a series, a map is read too") {
  const std::vector<Snapshot> s = read_data("runtime_state/erlang-memory.log");
  REQUIRE(s.size() == 8);
  CHECK(counter(s[0], "total") == 13516344);
  CHECK(counter(s[0], "processes_used") == 3880008);
  CHECK(counter(s[0], "ets") == 770536);
  CHECK(counter(s[0], "processes").value() + counter(s[0], "system").value() == counter(s[0], "total"));
  CHECK(counter(read_one(kErlangMemory, "#{total => 9,processes => 4,system => 5}\n"), "system") == 5);
  // As Elixir prints it.
  const std::string keywords = "[\n  total: 9,\n  processes: 4,\n  system: 5,\n  atom_used: 1,\n  ets: 2\n]\n";
  CHECK(kErlangMemory.sniff(keywords) == Match::certain);
  CHECK(counter(read_one(kErlangMemory, keywords), "atom_used") == 1);
  CHECK(kErlangMemory.sniff("total: 9\nprocesses: 4\nsystem: 5\n") == Match::no);
  check_disguises(kErlangMemory, test_data("runtime_state/erlang-memory.log"));
  check_line_cuts(kErlangMemory, "[{total,13516344},\n {processes,3886080},\n {system,9630264}]\n");
}

TEST_CASE("erlang-crash-dump: a row for each process and ETS table, in bytes") {
  const Snapshot s = read_data_of("runtime_state/erl_crash.dump.gz", kErlangCrashDump);
  const auto all = rows(s);
  CHECK(all.at("init {kind=process type=init}") == "16728 0");
  CHECK(all.at("logger {kind=ets type=logger}") == std::to_string(3593 * 8) + " 3");
  CHECK(counter(s, "ets") == 3904752);
  CHECK(total(s, "memory") == 598244 + 3723352);  // sums of "Memory:" and of "Words:" times 8
  CHECK_FALSE(s.facts.partial);
  CHECK(has_note(s, "slogan: leak sample"));
  const std::string text =
      "=erl_crash_dump:0.5\nSystem version: x [64-bit]\n=memory\ntotal: 9\n=proc:<0.1.0>\nName: a\nMemory: 8\n"
      "=ets:<0.1.0>\nName: t\nObjects: 2\nWords: 3\n=end\n";
  CHECK(rows(read_one(kErlangCrashDump, text)) ==
        std::map<std::string, std::string>{{"a {kind=process type=a}", "8 0"}, {"t {kind=ets type=t}", "24 2"}});
  check_cuts(kErlangCrashDump, text, 1);
  check_disguises(kErlangCrashDump, text);
}

TEST_CASE("node-report: spaces of the heap add up to the memory used") {
  const Snapshot s = read_data_of("runtime_state/node-report.json", kNodeReport);
  CHECK(total(s, "used") == counter(s, "heap.usedMemory"));
  CHECK(total(s, "committed") == counter(s, "heap.totalCommittedMemory"));
  CHECK(counter(s, "rss") == 105816064);
  CHECK(rows(s).at("old_space {type=old_space}") == "49075240 50298880");
  CHECK(s.facts.pid == 5496);
  CHECK(has_note(s, "JavaScript heap out of memory"));
  check_cuts(kNodeReport, test_data("runtime_state/node-report.json"), 37);
}

TEST_CASE("ghc-heap: samples are a series, one without rows is none") {
  const std::vector<Snapshot> s = read_data("runtime_state/ghc.hp");
  REQUIRE(s.size() == 3);
  const std::string insert = "(301)insert.\\.\\/insert.\\/i...";
  CHECK(rows(s[0]).at(insert + " {type=" + insert + "}") == "302208");
  CHECK(s[1].facts.command_line == "CacheP +RTS -hc -i0.02");
  const std::string text = test_data("runtime_state/ghc.hp");
  check_cuts(kGhcHeap, text, 1);
  check_disguises(kGhcHeap, text);
}
