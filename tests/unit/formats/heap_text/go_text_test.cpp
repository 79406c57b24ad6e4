#include <catch2/catch.hpp>
#include <string>

#include "unit/formats/heap_text/helpers.hpp"

using snapdiff::Counter;
using snapdiff::Sampling;
using snapdiff::Severity;
using snapdiff::Snapshot;
using namespace snapdiff::test;
using Row = std::vector<std::int64_t>;

TEST_CASE("go text: comments name the addresses, numbers are estimated with half the period") {
  const Snapshot s = import_ok("go-text",
                               "heap profile: 1: 524288 [3: 1572864] @ heap/1048576\n"
                               "1: 524288 [3: 1572864] @ 0x4b3c0b 0x4b3c85 0x437452\n"
                               "#\t0x4b3c0a\tmain.newBody+0x2a\t\t/src/goq/main.go:19\n"
                               "#\t0x4b3c84\tmain.(*queue[...]).leak.func1+0x44\t/src/my goq/main.go:24\n"
                               "\n\n"
                               "# runtime.MemStats\n"
                               "# HeapSys = 7471104\n"
                               "# NumGC = 4\n"
                               "# LastGC = 1795245125206378645\n"
                               "# PauseNs = [93209 23436]\n"
                               "# DebugGC = false\n");
  // Worked out by hand: 1/(1 - 1/e) = 1.58198.
  CHECK(rows(s) ==
        std::map<std::string, Row>{{"main.newBody:19;main.(*queue[...]).leak.func1:24", {1, 829411, 4, 2488234}}});
  CHECK(s.facts.producer == "go");
  CHECK(s.facts.period == 524288);
  CHECK(s.facts.sampling == Sampling::poisson);
  CHECK(s.facts.format_detail == "heap");
  CHECK(s.facts.counters == std::vector<Counter>{{"HeapSys", 7471104, "bytes", false},
                                                 {"NumGC", 4, "count", true},
                                                 {"LastGC", 1795245125206378645, "nanoseconds", false}});
  CHECK(s.facts.notes.empty());
  const auto& d = *s.dictionary;
  CHECK(d.strings[d.functions.file[2]] == "/src/my goq/main.go");
}

TEST_CASE("go text: old Go printed the return address itself") {
  const Snapshot s = import_ok("go-text",
                               "heap profile: 1: 8 [1: 9] @ heap/2\n1: 8 [1: 8] @ 0x1101 0x1201\n"
                               "#\t0x1101\tmain.f+0x1\t/m.go:1\n# 0x1201  main.g+0x2   /m.go:2\n");
  CHECK(rows(s) == std::map<std::string, Row>{{"main.f:1;main.g:2", {1, 8, 1, 8}}});
}

TEST_CASE("go text: frames without symbol stay addresses") {
  const Snapshot s = import_ok("go-text", "heap profile: 1: 8 [1: 9] @ heap/2\n1: 8 [1: 8] @ 0x1101\n#\t0x1100\n");
  CHECK(rows(s).begin()->first == "0x1100");
}

TEST_CASE("go text: MemProfileRate 0 and header-only dumps") {
  const Snapshot s = import_ok("go-text", "heap profile: 0: 0 [0: 0] @ heap/0\n\n# runtime.MemStats\n# Sys = 9\n");
  CHECK(s.samples.size() == 0);
  CHECK(s.facts.sampling == Sampling::unknown);
}

TEST_CASE("go text: every allocation recorded, known from the program's source") {
  const Snapshot s = import_ok("go-text", data_file("go_text/goq/all.txt"));
  CHECK(s.facts.sampling == Sampling::exact);
  const auto all = rows(s);
  CHECK(all.at("main.newBody:19;main.leakBacklog:24;main.main:50;runtime.main:250") ==
        Row{10000, 5120000, 10000, 5120000});
  CHECK(all.at("main.newBody:19;main.leakIndex:35;main.leakIndex:31;main.leakIndex:31;main.leakIndex:31;main.main:51;"
               "runtime.main:250") == Row{500, 2048000, 500, 2048000});
  CHECK(all.at("main.leakBacklog:24;main.main:50;runtime.main:250") == Row{10001, 320000 + 98304, 10019, 677624});
  CHECK(total(s, "inuse_space") == 7629832);  // the header's totals
  CHECK(total(s, "inuse_objects") == 20510);
  CHECK(total(s, "alloc_space") == 13051200);
  CHECK_FALSE(s.facts.partial);
}

TEST_CASE("go text: a real sampled dump") {
  const Snapshot s = import_ok("go-text", data_file("go_text/goq/sampled.txt"));
  // 15 samples of 512 B and 4 of 4096 B: n R + bytes / 2, less than one byte per million off.
  const auto all = rows(s);
  const auto& backlog = all.at("main.newBody:19;main.leakBacklog:24;main.main:50;runtime.main:250");
  CHECK(backlog[1] == Approx(15 * 524288 + 7680 / 2).epsilon(1e-6));
  CHECK(s.facts.counters.size() == 20);
  CHECK_FALSE(s.facts.partial);
}

TEST_CASE("go text: a file cut between rows is told") {
  const std::string whole = data_file("go_text/goq/sampled.txt");
  const Snapshot sampled = import_ok("go-text", whole.substr(0, whole.find("\n\n") + 2));
  CHECK(sampled.facts.partial);
  CHECK(has_note(sampled, Severity::data_loss, "rows are missing"));
  const std::string exact = data_file("go_text/goq/all.txt");
  const Snapshot all = import_ok("go-text", exact.substr(0, exact.find("\n\n") + 2));
  CHECK(total(all, "inuse_space") == 7629832);
  CHECK(rows(all).count("[unattributed]") == 1);
}

TEST_CASE("go text: a cut comment is not believed") {
  const Snapshot s = import_ok("go-text", "heap profile: 0: 0 [0: 0] @ heap/2\n# HeapSys = 12");
  CHECK(s.facts.counters.empty());
  CHECK(has_note(s, Severity::warning, "no end"));
}
