#include <catch2/catch.hpp>

#include "unit/formats/metric_log/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Values = std::vector<std::int64_t>;

namespace {

std::string all_steps(const std::string& name, const std::string& extension) {
  std::string out;
  for (const char* step : {"0", "1", "2"}) out += sample(name + step + extension) + "\n";
  return out;
}

// The numbers that were fed to PyTorch's formatter, step by step.
constexpr std::int64_t kLeak = 33554432;

}  // namespace

TEST_CASE("memory_summary: tables are cut numbers of memory_stats under the same names") {
  const auto tables = read_log(all_steps("constructed-memory_summary-step", ".txt"));
  const auto dicts = read_log(all_steps("constructed-memory_stats-step", ".json"));
  REQUIRE(tables.size() == 3);
  REQUIRE(dicts.size() == 3);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const Counter& printed : tables[i].facts.counters) {
      const std::string name = printed.name.substr(0, printed.name.find('{'));
      if (name.rfind("requested", 0) == 0) continue;
      const Counter* exact = counter(dicts[i], name);
      INFO(printed.name);
      REQUIRE(exact != nullptr);
      CHECK(printed.unit == exact->unit);
      CHECK(printed.cumulative == exact->cumulative);
      // The sub-rows of counts were made up apart from the totals.
      CHECK(printed.value <= exact->value);
      CHECK(exact->value - printed.value <= 2 * printed.half_unit);
      ++compared;
    }
  }
  CHECK(compared == 3 * (2 + 8 * 12 + 2 * 4));
}

TEST_CASE("memory_summary: allocated memory grows by 32768 KB a step") {
  const auto snapshots = read_log(all_steps("constructed-memory_summary-step", ".txt"));
  CHECK(steps(snapshots, "allocated_bytes.all.current{device=0}") == Values{kLeak, kLeak});
  CHECK(steps(snapshots, "allocation.all.current{device=0}") == Values{1, 1});
  const Counter* allocated = counter(snapshots[0], "allocated_bytes.all.current{device=0}");
  CHECK(allocated->value == 294433 * 1024);
  CHECK(allocated->half_unit == 512);
  CHECK(counter(snapshots[0], "allocation.all.allocated{device=0}")->value == 902000);
  CHECK(counter(snapshots[0], "allocation.all.allocated{device=0}")->half_unit == 500);
  CHECK(snapshots[0].facts.format_detail == "memory_summary");
  CHECK(snapshots[0].facts.producer == "PyTorch");
}

TEST_CASE("memory_summary: tables of 2.x, abbreviated, of another device, inside a log") {
  std::string log =
      "2026-01-02 03:04:05 INFO step 7\n" + sample("constructed-memory_summary-abbrev-step0.txt") + "done\n";
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{" KB |", "KiB |"}, {" MB |", "MiB |"}, {"ID 0", "ID 3"}}) {
    for (std::size_t at = log.find(from); at != std::string::npos; at = log.find(from, at + to.size()))
      log.replace(at, from.size(), to);
  }
  const auto snapshots = read_log(log);
  REQUIRE(snapshots.size() == 1);
  CHECK(snapshots[0].facts.counters.size() == 2 + 10 * 4);
  CHECK(counter(snapshots[0], "allocated_bytes.all.current{device=3}")->value == 294433 * 1024);
  CHECK(snapshots[0].facts.comments == std::vector<std::string>{"step 7"});
  CHECK(snapshots[0].facts.taken_at_ns == 1767323045000000000);
}

TEST_CASE("memory_summary: tables without their columns or without an end are left out") {
  const std::string table = sample("constructed-memory_summary-step0.txt");
  std::string edited = table;
  edited.replace(edited.find("Peak Usage"), 10, "Peak      ");
  auto snapshots = read_log(edited + "\n" + table);
  REQUIRE(snapshots.size() == 1);
  CHECK(noted(snapshots, "without their five columns") == 1);
  snapshots = read_log(table + "\n" + table.substr(0, 2000));
  REQUIRE(snapshots.size() == 1);
  CHECK(noted(snapshots, "without an end") == 1);
  CHECK(snapshots[0].facts.partial);
  CHECK(log_error(table.substr(0, 2000)).text().find("without an end") != std::string::npos);
}

TEST_CASE("memory_stats: JSON on many lines, on one line, as Python prints it, and nested") {
  const std::string json = sample("constructed-memory_stats-step1.json");
  const auto expected = read_log(json);
  REQUIRE(expected.size() == 1);
  CHECK(counter(expected[0], "allocated_bytes.all.current")->value == 301500000 + kLeak);
  CHECK(counter(expected[0], "allocated_bytes.all.current")->unit == "bytes");
  CHECK(counter(expected[0], "allocation.all.allocated")->cumulative);
  CHECK(counter(expected[0], "num_ooms")->cumulative);
  CHECK(counter(expected[0], "max_split_size") == nullptr);
  CHECK_FALSE(expected[0].facts.partial);

  std::string one_line, python, ordered = "OrderedDict([";
  for (const char c : json) {
    if (c == '\n') continue;
    one_line += c;
    python += c == '"' ? '\'' : c;
  }
  for (std::size_t at = json.find('"'); at != std::string::npos; at = json.find('"', at + 1)) {
    const std::size_t end = json.find('"', at + 1);
    const std::size_t stop = json.find_first_of(",\n", end);
    ordered += "('" + json.substr(at + 1, end - at - 1) + "'," + json.substr(end + 2, stop - end - 2) + "), ";
    at = end;
  }
  ordered += "])";
  for (const std::string& log : {one_line + "\n", "step 3: " + python + "\n", "stats = " + ordered + "\n"}) {
    const auto snapshots = read_log(log);
    REQUIRE(snapshots.size() == 1);
    CHECK(snapshots[0].facts.counters == expected[0].facts.counters);
  }
  const auto nested = read_log(
      "{\"active\": {\"all\": {\"allocated\": 4, \"current\": 1, \"freed\": 3, \"peak\": 2}, \"large_pool\": {\n"
      "\"current\": 1}}, \"active_bytes\": {\"all\": {\"current\": 512}},\n"
      " \"oversize_segments\": {\"current\": 0}, \"num_ooms\": 0}\n");
  REQUIRE(nested.size() == 1);
  CHECK(counters(nested[0]) ==
        "active.all.allocated=4 active.all.current=1 active.all.freed=3 active.all.peak=2 active.large_pool.current=1 "
        "active_bytes.all.current=512 oversize_segments.current=0 num_ooms=0");
}

TEST_CASE("memory_stats: a dictionary a line is a series, other dictionaries are none") {
  std::string log;
  for (const char* step : {"0", "1", "2"}) {
    for (const char c : sample(std::string("constructed-memory_stats-step") + step + ".json")) {
      if (c != '\n') log += c;
    }
    log += "\n";
  }
  CHECK(steps(read_log(log), "reserved_bytes.all.current") == Values{kLeak, kLeak});
  for (const std::string other :
       {"{\"active\": 5, \"segment\": 7}\n", "{\"allocation\": {\"a\": 1}}\n", "{}\n", "{'active': 'yes'}\n"}) {
    CAPTURE(other);
    CHECK(log_error(other).code == ErrorCode::malformed);
  }
}

TEST_CASE("memory_stats: nesting without end, and a dictionary that is cut, are bounded") {
  const std::string deep(10'000, '{');
  CHECK(log_error("{\"allocated_bytes.all.current\": 1, \"x\": " + deep + "\n").code == ErrorCode::malformed);
  const std::string json = sample("constructed-memory_stats-step1.json");
  const auto snapshots = read_log(json + "\n" + json.substr(0, 2000));
  REQUIRE(snapshots.size() == 1);
  CHECK(snapshots[0].facts.partial);
  CHECK(noted(snapshots, "without an end") == 1);
}

TEST_CASE("line tables: each call is a snapshot, each line a counter, line 7 keeps 2 MiB a call") {
  for (const std::string name : {"line-table.txt", "line-table-prec4.txt"}) {
    const auto snapshots = read_log(sample(name));
    REQUIRE(snapshots.size() == 5);
    const std::string tags = "{file=mp_leak.py,function=train_step,line=";
    CHECK(series(snapshots, "increment" + tags + "7}") == Values(5, 2 * 1048576));
    CHECK(counter(snapshots[0], "memory" + tags + "10}")->value == 24 * 1048576);
    CHECK(counter(snapshots[0], "increment" + tags + "9}")->value == -4 * 1048576);
    CHECK(counter(snapshots[0], "occurrences" + tags + "7}")->value == 1);
    CHECK(counter(snapshots[0], "memory" + tags + "5}") == nullptr);
    CHECK(counter(snapshots[0], "memory" + tags + "7}")->half_unit == 52429);
    CHECK_FALSE(snapshots[4].facts.partial);
    const Values memory = series(snapshots, "memory" + tags + "10}");
    CHECK(memory.back() - memory[1] == Approx(3 * 2 * 1048576).margin(200'000));
  }
}

TEST_CASE("line tables: without Occurrences, with wide values, and with sources like values") {
  const auto snapshots = read_log(
      "Filename: a b.py\n\nLine #    Mem usage    Increment   Line Contents\n"
      "================================================\n"
      "     1  123456789.123 MiB  123456789.123 MiB   def f(): # 5.0 MiB\n"
      "     2                             5.0 MiB 6.0 MiB 7\n"
      "     3     22.0 MiB      0.5 MiB   \n\n\n");
  REQUIRE(snapshots.size() == 1);
  CHECK(snapshots[0].facts.counters.size() == 3);  // the first line's increment is the memory at entry
  CHECK(counter(snapshots[0], "increment{file=a b.py,function=f,line=3}")->value == 524288);
  CHECK(counter(snapshots[0], "memory{file=a b.py,function=f,line=1}")->value == 129453826111439);
}
