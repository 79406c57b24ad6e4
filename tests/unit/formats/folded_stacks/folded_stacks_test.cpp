#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& folded() { return formats::kFoldedStacks; }

using Rows = std::map<std::string, std::string>;

const std::string kPlain = "main;handle;alloc 4096\nmain;operator new[](unsigned long) 12\n[unattributed] 3\n";
const std::string kAustin =
    "# austin: 3.7.0\n# interval: 5000\n# mode: memory\n# memory: 2000\n\n"
    "P7;T0:9;/srv/app.py:main:27;<frozen os>:f:3 4096\nP7;T0:9;/srv/app.py:main:27;<frozen os>:f:3 -96\nP7;T0:9 -8\n";

}  // namespace

TEST_CASE("folded-stacks: sums of real files") {
  const Snapshot live = read_data_of("folded_stacks/alloc-live.collapsed", folded());
  CHECK(total(live, "value") == 40040);
  CHECK(has_note(live, "values without a unit"));
  CHECK(live.facts.producer == "async-profiler");
  bool has_type = false;
  for (const auto& [stack, value] : rows(live)) has_type = has_type || stack.ends_with("{type=java.lang.String}");
  CHECK(has_type);

  const Snapshot native = read_data_of("folded_stacks/nativemem-leak.bytes.collapsed.gz", folded());
  CHECK(total(native, "bytes") == 1463681);
  CHECK(native.column("bytes")->type.unit == "bytes");

  const Snapshot austin = read_data_of("folded_stacks/grow.austin.gz", folded());
  CHECK(total(austin, "rss_change") == 18653184);
  CHECK(counter(austin, "peak_rss") == 24684084);
}

TEST_CASE("folded-stacks: root first, one frame in brackets is a pseudo frame") {
  const Snapshot s = read_one(folded(), kPlain);
  CHECK(rows(s) == Rows{{"alloc < handle < main", "4096"},
                        {"operator new[](unsigned long) < main", "12"},
                        {"[unattributed]", "3"}});
  CHECK(s.facts.sampling == Sampling::unknown);
}

TEST_CASE("folded-stacks: austin's frames have file and line, its numbers may be negative") {
  const Snapshot s = read_one(folded(), kAustin);
  CHECK(rows(s) == Rows{{"f@<frozen os>:3 < main@/srv/app.py:27", "4000"}, {"[no stack recorded]", "-8"}});
  CHECK(s.facts.pid == 7);
  CHECK(s.facts.is_diff);
  CHECK(read_error(folded(), "# austin: 3.7.0\n# mode: wall\n\nP7;T0:9;a.py:f:3 5\n").find("profile of time") !=
        std::string::npos);
}

TEST_CASE("folded-stacks: marks of how a frame ran are cut off, growth that snapdiff exported comes back") {
  CHECK(rows(read_one(folded(), "a_[0];b_[j];c_[k] 5\na_[j];b_[i];d_[x] 6\n")) ==
        Rows{{"c < b < a", "5"}, {"d_[x] < b < a", "6"}});
  CHECK(rows(read_one(folded(), "java/lang/Thread.run;a/B$C.m;/lib/x.so 5\n")) ==
        Rows{{"/lib/x.so < a.B$C.m < java.lang.Thread.run", "5"}});
  CHECK(rows(read_one(folded(), "net/http.serve;main 5\n")) == Rows{{"main < net/http.serve", "5"}});
  const Snapshot s = read_one(folded(), "[grew];main;f 10\n[shrank];main;g 4\n");
  CHECK(rows(s) == Rows{{"f < main", "10"}, {"g < main", "-4"}});
  CHECK(s.facts.is_diff);
}

TEST_CASE("folded-stacks: lines of logs and tables are none") {
  CHECK(folded().sniff(kPlain) == Match::certain);
  CHECK(folded().sniff(kAustin) == Match::certain);
  CHECK(folded().sniff("[main tid=7];a;b 5\n[pool tid=8];a;b 6\n") == Match::certain);
  std::string requests, threads;
  for (int i = 0; i < 20; ++i) {
    requests += "GET /page/" + std::to_string(i) + " user=a;lang=de " + std::to_string(200 + i) + "\n";
    threads += "[t" + std::to_string(i % 5) + "];run;f" + std::to_string(i) + " 7\n";
  }
  CHECK(folded().sniff(requests) == Match::possible);
  CHECK(folded().sniff(threads) == Match::certain);
  // The same stack again, or a line alone: no proof.
  CHECK(folded().sniff("app;cache;size 100\napp;cache;size 120\n") == Match::possible);
  CHECK(folded().sniff("main;f 4\n") == Match::possible);
  for (const std::string_view log : {"2026-11-26 10:00:00;INFO;heap 123\n2026-11-26 10:00:01;INFO;cache 124\n",
                                     "10:00:00;heap 123\n10:00:01;rss 1\n", "step; loss; 12\nstep; loss; 11\n",
                                     "cache size 12\nheap;size 13\nrss;size 9\n", "name;size\na;b 12\nc;d 13\n",
                                     "heap 1\nrss 2\na;b 3\n", "a;;b 3\na;c 4\n", "a;b 10 20\na;c 11 24\n",
                                     "1;2;3 4\n5;6;7 8\n", "a;b 1.5\nc;d 2.5\n", "main;f 3\nnot a stack\nmain;g 4\n"}) {
    CAPTURE(log);
    CHECK(folded().sniff(log) == Match::no);
  }
}

TEST_CASE("folded-stacks: what is no stack is refused with its place") {
  CHECK(read_error(folded(), "main;f 3\nno number\n").find("found \"no number\"") != std::string::npos);
  CHECK(read_error(folded(), "\n\n").find("no stack") != std::string::npos);
}

TEST_CASE("folded-stacks: every cut is refused, told, or loses nothing, disguises change nothing") {
  check_line_cuts(folded(), kPlain);
  check_line_cuts(folded(), kAustin);
  check_disguises(folded(), kPlain);
}

TEST_CASE("folded-stacks: fil's frames have a file and a line, its values are bytes at the peak") {
  const Snapshot s = read_data_of("folded_stacks/fil.prof", formats::kFoldedStacks);
  CHECK(total(s, "inuse_space") == 4014637);
  CHECK(s.facts.producer == "fil");
  CHECK(rows(s).at("_shutdown@/usr/lib/python3.11/threading.py:1051") == "222");
}

TEST_CASE("folded-stacks: fil's row without a Python stack is a pseudo frame") {
  const std::string text = "/a.py:1 (f);/a.py:2 (g) 30\n[No Python stack] 12\n";
  CHECK(formats::kFoldedStacks.sniff(text) == Match::certain);
  CHECK(total(read_one(formats::kFoldedStacks, text), "inuse_space") == 42);
}

TEST_CASE("folded-stacks: heaptrack_print ends each stack with a semicolon and has files in brackets") {
  const Snapshot s = read_data_of("folded_stacks/heaptrack-leaked.folded", folded());
  CHECK(total(s, "value") == 758400);
  CHECK(s.facts.producer == "heaptrack");
  CHECK(rows(read_one(folded(), "main (a.cpp);leak(int) (a.cpp); 7\nmain (a.cpp);f; 8\n")) ==
        Rows{{"leak(int)@a.cpp < main@a.cpp", "7"}, {"f < main@a.cpp", "8"}});
}
