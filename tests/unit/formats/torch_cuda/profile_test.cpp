#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "formats/registry.hpp"

using namespace snapdiff;

namespace {

Result<std::vector<Snapshot>> read_profile_text(const std::string& text) {
  return formats::read_bytes(text, "trace.json", {});
}

std::map<std::string, std::int64_t> counters(const Snapshot& s) {
  std::map<std::string, std::int64_t> out;
  for (const Counter& counter : s.facts.counters) out[counter.name] = counter.value;
  return out;
}

/// A memory event in the layout of torch.profiler, keys in the order that it writes.
std::string memory(const std::string& ts, int type, int device, const std::string& bytes, const std::string& allocated,
                   const std::string& reserved) {
  return R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 0, "tid": 0, "ts": )" + ts +
         R"(, "args": {"Total Reserved": )" + reserved + R"(, "Total Allocated": )" + allocated + R"(, "Bytes": )" +
         bytes + R"(, "Addr": 139904, "Device Id": )" + std::to_string(device) + R"(, "Device Type": )" +
         std::to_string(type) + R"(, "Ev Idx": 3}})";
}

std::string trace(const std::string& events, const std::string& head = R"("schemaVersion": 1, )") {
  return "{" + head +
         R"("traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2, "args": {}},)" +
         events + "]}";
}

}  // namespace

TEST_CASE("torch-profile: totals of each device after each memory event") {
  const auto all = read_profile_text(
      trace(memory("2.5", 1, 0, "1024", "1024", "2097152") + "," + memory("1.25", 0, -1, "64", "64", "0") + "," +
            memory("9", 1, 1, "512", "512", "2097152") + "," + memory("10", 1, 0, "-1024", "0", "2097152")));
  REQUIRE(all);
  REQUIRE(all->size() == 4);
  CHECK((*all)[0].facts.format == "torch-profile");
  CHECK(counters((*all)[0]) ==
        std::map<std::string, std::int64_t>{{"allocated{device=cpu}", 64}, {"reserved{device=cpu}", 0}});
  CHECK(counters((*all)[1]).at("allocated{device=cuda:0}") == 1024);
  CHECK(counters((*all)[3]) == std::map<std::string, std::int64_t>{{"allocated{device=cpu}", 64},
                                                                   {"reserved{device=cpu}", 0},
                                                                   {"allocated{device=cuda:0}", 0},
                                                                   {"reserved{device=cuda:0}", 2097152},
                                                                   {"allocated{device=cuda:1}", 512},
                                                                   {"reserved{device=cuda:1}", 2097152}});
  CHECK_FALSE((*all)[0].facts.taken_at_ns.has_value());
}

TEST_CASE("torch-profile: times are dates where they are, or where a base is recorded") {
  const auto old = read_profile_text(trace(memory("1700000000000005.75", 1, 0, "1", "1", "2")));
  REQUIRE(old);
  CHECK(old->front().facts.taken_at_ns == 1'700'000'000'000'005'000);
  const auto based =
      read_profile_text(trace(memory("5.75", 1, 0, "1", "1", "2"), R"("baseTimeNanoseconds": 1700000000000000000, )"));
  REQUIRE(based);
  CHECK(based->front().facts.taken_at_ns == 1'700'000'000'000'005'000);
}

TEST_CASE("torch-profile: the fullest moment and the last stay of many") {
  std::string events;
  for (int i = 0; i < 20'000; ++i)
    events += (i == 0 ? "" : ",") +
              memory(std::to_string(i), 1, 0, "1", i == 12'345 ? "99999" : std::to_string(i % 7), "99999");
  const auto all = read_profile_text(trace(events));
  REQUIRE(all);
  CHECK(all->size() <= 2000);
  std::int64_t most = 0;
  for (const Snapshot& s : *all) most = std::max(most, counters(s).at("allocated{device=cuda:0}"));
  CHECK(most == 99'999);
  CHECK(counters(all->back()).at("allocated{device=cuda:0}") == 19'999 % 7);
}

TEST_CASE("torch-profile: a Chrome trace without memory events is refused by name") {
  const auto none = read_profile_text(R"({"traceEvents": [{"ph": "X", "name": "f", "ts": 1}]})");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::unsupported);
  CHECK(none.error().message.find("this is a Chrome trace without memory events") != std::string::npos);
}

TEST_CASE("torch-profile: cut off at any byte, and with odd values, it is an error or less, never a crash") {
  const std::string whole = trace(memory("1", 1, 0, "5", "5", "6") + ",3,[1],{\"name\":7,\"args\":[]}");
  REQUIRE(read_profile_text(whole));
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(read_profile_text(whole.substr(0, n)));
  CHECK_FALSE(read_profile_text(trace(memory("1e30", 1, 0, "5", "5", "6"))));
  CHECK_FALSE(read_profile_text(trace(memory("1", 1, 0, "5", "-5", "-6"))));
}
