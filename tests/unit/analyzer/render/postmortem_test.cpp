#include <catch2/catch.hpp>

#include <array>
#include <limits>
#include <set>

#include "analyzer/flame/flame_tree.hpp"
#include "unit/analyzer/render/postmortems.hpp"
#include "unit/analyzer/render/tools.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

std::string pdf_of(const Postmortem& report, render::Paper paper = render::Paper::a4) {
  auto pdf = render::postmortem_pdf(report, "", {}, paper);
  if (!pdf) FAIL(pdf.error().text());
  CHECK(pdf->substr(0, 5) == "%PDF-");
  return *pdf;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Number of the first page, from 1, of which the title is this; 0: none. The cover lists all titles: it is left out.
std::size_t page_titled(const std::vector<std::string>& pages, const std::string& title) {
  for (std::size_t i = 1; i < pages.size(); ++i) {
    if (has(pages[i], title)) return i + 1;
  }
  return 0;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

CounterReport counters_of(std::size_t rows, std::size_t snapshots) {
  CounterReport report;
  for (std::size_t i = 0; i < snapshots; ++i) report.snapshots.push_back(fake_snapshot(i));
  for (std::size_t r = 0; r < rows; ++r) {
    CounterRow row;
    row.name = "counter_" + std::to_string(r);
    row.unit = "bytes";
    for (std::size_t i = 0; i < snapshots; ++i) row.values.push_back(static_cast<std::int64_t>(1'000'000 * (r + i)));
    row.last = snapshots - 1;
    row.growth = *row.values.back() - *row.values.front();
    report.rows.push_back(std::move(row));
  }
  return report;
}

}  // namespace

TEST_CASE("post-mortem: the answer with the table, the narrative, the graph") {
  Postmortem report = postmortem_of(twelve_snapshots());
  report.narrative.verdict = "GROWING";
  const std::vector<std::string> pages = checked_pages(pdf_of(report));
  if (pages.empty()) return;
  const std::array titles = {"What is known, and how sure", "Where the growth came through"};
  REQUIRE(pages.size() == titles.size() + 1);
  for (std::size_t i = 0; i < titles.size(); ++i) {
    INFO(titles[i]);
    CHECK(has(pages[i + 1], titles[i]));
  }
  CHECK(has(pages[0], "GROWING"));
  CHECK(has(pages[0], "+5.30 MiB"));  // 11 * 505 536, by hand
  CHECK(has(pages[0], "Culprits"));
  CHECK(has(pages[0], "snapdiff peek 'leak_sessions' a b"));
  CHECK_FALSE(has(pages[0], "edacted"));
}

TEST_CASE("post-mortem: a report has as many pages as it has something to say") {
  Postmortem report = postmortem_of(twelve_snapshots());
  const auto short_pages = [&] { return checked_pages(pdf_of(report)); };
  const std::vector<std::string> pages = short_pages();
  if (pages.empty()) return;
  CHECK(pages.size() == 3);
  report.failure = OutOfMemory{};
  report.notes.add(Severity::data_loss, "records cut at the end of the file");
  const std::vector<std::string> more = short_pages();
  // In place of the graph: 'through whom did it grow' is not what is asked then.
  CHECK(more.size() == 4);
  CHECK(page_titled(more, "Why the allocation failed") == 3);
  CHECK(page_titled(more, "Remarks on the inputs") == 4);
  // However much is known: one page of it, the JSON report has the rest.
  Hint hint;
  hint.title = "a pattern";
  hint.harmless = true;
  hint.evidence = {{"evidence"}};
  report.narrative.hints.assign(9, hint);
  hint.title = "the pattern of a leak";
  hint.harmless = false;
  hint.suggestion = "bound it";
  report.narrative.hints.push_back(hint);
  const std::vector<std::string> most = short_pages();
  CHECK(most.size() == 4);
  CHECK(has(most[1], "the pattern of a leak"));
  CHECK(has(most[1], "more parts in the JSON report"));
}

TEST_CASE("post-mortem: no page that has nothing to draw, none that repeats the first") {
  const auto short_pages = [](const Postmortem& report) { return checked_pages(pdf_of(report)); };
  const std::vector<std::string> same =
      short_pages(postmortem_of(story_of(std::vector<Line>{{"main;same", {10, 10}}})));
  if (same.empty()) return;
  CHECK(page_titled(same, "Where the growth came through") == 0);
  for (const std::size_t counters : {1U, 3U}) {
    Postmortem report;
    report.counters = counters_of(counters, 5);
    for (const SnapshotRef& snapshot : report.counters->snapshots) {
      report.steps.emplace_back();
      report.steps.back().snapshot = snapshot;
    }
    report.trend.series.steps = report.steps;
    CHECK((page_titled(short_pages(report), "Numbers of the whole process") != 0) == (counters > 1));
  }
}

TEST_CASE("post-mortem: the sums are those of the comparison") {
  Postmortem report = postmortem_of(twelve_snapshots());
  const std::vector<std::string> pages = checked_pages(pdf_of(report));
  if (pages.empty()) return;
  const std::string& table = pages.front();
  CHECK(has(table, "Growth per stack"));
  CHECK_FALSE(has(table, "others]"));  // all rows are shown, and all bytes have a stack
  CHECK_FALSE(has(table, "[unattributed]"));
  CHECK(has(table, "TOTAL"));
  CHECK(has(table, "+5.30 MiB"));
  CHECK(has(table, "0.98 MiB"));  // 505 536 + 524 288
  CHECK(has(pages.at(page_titled(pages, "Where the growth came through") - 1), "= total +5.30 MiB"));
}

TEST_CASE("post-mortem: bookmarks, links and embedded fonts are there") {
  if (!installed("qpdf")) {
    WARN("skipped: qpdf is not installed");
    return;
  }
  const std::string path = temporary_file("links.pdf", pdf_of(postmortem_of(twelve_snapshots())));
  int status = 0;
  const std::string objects =
      output_of(std::string("qpdf --qdf --object-streams=disable ").append(path).append(" - | strings"), status);
  for (const char* const title : {"What is known, and how sure", "Where the growth came through"})
    CHECK(has(objects, std::string("/Title (").append(title)));
  CHECK(occurrences(objects, "/Subtype /Link") >= 9);  // nodes lead to rows, rows to nodes
  CHECK(occurrences(objects, "/FontFile") >= 1);
  CHECK(has(objects, "20231114221320Z"));
  // Whatever a link leads to has a place: its name stands elsewhere, too.
  const std::string mark = "/Dest (";
  std::set<std::string> targets;
  for (std::size_t at = objects.find(mark); at != std::string::npos; at = objects.find(mark, at + 1))
    targets.insert(objects.substr(at + 6, objects.find(')', at) - at - 5));
  CHECK(targets.size() >= 4);
  for (const std::string& target : targets) {
    INFO(target);
    CHECK(occurrences(objects, target) > occurrences(objects, "/Dest " + target));
  }
}

TEST_CASE("post-mortem: two runs give the same bytes, on both papers") {
  const Postmortem report = postmortem_of(twelve_snapshots());
  CHECK(pdf_of(report) == pdf_of(report));
  const std::string letter = pdf_of(report, render::Paper::letter);
  CHECK(letter == pdf_of(report, render::Paper::letter));
  checked_pages(letter);
  if (!installed("pdfinfo")) {
    WARN("skipped: pdfinfo is not installed");
    return;
  }
  int status = 0;
  CHECK(has(output_of(std::string("pdfinfo ").append(temporary_file("letter.pdf", letter)), status), "612 x 792 pts"));
}

TEST_CASE("post-mortem: two snapshots claim no trend") {
  Postmortem report = postmortem_of(story_of({{"main;small@a.cc:2", {0, 10}},
                                              {"main;serve;grow@a.cc:1", {100'000, 900'000}},
                                              {"main;drop@a.cc:9", {300'000, 0}}}));
  const std::vector<std::string> pages = checked_pages(pdf_of(report));
  if (pages.empty()) return;
  CHECK_FALSE(has(pages[0], "GROWING"));
  for (const char* const name : {"grow", "drop", "small"}) CHECK(has(pages.front(), name));
}

TEST_CASE("post-mortem: counters alone make a report without stacks") {
  Postmortem report;
  report.title = "rss.log";
  report.version = "snapdiff 0.1";
  report.counters = counters_of(20, 5);
  for (const SnapshotRef& snapshot : report.counters->snapshots) {
    report.steps.emplace_back();
    report.steps.back().snapshot = snapshot;
  }
  report.trend.series.steps = report.steps;
  report.narrative.headline = {{"counter_0 rose from 0 to 3.81 MiB"}};
  const std::vector<std::string> pages = checked_pages(pdf_of(report));
  if (pages.empty()) return;
  CHECK(has(pages[0], "counter_0 rose"));
  CHECK(page_titled(pages, "Growth by stack") == 0);
  CHECK(page_titled(pages, "counter_13") != 0);
  CHECK(has(pages.at(page_titled(pages, "counter_13") - 1), "6 more counters in the JSON report"));
}

TEST_CASE("post-mortem: nothing changed, nothing at all, counts, values up to 2^63-1 and below 0") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<Line>& lines :
       std::vector<std::vector<Line>>{{{"main;same", {10, 10}}},
                                      {},
                                      {{"main", {0, 1}}},
                                      {{"main;a", {0, 0, 0}}, {"main;b", {5, 5, 5}}},
                                      {{"main;all", {0, kMost}}},
                                      {{"main;all", {kMost, 0, kMost}}},
                                      {{"main;less", {-500, -100, -900}}, {"main;more", {10, 300, 200}}},
                                      {{"main;x", {9, 6, 3, 2, 1, 1, 1, 1, 0}}}}) {
    Postmortem report = postmortem_of(story_of(lines));
    checked_pages(pdf_of(report));
    report.trend.series.overall.unit = "count";
    report.trend.series.overall.metric = "inuse_objects";
    checked_pages(pdf_of(report));
  }
}

TEST_CASE("post-mortem: a hundred snapshots fit the same pages") {
  Line line{"main;a", {}};
  for (std::int64_t i = 0; i < 100; ++i) line.values.push_back(1000 * i + (i == 60 ? 40'000 : 0));
  const std::vector<std::string> pages = checked_pages(pdf_of(postmortem_of(story_of({line}))));
  if (pages.empty()) return;
  CHECK(pages.size() == 3);
  CHECK(has(pages[2], "100 snapshots, from svc.1000.heap to svc.1099.heap; the HTML page lists all"));
}

TEST_CASE("post-mortem: notes are listed by gravity, and what nobody knows has its lines") {
  Postmortem report = postmortem_of(twelve_snapshots());
  report.notes.add(Severity::info, "read as version 2");
  report.notes.add(Severity::data_loss, "records cut at the end of the file", std::nullopt, 17);
  report.trend.series.overall.unnamed = {40, 7, 123'456, {{"/opt/app/libold.so", 7, 123'456}}};
  report.trend.series.overall.possible_pairs = 3;
  report.redacted = true;
  const std::vector<std::string> pages = checked_pages(pdf_of(report));
  if (pages.empty()) return;
  CHECK(has(pages[0], "Redacted"));
  const std::string& unknown = pages.at(page_titled(pages, "Remarks on the inputs") - 1);
  CHECK(unknown.find("records cut at the end") < unknown.find("read as version 2"));
  CHECK(has(unknown, "17\u00d7"));
  CHECK(has(unknown, "libold.so"));
  CHECK(has(unknown, "121 KiB"));  // 123 456 bytes
  CHECK_FALSE(has(unknown, "Nothing was dropped"));
  report.notes = {};
  CHECK(page_titled(checked_pages(pdf_of(report)), "Remarks on the inputs") == 0);
}

TEST_CASE("post-mortem: hints say that they are hints") {
  Postmortem report = postmortem_of(twelve_snapshots());
  report.narrative.hints.push_back({"unbounded-map",
                                    "A map that only grows",
                                    false,
                                    {{"11 000 objects of one size through "}, {"put", true}},
                                    "Give it a limit.",
                                    {0},
                                    2'640'000});
  report.narrative.hints.push_back({"first-use", "First use of a library", true, {{"once, at 1"}}, "", {}, 0});
  const std::vector<std::string> pages = checked_pages(pdf_of(report));
  if (pages.empty()) return;
  const std::string& page = pages.at(page_titled(pages, "What is known") - 1);
  CHECK(has(page, "HINT"));
  CHECK(has(page, "PROBABLY HARMLESS"));
  CHECK(has(page, "they may be wrong"));
  CHECK(has(page, "Give it a limit."));
}

TEST_CASE("post-mortem: a failed allocation has its sentence and figures") {
  Postmortem report = postmortem_of(twelve_snapshots());
  OutOfMemory failure;
  failure.asked = 512LL << 20;
  failure.allocated = 23LL << 30;
  failure.reserved = 24LL << 30;
  failure.sentence = "enough is free, in no block that is large enough";
  failure.reason = OutOfMemoryReason::fragmentation;
  report.failure = failure;
  const std::vector<std::string> pages = checked_pages(pdf_of(report));
  if (pages.empty()) return;
  const std::string& page = pages.at(page_titled(pages, "Why the allocation failed") - 1);
  CHECK(has(page, "An allocation of 512 MiB failed: enough is free, in no block that is large enough."));
  CHECK(has(page, "24.0 GiB"));
}

TEST_CASE("post-mortem: hostile and very long texts stay texts") {
  const std::string hostile("evil</script>\x1b[31m\xff\xfe\xe2\x80\xae%s\\(\n\0x", 31);
  const std::string name(5000, 'x');
  const std::vector<Line> lines = {{"main;" + name, {0, 500'000}},
                                   {"main;" + name + ";\xd7\xa9\xd7\x9c", {4'000'000, 100}}};
  Postmortem report = postmortem_of(story_of(lines));
  report.title = hostile;
  report.order_note = name;
  report.version = hostile;
  report.narrative.headline = {{"Grew in "}, {name, true}};
  report.narrative.in_short.assign(5, {{hostile, true}, {" and "}, {name, true}});
  report.narrative.findings.assign(60, {Finding::Kind::where, {{name, true}, {hostile}, {name}}});
  report.narrative.hints.assign(40, {"rule", name, false, {{hostile, true}, {name, true}}, name, {}, -1});
  for (int i = 0; i < 200; ++i) report.notes.add(Severity::warning, std::to_string(i) + hostile);
  const std::vector<std::string> pages = checked_pages(pdf_of(report));
  if (pages.empty()) return;
  CHECK(pages.size() <= 25);
  for (const std::string& page : pages) CHECK_FALSE(has(page, "\x1b"));
  CHECK(has(pages[1], "\\x1b"));
}

TEST_CASE("post-mortem: growth and shrinkage stay apart in grey and for colour-blind eyes") {
  if (!installed("pdftoppm") || !installed("python3")) {
    WARN("skipped: pdftoppm or python3 is not installed");
    return;
  }
  const render::Story story =
      story_of({{"main;serve;grow@a.cc:1", {100'000, 2'100'000}}, {"main;clean;drop@a.cc:9", {2'000'000, 100'000}}});
  const std::string pdf = pdf_of(postmortem_of(story));
  const std::vector<std::string> pages = checked_pages(pdf);
  if (pages.empty()) return;
  auto tree = flame::flame_tree(story.overall, FlameWidth::change);
  REQUIRE(tree.has_value());
  const auto flame_pdf =
      render::draw_flame(render::tell_flame(*std::move(tree), story.overall), render::PictureForm::pdf);
  REQUIRE(flame_pdf.has_value());
  const auto page_image = [&](const std::string& name, const std::string& bytes, std::size_t page) {
    const std::string path = temporary_file(name, bytes);
    const std::string number = std::to_string(page);
    int status = 0;
    output_of("pdftoppm -r 150 -singlefile -f " + number + " -l " + number + " " + path + " " + path, status);
    REQUIRE(status == 0);
    return path + ".ppm";
  };
  const std::string graph = page_image("apart.pdf", pdf, page_titled(pages, "Where the growth came through"));
  const std::string flame = page_image("apart_flame.pdf", *flame_pdf, 1);
  int status = 0;
  const std::string told = output_of(
      std::string("python3 ").append(SNAPDIFF_TELL_APART).append(" ").append(graph).append(" ").append(flame), status);
  INFO(told);
  CHECK(status == 0);
  // The same with nothing but colour to go by: text has signs on both.
  const std::string& text = pages[page_titled(pages, "Where the growth came through") - 1];
  CHECK(has(text, "+1.91 MiB"));
  CHECK(has(text, "\u22121.81 MiB"));
}

TEST_CASE("post-mortem: out of fonts or of shape is an error, not a crash") {
  Postmortem report = postmortem_of(twelve_snapshots());
  report.trend.series.overall.options.by = GroupBy::function;
  const auto pdf = render::postmortem_pdf(report, "", {}, render::Paper::a4);
  REQUIRE_FALSE(pdf.has_value());
  CHECK(pdf.error().code == ErrorCode::usage);
}
