#include <libdeflate.h>

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "analyzer/html/data_blocks.hpp"
#include "analyzer/html/markup.hpp"
#include "analyzer/html/series.hpp"

using namespace snapdiff;
using namespace snapdiff::html;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

/// A report of rows of values; what rows do not hold of the totals is in none.
Postmortem report_of(const std::vector<std::vector<std::int64_t>>& rows, const std::vector<std::int64_t>& totals) {
  Postmortem report;
  GrowthReport& growth = report.trend.series.overall;
  growth.unit = "bytes";
  growth.options.by = GroupBy::function;
  for (const std::vector<std::int64_t>& values : rows) {
    GrowthRow row;
    row.value = {values.front(), values.back()};
    row.key = static_cast<std::uint32_t>(growth.rows.size());
    const std::int64_t change = wrapping_difference(values.back(), values.front());
    (change > 0 ? row.grew : row.shrank) = change;
    growth.rows.push_back(row);
    growth.keys.push_back("f" + std::to_string(row.key));
    growth.series.push_row(values);
  }
  growth.series_length = totals.size();
  growth.total = {totals.front(), totals.back()};
  for (const std::int64_t total : totals) {
    SeriesStep step;
    step.total = total;
    report.trend.series.steps.push_back(step);
  }
  report.steps = report.trend.series.steps;
  return report;
}

}  // namespace

TEST_CASE("html: base64 as RFC 4648 has it") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("fooba") == "Zm9vYmE=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64(std::string("\xff\xfe\xfd", 3)) == "//79");
}

TEST_CASE("html: numbers of any size in seven bits a byte") {
  Bytes bytes;
  bytes.number(0);
  bytes.number(127);
  bytes.number(128);
  bytes.difference(-1);
  bytes.difference(1);
  bytes.difference(kLeast);
  const std::string expected("\x00\x7f\x80\x01\x01\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 16);
  CHECK(bytes.all() == expected);
}

TEST_CASE("html: deflated text comes back") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "row " + std::to_string(i * 7919 % 1000);
  const std::string packed = deflated(text);
  CHECK(packed.size() < text.size() / 2);
  std::string back(text.size(), '\0');
  libdeflate_decompressor* tool = libdeflate_alloc_decompressor();
  REQUIRE(tool != nullptr);
  CHECK(libdeflate_deflate_decompress(tool, packed.data(), packed.size(), back.data(), back.size(), nullptr) ==
        LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor(tool);
  CHECK(back == text);
}

TEST_CASE("html: names are text in markup and in JSON") {
  CHECK(safe("</script><img src=x onerror='a(\"b\")'>&amp;") ==
        "&lt;/script&gt;&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;amp;");
  CHECK(safe("a\nb\xff\xe2\x80\xa8") == "a\\x0ab\\xff\\xe2\\x80\\xa8");
  CHECK(json_string("</script><!--\"\\\n") == "\"\\u003c/script\\u003e\\u003c!--\\\"\\\\\\\\x0a\"");
  CHECK(prose({{"grew in ", false}, {"f<int>", true}}) == "grew in <code>f&lt;int&gt;</code>");
  CHECK(bounded("0123456789", 4) == "01\u202689");
  CHECK(bounded("\u00e9\u00e9\u00e9\u00e9", 5) == "\u00e9\u2026\u00e9");
}

TEST_CASE("html: moments as dates") {
  CHECK(utc(0) == "1970-01-01 00:00:00 UTC");
  CHECK(utc(1'700'000'000'999'999'999) == "2023-11-14 22:13:20 UTC");
  CHECK(utc(-1) == "1969-12-31 23:59:59 UTC");
}

TEST_CASE("html: rows that matter are those that moved, whichever way") {
  const Postmortem report = report_of({{10, 10, 10}, {5, 900, 5}, {100, 50, 0}, {0, 10, 20}}, {115, 970, 35});
  const std::vector<std::uint64_t> weight = importance(report.growth());
  CHECK(weight == std::vector<std::uint64_t>{0, 895, 100, 20});
  const Chosen chosen = choose(report.growth(), weight, 2);
  CHECK(chosen.rows == std::vector<std::uint32_t>{1, 2});
  CHECK(chosen.others == std::vector<std::int64_t>{10, 20, 30});
  CHECK(chosen.others_count == 2);
  CHECK(chosen.grew == 20);
  CHECK(chosen.shrank == 0);
  CHECK(remainder(report) == std::vector<std::int64_t>{0, 0, 0});
}

TEST_CASE("html: a report without a series has its two sides") {
  Postmortem report = report_of({{1, 4}, {2, 3}}, {5, 9});
  report.trend.series.overall.series = {};
  report.trend.series.overall.series_length = 0;
  CHECK(value_count(report.growth()) == 2);
  CHECK(value_at(report.growth(), 0, 1) == 4);
  CHECK(remainder(report) == std::vector<std::int64_t>{2, 2});
}

TEST_CASE("html: sums beyond 2^51 call for big integers, also where they cancel") {
  const std::int64_t half = std::int64_t{1} << 50;
  const auto needs = [](const Postmortem& report) { return needs_big_integers(report); };
  CHECK_FALSE(needs(report_of({{half, half}}, {half, half})));
  CHECK(needs(report_of({{half, half}, {-half, -half}}, {0, 0})));
  CHECK(needs(report_of({{kMost, kLeast}}, {kMost, kLeast})));
}

TEST_CASE("html: layers of the plot add up to the total") {
  Postmortem report = report_of({{100, 200, 300}, {10, 500, 10}, {50, 50, 50}}, {170, 760, 370});
  auto told = std::make_shared<Story>();
  told->bands.push_back({Band::Kind::culprit, 0, {{"leak", true}}, {}, {100, 200, 300}});
  told->bands.push_back({Band::Kind::passing, 0, {{"f1", true}}, {{"f1: 500 B, snapshots 2 to 2"}}, {10, 500, 10}});
  report.trend.series.overall.story = told;
  const std::vector<Layer> layers = layers_of(report);
  REQUIRE(layers.size() == 3);
  CHECK(layers[0].kind == "rest");
  CHECK(layers[0].values == std::vector<std::int64_t>{60, 60, 60});
  CHECK(layers[1].name == "leak");
  CHECK(layers[1].values == std::vector<std::int64_t>{100, 200, 300});
  CHECK(layers[2].kind == "passing");
  CHECK(layers[2].note == "f1: 500 B, snapshots 2 to 2");
  // Totals below the layers would leave less than nothing for the rest.
  Postmortem odd = report_of({{100, 200, 300}}, {50, 200, 300});
  odd.trend.series.overall.story = told;
  CHECK(layers_of(odd).empty());
}
