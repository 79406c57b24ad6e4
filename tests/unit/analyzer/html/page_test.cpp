#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analyzer/html/html.hpp"
#include "analyzer/postmortem/make_postmortem.hpp"
#include "support/snapshot_text.hpp"

using namespace snapdiff;

namespace {

Postmortem postmortem_of(const std::vector<std::string>& texts) {
  std::vector<SnapshotRef> refs;
  for (const std::string& text : texts) {
    test::TextOptions options;
    options.facts.source.name = "heap <" + std::to_string(refs.size() + 1) + ">";
    options.facts.source.sha256 = std::string(64, static_cast<char>('0' + refs.size() % 10));
    refs.push_back({std::make_shared<const Snapshot>(test::snapshot(text, options)), options.facts.source.name, ""});
  }
  postmortem::Request request;
  request.title = "service <b>";
  request.version = "snapdiff 0.1";
  request.notes.add(Severity::data_loss, "3 rows <cut>");
  Result<Postmortem> report = postmortem::assemble(refs, std::move(request));
  REQUIRE(report);
  return *std::move(report);
}

std::vector<std::string> growing() {
  std::vector<std::string> out;
  for (int i = 0; i < 9; ++i)
    out.push_back("main;leak@l.cc:3 " + std::to_string(100'000 * (i + 1)) + " " + std::to_string(i + 1) +
                  "\nmain;flat@f.cc:9 5000 5\n[unattributed] 7 1\n");
  return out;
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

bool holds(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("html: the answer is plain HTML") {
  const Postmortem report = postmortem_of(growing());
  const Result<std::string> page = html::to_html(report, {});
  REQUIRE(page);
  CHECK(holds(*page, "<title>service &lt;b&gt;: In-use bytes grew from 103 to 884\u00a0KiB</title>"));
  CHECK(holds(*page, "<b>leak</b><span class=\"site\">l.cc:3</span>"));
  CHECK(holds(*page, "<span class=\"badge GROWING\">GROWING</span>"));
  CHECK(holds(*page, "[0 others]"));
  CHECK(holds(*page, "[unattributed]"));
  CHECK(holds(*page, "TOTAL"));
  CHECK(holds(*page, "3 rows &lt;cut&gt;"));
  CHECK(holds(*page, "heap &lt;1&gt;"));
  CHECK(holds(*page, std::string(64, '3')));
  CHECK(holds(*page, "<noscript>"));
  CHECK_FALSE(holds(*page, "service <b>"));
  CHECK(*page == *html::to_html(report, {}));
}

TEST_CASE("html: the narrative and hints, with names as text") {
  Postmortem report = postmortem_of(growing());
  report.narrative.headline = {{"In-use bytes grew", false}};
  report.narrative.verdict = "GROWING";
  report.narrative.findings = {{Finding::Kind::what, {{"All of it in ", false}, {"<leak>", true}, {".", false}}},
                               {Finding::Kind::since, {{"Since snapshot 1.", false}}},
                               {Finding::Kind::next, {{"Look at l.cc:3.", false}}}};
  Hint hint;
  hint.rule = "unbounded-cache";
  hint.title = "A map that only grows <x>";
  hint.evidence = {{"leak", true}, {" holds it.", false}};
  hint.suggestion = "Bound it.";
  hint.rows = {0, 99};
  report.narrative.hints = {hint};
  const Result<std::string> page = html::to_html(report, {});
  REQUIRE(page);
  CHECK(holds(*page, "<h1>In-use bytes grew</h1><span class=\"badge big GROWING\">GROWING</span>"));
  CHECK(holds(*page, "<dd>All of it in <code>&lt;leak&gt;</code>.</dd>"));
  CHECK(holds(*page, "<h2>Culprits</h2>"));
  CHECK(page->find("id=\"timeline\"") < page->find("<h2>Culprits</h2>"));
  CHECK(page->find("<h2>Culprits</h2>") < page->find("id=\"table\""));
  CHECK(holds(*page, "Next: <code>snapdiff peek"));
  CHECK(holds(*page, "<dt>Since when</dt><dd>Since snapshot 1.</dd>"));
  CHECK(holds(*page, "A map that only grows &lt;x&gt;"));
  CHECK(holds(*page, "<a href=\"#row=1\">1</a></p>"));
}

TEST_CASE("html: a failed allocation and counters stand in the page") {
  Postmortem report = postmortem_of(growing());
  OutOfMemory failure;
  failure.reason = OutOfMemoryReason::fragmentation;
  failure.sentence = "enough is free <in pieces>";
  failure.asked = 3 << 20;
  report.failure = failure;
  CounterReport counters;
  CounterRow row;
  row.name = "rss<1>";
  row.unit = "bytes";
  row.values = {1024, std::nullopt, 4096};
  row.last = 2;
  row.growth = 3072;
  counters.rows = {row};
  report.counters = counters;
  const Result<std::string> page = html::to_html(report, {});
  REQUIRE(page);
  CHECK(holds(*page, "Out of memory: fragmentation"));
  CHECK(holds(*page, "enough is free &lt;in pieces&gt;."));
  CHECK(holds(*page, "<b>rss&lt;1&gt;</b>"));
  CHECK(holds(*page, "href=\"#counters\""));
}

TEST_CASE("html: a drawing loses what belongs to a file of its own, one that is too large is left out") {
  const Postmortem report = postmortem_of(growing());
  html::HtmlOptions options;
  options.graph_svg =
      "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><style>text{}</style><g/></svg>\n";
  Result<std::string> page = html::to_html(report, options);
  REQUIRE(page);
  CHECK(holds(*page, "id=\"drawing\"><svg xmlns=\"http://www.w3.org/2000/svg\"><g/></svg>"));
  CHECK(count(*page, "<style>") == 1);
  CHECK_FALSE(holds(*page, "<?xml"));
  options.graph_svg = "<svg>" + std::string(2 << 20, ' ') + "</svg>";
  page = html::to_html(report, options);
  REQUIRE(page);
  CHECK(page->size() < 500'000);
  CHECK(holds(*page, "The graph is too large for this page"));
}

TEST_CASE("html: counters alone make a page without a table") {
  Postmortem report;
  report.title = "log";
  report.steps.resize(3);
  report.trend.series.steps = report.steps;
  CounterReport counters;
  CounterRow row;
  row.name = "rss";
  row.values = {1, 2, 3};
  row.last = 2;
  counters.rows = {row};
  report.counters = counters;
  const Result<std::string> page = html::to_html(report, {});
  REQUIRE(page);
  CHECK(holds(*page, "Counters of log"));
  CHECK_FALSE(holds(*page, "id=\"rows\""));
}

TEST_CASE("html: frames that differ in what one of them lacks stay apart") {
  // The model keeps its texts end to end: an empty one starts where the first does.
  const Postmortem report = postmortem_of({"a@a 1 1\na 2 1\n", "a@a 10 1\na 5 1\n"});
  const Result<std::string> page = html::to_html(report, {});
  REQUIRE(page);
  CHECK(count(*page, "<b>a</b><span class=\"site\">a</span>") == 1);
  CHECK(count(*page, "<b>a</b></span>") == 1);
}

TEST_CASE("html: parts that do not exist, and limits that nothing fits in, are errors") {
  const Postmortem report = postmortem_of({"main;a 1 1\n", "main;a 5 1\n"});
  html::HtmlOptions options;
  options.start = "flames";
  Result<std::string> page = html::to_html(report, options);
  REQUIRE_FALSE(page);
  CHECK(page.error().code == ErrorCode::usage);
  options.start = "flame";
  options.most_bytes = 1000;
  page = html::to_html(report, options);
  REQUIRE_FALSE(page);
  CHECK(page.error().code == ErrorCode::limit);
}

TEST_CASE("html: a series so long that its snapshots alone fill a page is written with its rows") {
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i <= html::kLongSeries; ++i)
    inputs.push_back("main;load 1 1\nmain;append_item " + std::to_string(i + 2) + " 1\n");
  const Postmortem report = postmortem_of(inputs);
  html::HtmlOptions options;
  options.most_bytes = 1000;
  const Result<std::string> page = html::to_html(report, options);
  REQUIRE(page);
  CHECK(page->size() > options.most_bytes);
  CHECK(holds(*page, "append_item"));
  CHECK_FALSE(holds(*page, "of least change are summed in [others]"));
}

TEST_CASE("html: rows that do not fit are summed") {
  std::string first, last;
  for (int i = 0; i < 3000; ++i) {
    const std::string stack = "main;f" + std::to_string(i * 7919 % 100'000) + "@" + std::to_string(i * 31) + ".cc:1 ";
    first += stack + std::to_string(1000 + i * 13 % 977) + " 1\n";
    last += stack + std::to_string(1000 + i * 17 % 983 + (i == 0 ? 1'000'000 : 0)) + " 1\n";
  }
  const Postmortem report = postmortem_of({first, last});
  html::HtmlOptions options;
  options.most_bytes = 140'000;
  const Result<std::string> page = html::to_html(report, options);
  REQUIRE(page);
  CHECK(page->size() <= 140'000);
  CHECK(holds(*page, "of least change are summed in [others]"));
}
