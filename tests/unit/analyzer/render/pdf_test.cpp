#include <unistd.h>
#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>

#include "analyzer/render/render.hpp"
#include "unit/analyzer/render/stories.hpp"
#include "unit/analyzer/render/tools.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

std::string pdf_of(const render::Story& story, const graph::GraphOptions& options = {}) {
  auto pdf = render::to_pdf(story, options);
  if (!pdf) FAIL(pdf.error().text());
  CHECK(pdf->substr(0, 5) == "%PDF-");
  return *pdf;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

std::string second_page(const std::string& text) {
  const std::size_t first = text.find('\f') + 1;
  return text.substr(first, text.find('\f', first) - first);
}

}  // namespace

TEST_CASE("pdf: twelve snapshots give the answer with a table, and a graph") {
  const std::string text = checked_text(pdf_of(twelve_snapshots()));
  if (text.empty()) return;
  CHECK(count(text, "\f") == 2);
  // by hand: 505 536 + 524 288 first, 12 * 505 536 + 524 288 last
  CHECK(text.find("In-use bytes grew from 0.98 to 6.29 MiB") != std::string::npos);
  CHECK(text.find("GROWING") != std::string::npos);
  const std::string first = text.substr(0, text.find('\f'));
  CHECK(first.find("Culprits") != std::string::npos);
  CHECK(first.find("svc_cache.cc") != std::string::npos);
  CHECK(first.find("snapdiff peek 'leak_sessions' a b") != std::string::npos);
  CHECK(first.find("Growth per stack") != std::string::npos);
  CHECK(first.find("[unattributed]") == std::string::npos);  // there is nothing of it
  CHECK(first.find("+5.30 MiB") != std::string::npos);
  CHECK(text.find("alloc_body") != std::string::npos);
  CHECK(text.find("svc.1000.heap") != std::string::npos);
  CHECK((text.find("2 / 2") != std::string::npos || text.find("2/2") != std::string::npos));
  CHECK(text.find("retained") == std::string::npos);
}

TEST_CASE("pdf: bookmarks, links and embedded fonts are there") {
  if (!installed("qpdf")) {
    WARN("skipped: qpdf is not installed");
    return;
  }
  const std::string path = temporary_file("links.pdf", pdf_of(twelve_snapshots()));
  int status = 0;
  const std::string objects =
      output_of(std::string("qpdf --qdf --object-streams=disable ").append(path).append(" - | strings"), status);
  CHECK(count(objects, "/Outlines") >= 1);
  CHECK(objects.find("Where the growth came through") != std::string::npos);
  CHECK(count(objects, "/Subtype /Link") >= 9);
  CHECK(count(objects, "/FontFile") >= 1);
  CHECK(objects.find("20231114221320Z") != std::string::npos);
}

TEST_CASE("pdf: two runs give the same bytes") {
  const render::Story story = twelve_snapshots();
  CHECK(pdf_of(story) == pdf_of(story));
}

TEST_CASE("pdf: two snapshots make two pages and claim no trend") {
  const render::Story story =
      story_of({{"main;serve;grow@a.cc:1", {100'000, 900'000}}, {"main;drop@a.cc:9", {300'000, 0}}});
  const std::string text = checked_text(pdf_of(story));
  if (text.empty()) return;
  CHECK(count(text, "\f") == 2);
  CHECK(text.find("GROWING") == std::string::npos);
  CHECK(text.find("gone") != std::string::npos);
}

TEST_CASE("pdf: nothing changed, nothing at all, a single row") {
  checked_text(pdf_of(story_of({{"main;same", {10, 10}}})));
  checked_text(pdf_of(story_of({})));
  checked_text(pdf_of(story_of({{"main", {0, 1}}})));
  checked_text(pdf_of(story_of({{"main;a", {0, 0, 0}}, {"main;b", {5, 5, 5}}})));
}

TEST_CASE("pdf: values up to 2^63-1 and below 0") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  checked_text(pdf_of(story_of({{"main;all", {0, kMost}}})));
  checked_text(pdf_of(story_of({{"main;all", {kMost, 0, kMost}}})));
  checked_text(pdf_of(story_of({{"main;less", {-500, -100, -900}}, {"main;more", {10, 300, 200}}})));
}

TEST_CASE("pdf: filtered and unattributed bytes have their lines") {
  FakeReport report;
  report.row("main;a", 100, 300).unattributed(50, 70).filtered(1000, 5000);
  render::Story story = story_of({{"main;a", {100, 300}}});
  report.get().baseline = story.overall.baseline;
  report.get().current = story.overall.current;
  story.overall = report.get();
  const std::string text = checked_text(pdf_of(story));
  if (text.empty()) return;
  CHECK(text.find("[filtered out]") != std::string::npos);
  CHECK(text.find("+3.91 KiB") != std::string::npos);  // 4000 B
}

TEST_CASE("pdf: a wide graph loses nodes, not legibility, and says how many") {
  std::vector<Line> lines;
  for (int i = 0; i < 300; ++i)
    lines.push_back({std::string("main;dispatch_with_a_rather_long_name_")
                         .append(std::to_string(i % 60))
                         .append(";worker_")
                         .append(std::to_string(i)),
                     {0, 100'000 + i}});
  const std::string text = checked_text(pdf_of(story_of(lines)));
  if (text.empty()) return;
  CHECK(text.find("hidden: ") != std::string::npos);
  CHECK(count(text, "\f") == 2);
}

TEST_CASE("pdf: the page of the graph says what a comparison says of its inputs, the gravest first") {
  render::Story story = twelve_snapshots();
  story.overall.notes.add(Severity::info, "native memory is invisible to it");
  story.overall.notes.add(Severity::data_loss, "a snapshot is partial", std::nullopt, 3);
  std::string text = checked_text(pdf_of(story));
  if (text.empty()) return;
  text = second_page(text);
  const std::size_t partial = text.find("data loss: a snapshot is partial (3 times)");
  REQUIRE(partial != std::string::npos);
  CHECK(text.find("native memory is invisible to it") > partial);
  // Long ones are wrapped, many are counted, and the graph makes room.
  for (int i = 0; i < 9; ++i) story.overall.notes.add(Severity::warning, std::to_string(i) + std::string(1000, 'x'));
  text = checked_text(pdf_of(story));
  text = second_page(text);
  CHECK(text.find("8 more notes") != std::string::npos);
  CHECK(text.find("svc.1000.heap") != std::string::npos);
}

TEST_CASE("pdf: a table that has too little room on page 1 is a page of its own") {
  std::vector<Line> lines;
  for (int i = 0; i < 12; ++i) lines.push_back({"main;f" + std::to_string(i), {0, 100'000 - i}});
  render::Story story = story_of(lines);
  const auto pages = [&] { return count(checked_text(pdf_of(story)), "\f"); };
  if (pages() == 0) return;
  CHECK(pages() == 2);
  auto told = std::make_shared<snapdiff::Story>();
  told->events.assign(12, {Event::Kind::restart, "a restart", {{std::string(200, 'x')}}});
  story.overall.story = told;
  CHECK(pages() == 3);
}

TEST_CASE("pdf: letter paper") {
  auto pdf = render::to_pdf(twelve_snapshots(), {}, render::Paper::letter);
  REQUIRE(pdf.has_value());
  if (!installed("pdfinfo")) {
    WARN("skipped: pdfinfo is not installed");
    return;
  }
  int status = 0;
  const std::string info = output_of(std::string("pdfinfo ").append(temporary_file("letter.pdf", *pdf)), status);
  CHECK(info.find("612 x 792 pts") != std::string::npos);
}

TEST_CASE("pdf: one snapshot is refused, verdicts that do not fit are an internal error") {
  render::Story story = twelve_snapshots();
  story.verdicts.pop_back();
  auto wrong = render::to_pdf(story, {});
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().code == ErrorCode::internal);
  story.steps.resize(1);
  auto one = render::to_pdf(story, {});
  REQUIRE_FALSE(one.has_value());
  CHECK(one.error().message == "report of 1 snapshots: expected two or more");
}

// Run by the next case in a process that sees no font.
TEST_CASE("pdf: no font (child)", "[.nofonts]") {
  const auto pdf = render::to_pdf(story_of({{"main;a", {0, 1}}}), {});
  REQUIRE_FALSE(pdf.has_value());
  CHECK(pdf.error().code == ErrorCode::io);
  CHECK(pdf.error().message == "no font is installed: expected at least the package fonts-dejavu-core");
  CHECK_FALSE(render::to_svg(story_of({{"main;a", {0, 1}}}), {}).has_value());
}

TEST_CASE("pdf: without any font there is an error that names the package") {
  std::array<char, 4096> self{};
  const ssize_t length = readlink("/proc/self/exe", self.data(), self.size() - 1);
  REQUIRE(length > 0);
  const std::string config = temporary_file(
      "empty-fonts.conf", "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"fonts.dtd\"><fontconfig></fontconfig>");
  int status = 0;
  const std::string told = output_of(
      std::string("FONTCONFIG_FILE='").append(config).append("' '").append(self.data()).append("' '[.nofonts]' 2>&1"),
      status);
  INFO(told);
  CHECK(status == 0);
  CHECK(told.find("All tests passed") != std::string::npos);
}
