#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& python() { return formats::kPythonMalloc; }

}  // namespace

TEST_CASE("python-malloc: classes add up to the allocated blocks, the parts to Total") {
  const std::vector<Snapshot> series = read_ok(python(), test_data("allocator_totals/python.txt"));
  REQUIRE(series.size() == 3);
  const std::int64_t allocated[] = {4631136, 5774912, 6918688};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(total(series[i], "inuse_space") == allocated[i]);
    CHECK(counter(series[i], "in_use") == allocated[i]);
    CHECK(series[i].facts.notes.empty());
    CHECK(series[i].facts.complete);
  }
  CHECK(rows(series[0]).at("size class 64 {type=size class 64}") == "20579 1317056");
  CHECK(counter(series[0], "free") == 315440 + 180224);
  CHECK(counter(series[0], "metadata") == 14592 + 19568 + 81920);
  CHECK(counter(series[0], "system") == 5242880);
  CHECK(counter(series[2], "arenas") == 8);
}

TEST_CASE("python-malloc: what does not add up, and what is cut, is said") {
  const std::string heading =
      "class   size   num pools   blocks in use  avail blocks\n-----   ----   ---------\n    0     16  1  10  5\n\n";
  const std::string sums =
      "# bytes in allocated blocks        =            170\nTotal                              =            170\n";
  CHECK(has_note(read_one(python(), heading + sums), "classes do not add up"));
  CHECK(read_one(python(), heading).facts.partial);
  CHECK(read_error(python(), "nothing\n").find("num pools") != std::string::npos);
  CHECK(read_error(python(), heading + "    1     9223372036854775807  1  10  5\n").find("2^63-1") !=
        std::string::npos);
  const std::string text = test_data("allocator_totals/python.txt");
  check_disguises(python(), text);
  check_cuts(python(), text.substr(0, 5000), 41);
}
