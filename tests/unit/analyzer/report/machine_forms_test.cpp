#include <catch2/catch.hpp>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/report.hpp"
#include "fakes.hpp"

using namespace snapdiff;
using namespace snapdiff::report;
using nlohmann::json;

namespace {

Style form(Form wanted) {
  Style style;
  style.form = wanted;
  style.max_rows = 0;
  return style;
}

/// A reader of RFC 4180 written for the test.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records(1);
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        cell += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        cell += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\r') {
      records.back().push_back(cell);
      cell.clear();
      if (c == '\r') {
        ++i;  // \n
        records.emplace_back();
      }
    } else {
      cell += c;
    }
  }
  records.pop_back();
  return records;
}

}  // namespace

TEST_CASE("JSON in each layout is laid out as another writer does") {
  const std::vector<int> none;
  const std::vector<int> some = {1, -2};
  const auto write = [&](JsonLayout layout, std::string_view inner) {
    std::string out;
    JsonWriter writer(out, layout);
    writer.begin_array();
    writer.object([&] {
      writer.field("text", "a \"quoted\" back\\slash, a\nline and \x01");
      writer.field("yes", true);
      writer.any_key("any \"key\"");
      writer.number(0.5);
      writer.object("empty", [] {});
      writer.array("none", none, [&](int value) { writer.integer(value); });
      writer.rows("some", some, [&](int value) { writer.integer(value); });
      writer.objects("objects", some, [&](int value) { writer.field("value", std::int64_t{value}); });
      writer.object_or_null("unknown", false, [] {});
      writer.key("inner");
      writer.raw(inner);
    });
    writer.begin_array();
    writer.end_array();
    writer.null();
    writer.end_array();
    return out;
  };
  const auto inner = nlohmann::ordered_json::parse(R"({"deep": [1, {"x": []}], "last": "y"})");
  const std::string rows = write(JsonLayout::rows, inner.dump());
  const auto parsed = nlohmann::ordered_json::parse(rows);
  CHECK(parsed[0]["text"] == "a \"quoted\" back\\slash, a\nline and \x01");
  CHECK(parsed[0]["inner"] == inner);
  CHECK(write(JsonLayout::indented, inner.dump(2)) == parsed.dump(2));
  CHECK(write(JsonLayout::one_line, inner.dump()) == parsed.dump());
  CHECK(rows != parsed.dump());
}

TEST_CASE("json: integers are exact, unknown is null") {
  fakes::DiffMaker maker;
  maker.row("a < main", {0, std::numeric_limits<std::int64_t>::max()});
  maker.report().rows[0].error = kUnknownError;
  maker.report().total_error = kUnknownError;
  maker.report().has_objects = false;
  const json document = json::parse(write_diff(maker.report(), form(Form::json)));
  const json& row = document["rows"][0];
  CHECK(row["current"].get<std::int64_t>() == std::numeric_limits<std::int64_t>::max());
  CHECK(row["error"].is_null());
  CHECK(row["growth_objects"].is_null());
  CHECK(document["total"]["error"].is_null());
  CHECK(document["baseline"]["taken_at"].is_null());
  CHECK(row["stack"][0]["offset"].is_null());
}

TEST_CASE("json: a column with an unknown value has no total") {
  SnapshotBuilder builder;
  builder.add_column({"inuse_space", "bytes"});
  builder.add_column({"alloc_space", "bytes"});
  const std::int64_t values[] = {5, 0};
  const std::uint8_t known[] = {1, 0};
  builder.add_row(builder.pseudo_stack(kNoStackRecorded), LabelSetId{}, values, known);
  builder.facts().labels["version\n"] = "1\"2";
  fakes::DiffMaker maker;
  maker.row("a < main", {0, 5});
  maker.report().current.snapshot = std::make_shared<const Snapshot>(builder.finish().value());
  const json document = json::parse(write_diff(maker.report(), form(Form::json)));
  CHECK(document["current"]["totals"]["inuse_space"] == 5);
  CHECK(document["current"]["totals"]["alloc_space"].is_null());
  CHECK(document["current"]["labels"]["version\n"] == "1\"2");
}

TEST_CASE("json: broken UTF-8 becomes the replacement character, text survives otherwise") {
  fakes::DiffMaker maker;
  maker.row("q\"u\\o\xff\n\xe2\x80\xae\xf3\xa0\x80\x81漢 < main", {0, 1});
  const std::string text = write_diff(maker.report(), form(Form::json));
  const json document = json::parse(text);
  CHECK(document["rows"][0]["stack"][0]["function"] == "q\"u\\o\xEF\xBF\xBD\n\xe2\x80\xae\xf3\xa0\x80\x81漢");
}

TEST_CASE("json: lines hold what the document holds") {
  const GrowthReport report = fakes::svc_diff(0, 11);
  const json document = json::parse(write_diff(report, form(Form::json)));
  const std::string lines = write_diff(report, form(Form::jsonl));
  std::vector<json> parsed;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    parsed.push_back(json::parse(lines.substr(at, end - at)));
    at = end + 1;
  }
  REQUIRE(parsed.size() == document["rows"].size() + 1);
  for (std::size_t i = 0; i < document["rows"].size(); ++i) CHECK(parsed[i + 1] == document["rows"][i]);
  json head = document;
  head.erase("rows");
  CHECK(parsed[0] == head);
}

TEST_CASE("json: a limit moves rows into others, the sum stays") {
  const GrowthReport report = fakes::svc_diff(0, 11);
  Style style = form(Form::json);
  style.max_rows = 2;
  const json document = json::parse(write_diff(report, style));
  CHECK(document["rows"].size() == 2);
  CHECK(document["others"]["rows"] == 5);
  std::int64_t sum = document["others"]["growth"].get<std::int64_t>();
  for (const json& row : document["rows"]) sum += row["growth"].get<std::int64_t>();
  CHECK(sum == report.total.growth());
}

TEST_CASE("json: times are RFC 3339 in UTC") {
  const auto [ns, expected] = GENERATE(
      table<std::int64_t, const char*>({{0, "1970-01-01T00:00:00Z"},
                                        {1709210096789000000, "2024-02-29T12:34:56.789Z"},
                                        {951782400000000000, "2000-02-29T00:00:00Z"},
                                        {4102444799000000001, "2099-12-31T23:59:59.000000001Z"},
                                        {-1, "1969-12-31T23:59:59.999999999Z"},
                                        {std::numeric_limits<std::int64_t>::max(), "2262-04-11T23:47:16.854775807Z"},
                                        {std::numeric_limits<std::int64_t>::min(), "1677-09-21T00:12:43.145224192Z"}}));
  CHECK(rfc3339(ns) == expected);
}

TEST_CASE("csv: every record has the header's fields, growth adds up to the total") {
  GrowthReport report = fakes::svc_diff(4, 5);
  report.filtered = {10, 5};
  report.total.baseline += 10;
  report.total.current += 5;
  Style style = form(Form::csv);
  style.max_rows = 2;
  const auto records = read_csv(write_diff(report, style));
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < records.size(); ++i) {
    CHECK(records[i].size() == records[0].size());
    sum += std::stoll(records[i][3]);
  }
  CHECK(records[0][3] == "growth");
  CHECK(sum == report.total.growth());
}

TEST_CASE("csv: formulas are defused, separators inside names escaped") {
  fakes::DiffMaker maker;
  maker.row("=1+1 < a;b < c\\d < \"q\",x", {0, 1});
  maker.row("-[Foo bar] < main", {0, 1});
  maker.row("@SUM(A1) < main", {0, 1});
  maker.row("+x < main", {0, 1});
  const auto records = read_csv(write_diff(maker.report(), form(Form::csv)));
  const auto stack =
      static_cast<std::size_t>(std::find(records[0].begin(), records[0].end(), "stack") - records[0].begin());
  REQUIRE(stack < records[0].size());
  CHECK(records[1][stack] == "'=1+1;a\\;b;c\\\\d;\"q\",x");
  CHECK(records[2][stack] == "'-[Foo bar];main");
  CHECK(records[3][stack] == "'@SUM(A1);main");
  CHECK(records[4][stack] == "'+x;main");
}

namespace {

/// Many stacks of four frames without a table of texts for each.
class ManyStacks : public StackView {
 public:
  void frames(StackRef stack, std::vector<FrameView>& out) const override {
    static constexpr std::string_view kNames[] = {"operator new(unsigned long)", "ns::allocate_buffer(int)",
                                                  "handle(Request const&)", "main"};
    out.clear();
    for (const std::string_view name : kNames) {
      FrameView frame;
      frame.function = name;
      frame.file = "/src/project/some/file.cc";
      frame.line = static_cast<std::int32_t>(index_of(stack.stack) % 5000 + 1);
      frame.module = "/usr/bin/server";
      out.push_back(frame);
    }
  }
};

}  // namespace

namespace {

GrowthReport large_report(std::uint32_t rows) {
  GrowthReport report = fakes::svc_diff(0, 11);
  report.view = std::make_shared<ManyStacks>();
  const GrowthRow row = report.rows[0];
  report.rows.assign(rows, row);
  report.story = nullptr;  // its frames are of the view that was
  report.stacks.clear();
  for (std::uint32_t i = 0; i < rows; ++i) {
    report.rows[i].key = i;
    report.stacks.push_back({StackId{i}, 1});
  }
  return report;
}

}  // namespace

// Not run by default: report_test "[speed]".
TEST_CASE("output: a million rows take less than two seconds", "[.][speed]") {
  const GrowthReport report = large_report(1000000);
  for (const Form wanted : {Form::json, Form::jsonl, Form::csv}) {
    const std::clock_t start = std::clock();
    const std::size_t bytes = write_diff(report, form(wanted)).size();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    WARN(bytes << " bytes in " << seconds << " s");
    CHECK(seconds < 2);
  }
}
