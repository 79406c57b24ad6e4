#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <vector>

#include "snapdiff/event_log.hpp"

using namespace snapdiff;

TEST_CASE("event log: gives back every event, from any index on") {
  std::mt19937_64 random(7);
  std::vector<TraceEvent> truth;
  EventLog log;
  for (int i = 0; i < 50'000; ++i) {
    TraceEvent e;
    e.action = static_cast<TraceAction>(random() % 10);
    e.stream = static_cast<std::uint32_t>(random() % 20 == 0 ? random() : 0);
    e.pool = static_cast<std::uint32_t>(random() % 3);
    e.stack = StackId{static_cast<std::uint32_t>(random() % 100)};
    e.address = random() % 50 == 0 ? random() : 0x7f0000000000 + random() % 100'000 * 512;
    e.size = static_cast<std::int64_t>(random() % 50 == 0 ? random() >> 1 : random() % 4096);
    if (random() % 4 != 0) e.time_us = 1'700'000'000'000'000 + i;
    if (random() % 1000 == 0) e.time_us = (std::int64_t{1} << 62) - 1;
    if (random() % 1000 == 0) e.time_us = 1 - (std::int64_t{1} << 62);
    truth.push_back(e);
    log.append(e);
  }
  REQUIRE(log.size() == truth.size());
  for (const std::size_t from : std::vector<std::size_t>{0, 1, 4095, 4096, 4097, 30'000, 49'999, 50'000}) {
    EventLog::Reader reader = log.read_from(from);
    TraceEvent event;
    std::size_t at = from;
    for (; reader.next(event); ++at) {
      if (!(event == truth[at])) FAIL("event " << at << " from " << from);
    }
    CHECK(at == truth.size());
  }
}

TEST_CASE("event log: an empty one has no events") {
  const EventLog log;
  TraceEvent event;
  EventLog::Reader reader = log.read_from(0);
  CHECK_FALSE(reader.next(event));
}
