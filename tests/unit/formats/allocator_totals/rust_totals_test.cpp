#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

TEST_CASE("stats-alloc: live is what was allocated, less what was freed, with what realloc() added") {
  const std::vector<Snapshot> s = read_data("allocator_totals/rust-stats.log");
  REQUIRE(s.size() == 12);
  CHECK(s[0].facts.format == "stats-alloc");
  CHECK(counter(s[11], "in_use") == 16658476 - 14621972 + 6080);
  CHECK(counter(s[11], "blocks_in_use") == 11352 - 9945);
  check_disguises(formats::kRustTotals, test_data("allocator_totals/rust-stats.log"));
  check_line_cuts(formats::kRustTotals,
                  "Stats { allocations: 3, deallocations: 1, reallocations: 0, bytes_allocated: 30, "
                  "bytes_deallocated: 10, bytes_reallocated: 2 }\nStats { allocations: 4\n");
}
