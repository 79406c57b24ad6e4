#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& scalene() { return formats::kScalene; }

using Rows = std::map<std::string, std::string>;

const std::string kProfile =
    R"({"alloc_samples": 4, "elapsed_time_sec": 1.5, "files": {"a.py": {"functions": [{"line": "f", "lineno": 2,)"
    R"( "n_malloc_mb": 2.5}], "lines": [{"lineno": 1, "start_function_line": 1, "n_malloc_mb": 1},)"
    R"( {"lineno": 3, "start_function_line": 2, "n_malloc_mb": 2.5}, {"lineno": 4, "n_malloc_mb": 0.0}]}},)"
    R"( "max_footprint_mb": 3.0})";

}  // namespace

TEST_CASE("scalene: figures of a real profile") {
  const Snapshot s = read_data_of("scalene/scalene.json.gz", scalene());
  const auto all = rows(s);
  REQUIRE(all.size() == 1);
  CHECK(all.begin()->first.starts_with("answer@"));
  CHECK(all.begin()->first.ends_with("/grow.py:13"));
  CHECK(total(s, "alloc_space") == 23134732);  // 22.062999725341797 * 1048576
  CHECK(counter(s, "max_footprint") == 23134732);
}

TEST_CASE("scalene: a row for each line that allocated, in its function") {
  CHECK(rows(read_one(scalene(), kProfile)) == Rows{{"<module>@a.py:1", "1048576"}, {"f@a.py:3", "2621440"}});
}

TEST_CASE("scalene: other JSON is none, damage is refused") {
  CHECK(scalene().sniff(kProfile) == Match::certain);
  CHECK(scalene().sniff(R"({"alloc_samples": 4})") == Match::no);
  CHECK(read_error(scalene(), R"({"alloc_samples": 4})").find("no lines") != std::string::npos);
  CHECK(read_error(scalene(), R"({"files":{"a":{"lines":[{"n_malloc_mb":-1}]}}})").find("size not readable") !=
        std::string::npos);
  check_cuts(scalene(), kProfile, 1);
  check_disguises(scalene(), kProfile);
}
