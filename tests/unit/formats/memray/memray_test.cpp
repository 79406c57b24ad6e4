#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& csv() { return formats::kMemrayCsv; }
const formats::Format& gprof2dot() { return formats::kMemrayGprof2dot; }
const formats::Format& speedscope() { return formats::kMemraySpeedscope; }
const formats::Format& stats() { return formats::kMemrayStats; }

using Rows = std::map<std::string, std::string>;

// Layouts of memray 1.20, src/memray/reporters/transform.py and stats.py; the figures are made up.
const std::string kHeader = "allocator,num_allocations,size,tid,thread_name,stack_trace\r\n";
const std::string kCsv = kHeader +
                         "MALLOC,3,300,0x1,main,leaf;a.py;3|main;b.py;9\r\n"
                         "MMAP,1,4096,0x1,main,leaf;a.py;3|main;b.py;9\r\n"
                         "MALLOC,2,50,0x7f,,leaf;a.py;3|main;b.py;9\r\n"
                         "MALLOC,1,100,0x1,main,leaf;a.py;3|main;b.py;9\r\n";

const std::string kGprof2dot =
    R"({"version": 0, "costs": [{"description": "Memory", "unit": "bytes"}], "events": [)"
    R"({"callchain": [0, 1], "cost": [300]}, {"callchain": [0, 1], "cost": [4096]}, {"callchain": [1], "cost": [7]}],)"
    R"( "functions": [{"name": "leaf", "module": "a.py"}, {"name": "main", "module": "b.py"}]})";

const std::string kSpeedscope =
    R"({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [)"
    R"({"name": "main", "file": "b.py", "line": 9}, {"name": "leaf", "file": "a.py", "line": 3}, {"name": "native"}]},)"
    R"( "profiles": [{"type": "sampled", "name": "Memory", "unit": "bytes", "startValue": 0, "endValue": 4403,)"
    R"( "samples": [[0, 1], [0, 2]], "weights": [4396, 7]}, {"type": "sampled", "name": "Allocations", "unit": "none",)"
    R"( "startValue": 0, "endValue": 5, "samples": [[0, 1]], "weights": [4]}], "exporter": "memray@1.20.0"})";

const std::string kStats =
    R"({"total_num_allocations": 12, "total_bytes_allocated": 5000, "allocation_size_histogram": [)"
    R"({"min_bytes": 0, "max_bytes": 10, "count": 12}], "allocator_type_distribution": {"MALLOC": 11, "MMAP": 1},)"
    R"( "top_allocations_by_size": [{"location": "leaf:a.py:3", "size": 4096}], "metadata": {"peak_memory": 4500,)"
    R"( "pid": 77, "command_line": "memray run x.py", "has_native_traces": false}})";

}  // namespace

TEST_CASE("memray-csv: stacks are leaf first, allocators and threads are labels, equal rows are added") {
  const Snapshot s = read_one(csv(), kCsv);
  const std::string stack = "leaf@a.py:3 < main@b.py:9";
  CHECK(rows(s) == Rows{{stack + " {allocator=MALLOC thread=main}", "4 400"},
                        {stack + " {allocator=MMAP thread=main}", "1 4096"},
                        {stack + " {allocator=MALLOC thread=0x7f}", "2 50"}});
  CHECK(has_note(s, "does not say whether it holds the peak"));
  CHECK(s.facts.complete);
}

TEST_CASE("memray-csv: quotes, line ends, commas, bars and semicolons inside names") {
  const Snapshot s =
      read_one(csv(), kHeader +
                          "MALLOC,1,8,0x1,\"say \"\"hi\"\", you\",\"f;a;b|c.py;3|g;x\ny.py;4|h;z.py;5\"\r\n"
                          "MALLOC,1,16,0x1,t,\r\nMALLOC,1,32,0x1,t,no place\r\n");
  CHECK(rows(s) == Rows{{"f;a@b|c.py:3 < g@x\ny.py:4 < h@z.py:5 {allocator=MALLOC thread=say \"hi\", you}", "1 8"},
                        {"[no stack recorded] {allocator=MALLOC thread=t}", "1 16"},
                        {"no place {allocator=MALLOC thread=t}", "1 32"}});
  CHECK(has_note(s, "frames without file and line"));
}

TEST_CASE("memray-csv: malformed records are refused with their place") {
  const Series few = read_series(csv(), kHeader + "MALLOC,1\n");
  REQUIRE(few.error.has_value());
  CHECK(few.error->offset == kHeader.size());
  CHECK(few.error->message == "record not readable: found 2 fields, expected 6");
  CHECK(read_error(csv(), kHeader + "MALLOC,x,1,0,t,s;a;1\n").find("numbers not readable: found \"x\"") !=
        std::string::npos);
  CHECK(read_error(csv(), kHeader + "MALLOC,1,99999999999999999999,0,t,s;a;1\n").find("expected num_allocations") !=
        std::string::npos);
  CHECK(read_error(csv(), kHeader + "\"M\"x,1,1,0,t,s;a;1\n").find("text after a closing quote") != std::string::npos);
  CHECK(read_error(csv(), "a,b\n").find("header not recognised") != std::string::npos);
}

TEST_CASE("memray-csv: every cut inside a record is refused or told, windows, LF and a mark change nothing") {
  for (std::size_t size = 0; size < kCsv.size(); ++size) {
    const Series cut = read_series(csv(), std::string_view(kCsv).substr(0, size));
    CAPTURE(size);
    // A cut between two records leaves no trace: the file has no end mark.
    const bool between = size > 0 && kCsv[size - 1] == '\n';
    CHECK((cut.error || between || cut.snapshots.at(0).facts.partial));
  }
  const std::string plain = describe(read_ok(csv(), kCsv));
  CHECK(describe(read_series(csv(), kCsv, 3).snapshots) == plain);
  CHECK(describe(read_ok(csv(), "\xef\xbb\xbf" + kCsv)) == plain);
  std::string lf = kCsv;
  lf.erase(std::remove(lf.begin(), lf.end(), '\r'), lf.end());
  CHECK(describe(read_ok(csv(), lf)) == plain);
}

TEST_CASE("memray-gprof2dot: call chains are leaf first, bytes only") {
  const Snapshot s = read_one(gprof2dot(), kGprof2dot);
  CHECK(rows(s) == Rows{{"leaf@a.py < main@b.py", "4396"}, {"main@b.py", "7"}});
  CHECK(s.column("inuse_objects") == nullptr);
}

TEST_CASE("memray-gprof2dot: versions, units, indices") {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = kGprof2dot;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(read_error(gprof2dot(), changed("\"version\": 0", "\"version\": 1")).find("found 1, expected 0") !=
        std::string::npos);
  CHECK(read_error(gprof2dot(), changed("\"bytes\"", "\"seconds\"")).find("expected unit bytes") != std::string::npos);
  CHECK(read_error(gprof2dot(), changed("[0, 1]", "[0, 2]")).find("function out of range: found 2") !=
        std::string::npos);
  CHECK(read_error(gprof2dot(), changed("[300]", "[-3]")).find("cost below 0") != std::string::npos);
  check_cuts(gprof2dot(), kGprof2dot, 1);
}

TEST_CASE("memray-speedscope: samples are root first, two profiles are two columns") {
  const Snapshot s = read_one(speedscope(), kSpeedscope);
  CHECK(rows(s) == Rows{{"leaf@a.py:3 < main@b.py:9", "4396 4"}, {"native < main@b.py:9", "7 0"}});
  CHECK(s.facts.producer == "memray@1.20.0");
  CHECK(s.samples.columns[0].type.name == "inuse_space");
}

TEST_CASE("memray-speedscope: profiles that are not of memory, weights that are missing, frames out of range") {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = kSpeedscope;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(read_error(speedscope(), changed("\"bytes\"", "\"seconds\"")).find("expected a sampled one in bytes") !=
        std::string::npos);
  CHECK(read_error(speedscope(), changed("[4396, 7]", "[4396]")).find("samples and weights differ: found 2 and 1") !=
        std::string::npos);
  CHECK(read_error(speedscope(), changed("[0, 2]", "[0, 3]")).find("frame out of range: found 3") != std::string::npos);
  CHECK(read_error(speedscope(), changed("[4396, 7]", "[4396, -7]")).find("weight below 0") != std::string::npos);
  check_cuts(speedscope(), kSpeedscope, 1);
}

TEST_CASE("memray-stats: totals of the run are counters, there are no rows") {
  const Snapshot s = read_one(stats(), kStats);
  CHECK(s.samples.columns.empty());
  CHECK(counter(s, "allocs") == 12);
  CHECK(counter(s, "allocated") == 5000);
  CHECK(counter(s, "peak_memory") == 4500);
  CHECK(counter(s, "allocs{allocator=MMAP}") == 1);
  CHECK(s.facts.pid == 77);
  CHECK(s.facts.command_line == "memray run x.py");
  for (const Counter& one : s.facts.counters) CHECK(one.cumulative == (one.name != "peak_memory"));
  CHECK(read_error(stats(), "{}").find("no figures of memray stats") != std::string::npos);
}

TEST_CASE("memray: each export is claimed by its own reader and by no other") {
  const std::pair<const formats::Format*, const std::string*> exports[] = {
      {&csv(), &kCsv}, {&gprof2dot(), &kGprof2dot}, {&speedscope(), &kSpeedscope}, {&stats(), &kStats}};
  for (const auto& [reader, text] : exports) {
    for (const auto& other : exports) {
      CHECK(other.first->sniff(*text) == (other.first == reader ? Match::certain : Match::no));
    }
  }
}

TEST_CASE("memray-html: the page of --leaks says what the CSV of --leaks says, row by row") {
  const Snapshot s = read_data_of("memray/flamegraph-leaks.html.gz", formats::kMemrayHtml);
  CHECK(total(s, "inuse_space") == 171072);
  CHECK(total(s, "inuse_objects") == 104);
  CHECK(has_note(s, "never freed"));
}

TEST_CASE("memray-html: --temporal is a series that ends with what leaked") {
  const std::vector<Snapshot> s = read_data("memray/flamegraph-temporal.html.gz");
  CHECK(total(s.back(), "inuse_space") == 171072);
}

TEST_CASE("memray-html: a node has what its children do not have, and damage is refused") {
  const std::string head = "<html><title>memray - flamegraph report</title><script> const packed_data = ";
  const std::string page =
      head + R"({"nodes":{"children":[[1],[2],[]],"function":[0,1,2],"filename":[0,3,3],"lineno":[0,5,6],)"
             R"("value":[30,30,10],"n_allocations":[3,3,1]},"strings":["","&lt;module&gt;","f","a.py"]};)";
  const formats::Format& html = formats::kMemrayHtml;
  CHECK(html.sniff(page) == Match::certain);
  CHECK(rows(read_one(html, page)) == Rows{{"<module>@a.py:5", "2 20"}, {"f@a.py:6 < <module>@a.py:5", "1 10"}});
  CHECK(read_error(html, head).find("no nodes") != std::string::npos);
  CHECK(read_error(html, "<html>").find("page without its data") != std::string::npos);
  std::string cycle = page;
  cycle.replace(cycle.find("[[1],[2],[]]"), 12, "[[1],[1],[]]");
  CHECK(read_error(html, cycle).find("out of range") != std::string::npos);
  std::string less = page;
  less.replace(less.find("[30,30,10]"), 10, "[30,30,40]");
  CHECK(read_error(html, less).find("less than its children") != std::string::npos);
  for (std::size_t size = head.size(); size + 2 < page.size(); ++size)
    CHECK(read_series(html, page.substr(0, size)).error.has_value());
}
