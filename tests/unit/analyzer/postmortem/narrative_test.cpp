#include "unit/analyzer/postmortem/told.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

TEST_CASE("narrative: a leak is told with its path, since when, and what to do") {
  const Postmortem report = told(leaking(12));
  CHECK(plain(report.narrative.headline) == "In-use bytes grew from 49.8 to 60.5 KiB");
  CHECK(report.narrative.verdict == "GROWING");
  CHECK(of_kind(report, Finding::Kind::where).find("100 % of the growth, +10.7 KiB, was allocated through") == 0);
  CHECK(of_kind(report, Finding::Kind::since) ==
        "leak rose at every step, its largest step "
        "(+0.98 KiB).\n");
  CHECK(
      of_kind(report, Finding::Kind::next).find("snapdiff peek 'leak' /srv/dumps/svc.1.heap /srv/dumps/svc.12.heap") !=
      std::string::npos);
  CHECK(of_kind(report, Finding::Kind::next).find("Look at leak.cc:7") != std::string::npos);
  CHECK(report.narrative.in_short.size() == 5);
}

TEST_CASE("narrative: names are spans of their own") {
  const Postmortem report = told(leaking(12));
  for (const Finding& finding : report.narrative.findings) {
    for (const Span& span : finding.text) {
      CAPTURE(span.text);
      if (span.name) continue;
      for (const std::string_view name : {"leak.cc", "serve", "svc.", "/srv"})
        CHECK(span.text.find(name) == std::string::npos);
    }
  }
}

TEST_CASE("narrative: below eight snapshots no verdict is said") {
  for (const std::size_t count : {2U, 3U, 7U}) {
    const Postmortem report = told(leaking(count));
    CHECK(report.narrative.verdict.empty());
    CHECK(of_kind(report, Finding::Kind::certainty).find("GROWING") == std::string::npos);
    CHECK(plain(report.narrative.in_short[2]).find("No verdict: ") == 0);
  }
}

TEST_CASE("narrative: nothing changed, nothing claimed") {
  const Postmortem report = told({"main;a 100 1\n", "main;a 100 1\n"});
  CHECK(plain(report.narrative.headline) == "In-use bytes stayed at 100 B");
  CHECK(of_kind(report, Finding::Kind::where) == "No stack changed between the first and the last snapshot.\n");
  CHECK(of_kind(report, Finding::Kind::since).empty());
  CHECK(report.narrative.hints.empty());
}

TEST_CASE("narrative: the net hides, in the order of what is larger") {
  const Postmortem report = told({"main;big 9000 1\nmain;small 100 1\n", "main;big 1000 1\nmain;small 2100 1\n"});
  CHECK(of_kind(report, Finding::Kind::not_this)
            .find("The net hides +1.95 KiB of growth under \u22127.81 KiB of shrinkage.") != std::string::npos);
  CHECK(report.narrative.verdict.empty());
}

TEST_CASE("narrative: what came and went is told with both snapshots") {
  std::vector<std::string> texts = leaking(10);
  for (const std::size_t i : {3U, 4U, 5U}) texts[i] += "main;burst 30000 1\n";
  const Postmortem report = told(texts);
  CHECK(of_kind(report, Finding::Kind::not_this) ==
        "29.3 KiB allocated and freed again: burst, allocated at snapshot 4 (svc.4.heap), freed at snapshot 7 "
        "(svc.7.heap).\n");
  CHECK(report.narrative.verdict == "GROWING");
}

TEST_CASE("narrative: the end of the range is no overflow") {
  const std::string most = std::to_string(INT64_MAX);
  const Postmortem report = told({"main;a 0 0\nmain;b 5 1\n", "main;a " + most + " 1\n"});
  CHECK(plain(report.narrative.headline).find("8.00 EiB") != std::string::npos);
  CHECK_FALSE(of_kind(report, Finding::Kind::where).empty());
}

TEST_CASE("narrative: long and broken names are cut, never in a character") {
  std::string name(5000, 'x');
  for (std::size_t i = 0; i < name.size(); i += 2) name.replace(i, 2, "\xc3\xa9");
  const Postmortem report = told({"main;" + name + " 1 1\n", "main;" + name + " 5000 1\n"});
  for (const Prose& line : report.narrative.in_short) {
    for (const Span& span : line) {
      if (!span.name) continue;
      CHECK(span.text.size() <= 123);
      for (std::size_t i = 0; i + 1 < span.text.size(); ++i) {
        if (static_cast<unsigned char>(span.text[i]) == 0xC3)
          CHECK(static_cast<unsigned char>(span.text[i + 1]) == 0xA9);
      }
    }
  }
}

TEST_CASE("narrative: a remark of all inputs is told once") {
  std::vector<SnapshotRef> refs;
  for (int i = 0; i < 3; ++i) {
    TextOptions options;
    options.facts.notes.add(Severity::warning, "shared remark");
    if (i == 1) options.facts.notes.add(Severity::data_loss, "only here");
    SnapshotRef ref;
    ref.snapshot = std::make_shared<const Snapshot>(snapshot("main;a " + std::to_string(i + 1) + " 1\n", options));
    ref.ref = "f" + std::to_string(i);
    refs.push_back(std::move(ref));
  }
  const Result<Postmortem> report = postmortem::assemble(refs, {});
  REQUIRE(report);
  std::vector<std::string> texts;
  for (const Note& note : report->notes.all()) texts.push_back(note.text);
  CHECK(std::count(texts.begin(), texts.end(), "3 of 3 inputs: shared remark") == 1);
  CHECK(std::count(texts.begin(), texts.end(), "f1: only here") == 1);
}
