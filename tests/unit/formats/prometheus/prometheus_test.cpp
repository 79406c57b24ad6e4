#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& metrics() { return formats::kPrometheus; }

}  // namespace

TEST_CASE("prometheus: text of a client library: bytes and gauges, no times, no counts of events") {
  const Snapshot s = read_data_of("prometheus/python.prom", metrics());
  CHECK(counter(s, "cache_entries{cache=users}") == 1234);
  CHECK(counter(s, "cache_size_bytes{cache=users}") == 5'500'000);
  CHECK(counter(s, "process_resident_memory_bytes").has_value());
  CHECK_FALSE(counter(s, "process_cpu_seconds_total"));
  CHECK_FALSE(counter(s, "python_gc_objects_collected_total{generation=0}"));
  check_disguises(metrics(), test_data("prometheus/python.prom"));
  check_line_cuts(metrics(), test_data("prometheus/python.prom"));
}

TEST_CASE("prometheus: labels with braces and escapes, times, a second scrape is the next moment") {
  const std::string text =
      "# TYPE go_memstats_alloc_bytes gauge\ngo_memstats_alloc_bytes{path=\"/a}\\\"b\",} 2.2745088e+07 1700000000000\n"
      "# TYPE go_memstats_alloc_bytes_total counter\ngo_memstats_alloc_bytes_total 5e+09\n"
      "# TYPE go_gc_duration_seconds summary\ngo_gc_duration_seconds{quantile=\"0\"} 1\ngo_gc_duration_seconds_sum 2\n"
      "go_memstats_alloc_bytes{path=\"/a}\\\"b\"} +Inf\n";
  const Snapshot s = read_one(metrics(), text);
  CHECK(counter(s, "go_memstats_alloc_bytes{path=/a}\"b}") == 22745088);
  CHECK(s.facts.taken_at_ns == 1'700'000'000'000'000'000);
  CHECK(s.facts.counters.size() == 2);
  CHECK(s.facts.counters[0].cumulative);
  CHECK(read_ok(metrics(), text + text).size() == 2);
}

TEST_CASE("prometheus: answers of query_range are a series, of an expression the unit is unknown") {
  const std::vector<Snapshot> s = read_data("prometheus/query_range.json");
  REQUIRE(s.size() == 3);
  CHECK(counter(s[0], "process_resident_memory_bytes{instance=a:9090,job=api}") == 1'000'000);
  CHECK(counter(s[0], "process_resident_memory_bytes{instance=b:9090,job=api}") == 700);
  CHECK(s[2].facts.counters.size() == 1);
  CHECK(s[2].facts.taken_at_ns == 1'700'000'120'500'000'000);
  const Snapshot one = read_data_of("prometheus/query.json", metrics());
  CHECK(counter(one, "value{pod=api-0}") == 52428800);
  CHECK(one.facts.counters.at(0).unit.empty());
}

TEST_CASE("prometheus: other text is none, damage is refused") {
  CHECK(metrics().sniff("# a comment\nrss 5\n") == Match::no);
  CHECK(read_error(metrics(), "# TYPE a counter\na 5\n").find("no metric about memory") != std::string::npos);
  check_cuts(metrics(), test_data("prometheus/query_range.json"), 7);
}

TEST_CASE("prometheus: a server's own answers and metrics") {
  const std::string own = "{instance=127.0.0.1:19090,job=own}";
  const std::vector<Snapshot> s = read_data("prometheus/server.query_range.json");
  REQUIRE(s.size() == 9);
  CHECK(counter(s.front(), "process_resident_memory_bytes" + own) == 44126208);
  CHECK(counter(s.back(), "process_resident_memory_bytes" + own) == 49369088);
  CHECK(counter(s.back(), "go_memstats_heap_alloc_bytes" + own) == 12906352);
  CHECK(s.back().facts.taken_at_ns == 1795769730'000'000'000);
  CHECK(counter(read_data_of("prometheus/server.query.json", metrics()), "process_resident_memory_bytes" + own) ==
        49500160);
  const Snapshot text = read_data_of("prometheus/server.prom.gz", metrics());
  CHECK(counter(text, "go_memstats_heap_alloc_bytes") == 13356232);
  CHECK(counter(text, "process_resident_memory_bytes") == 50028544);
}
