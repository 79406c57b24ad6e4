#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/text_tools.hpp"
#include "fakes.hpp"

using namespace snapdiff;
using namespace snapdiff::report;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Style width(std::size_t columns) {
  Style style;
  style.width = columns;
  return style;
}

}  // namespace

TEST_CASE("text: no line is wider than the terminal, whatever the names") {
  fakes::DiffMaker maker;
  const std::string longest(300, 'x');
  maker.row("ns::" + longest + "<int>::method(int) < caller_of_it < main", {0, 123456789}, {0, 1234567});
  maker.row("漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 < main", {5, 5000000000}, {1, 2});
  maker.row("ns::" + longest + "@b.cc:1 < ns::other" + longest + "@g.cc:2 < main", {0, 4000000000}, {0, 3});
  maker.tell();
  maker.report().matched[0] = 0.5;
  maker.report().matched[2] = 0.3;
  maker.report().matched[6] = 0.1;
  maker.report().matched[7] = 0.1;
  maker.report().notes.add(Severity::warning,
                           "a rather long remark about the two files that does not fit on one line of eighty columns");
  for (const std::size_t columns : {80U, 100U, 120U, 200U}) {
    for (const std::string& line : lines_of(write_diff(maker.report(), width(columns)))) {
      INFO(line);
      CHECK((display_width(line) <= columns || line.find("cc:") != std::string::npos));
    }
  }
}

TEST_CASE("text: without UTF-8 every byte is ASCII") {
  Style style = width(80);
  style.utf8 = false;
  fakes::DiffMaker maker;
  maker.row("größe < main", {1, 2});
  for (const std::string& out :
       {write_diff(maker.report(), style), write_diff(fakes::svc_diff(4, 5), style),
        write_diff(fakes::sampled_diff(), style), write_top(fakes::svc_top(), style),
        write_series(fakes::svc_series(), {}, {}, style), write_peek(fakes::svc_peek(), style)}) {
    CHECK(std::all_of(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  }
}

TEST_CASE("text: terminal escapes of an input reach no form") {
  fakes::DiffMaker maker;
  maker.row("evil\x1b]0;title\x07\xc2\x9b < main", {1, 2});
  maker.report().metric = "inuse\x1b[2Jspace";
  maker.row("evil\x1b[31m@f\x1b[31m.cc:1 < main", {1, 200});
  maker.tell();
  maker.report().common_path = "main\x1b[1m";
  maker.report().notes.add(Severity::info, "text\x1b[0m");
  maker.report().baseline = fakes::ref_named("a\x1b[31m.heap");
  for (const Form form : {Form::text, Form::json, Form::jsonl, Form::csv, Form::markdown}) {
    Style style = width(120);
    style.form = form;
    const std::string out = write_diff(maker.report(), style);
    CHECK(out.find('\x1b') == std::string::npos);
    CHECK(out.find('\x07') == std::string::npos);
    CHECK(out.find("\xc2\x9b") == std::string::npos);
  }
  CHECK(to_folded(maker.report()).find('\x1b') == std::string::npos);
  CHECK(to_speedscope(maker.report()).find('\x1b') == std::string::npos);
}

TEST_CASE("text: shown rows, others, unattributed and filtered add up to the total") {
  GrowthReport report = fakes::svc_diff(4, 5);
  report.filtered = {100, 50};
  report.unattributed = {7, 9};
  report.total.baseline += 107;
  report.total.current += 59;
  for (const std::size_t rows : {0U, 1U, 2U, 3U, 20U}) {
    for (const std::int64_t floor : {0, 20000, 300000}) {
      Style style;
      style.max_rows = rows;
      style.min_bytes = floor;
      for (const Unchanged unchanged : {Unchanged::shown, Unchanged::hidden}) {
        const Selection selection = select_rows(report, style, unchanged);
        std::int64_t growth = selection.others.value.growth() + report.filtered.growth() + report.unattributed.growth();
        for (const std::uint32_t row : selection.rows) growth += report.rows[row].value.growth();
        CHECK(growth == report.total.growth());
        CHECK(selection.rows.size() + selection.others.rows == report.rows.size());
      }
    }
  }
}

TEST_CASE("text: values at both ends of 64 bits are shown, not computed wrong") {
  fakes::DiffMaker maker;
  maker.row("a < main", {0, INT64_MAX}, {0, INT64_MAX});
  const std::string out = write_diff(maker.report(), width(80));
  CHECK(out.find("+8.00 EiB") != std::string::npos);
  CHECK(out.find("+9223372036854775807") != std::string::npos);
  fakes::DiffMaker negative;
  negative.row("a < main", {0, INT64_MIN});
  CHECK(write_diff(negative.report(), width(80)).find("-8.00 EiB") != std::string::npos);
}

TEST_CASE("text: the first line has both ends, the growth and its objects") {
  fakes::DiffMaker maker;
  maker.row("a < main", {1024, 12595}, {1, 3});
  maker.tell();
  CHECK(write_diff(maker.report(), width(80)).find("in use    1.00 KiB \u2192 12.3 KiB  (+11.3 KiB, +2 objects)\n") ==
        0);
}

TEST_CASE("text: a diff of equal snapshots says so") {
  const std::string out = write_diff(fakes::svc_diff(3, 3), width(80));
  CHECK(out.find("culprits  none: nothing changed") != std::string::npos);
  CHECK(out.find("[7 others]") == std::string::npos);
  CHECK(out.find("[8 others]") != std::string::npos);  // background holds 4 MiB at snapshot 4
}

TEST_CASE("text: one line per culprit, with place, growth, share and pace, cut from its end where it is narrow") {
  const SeriesReport series = fakes::svc_series();
  const std::string wide = write_series(series, {}, {}, width(120));
  CHECK(wide.find(
            "GROWING   leak_sessions  svc_cache.cc:26  +2.69 MiB  47 %  +250 KiB a snapshot, in 11 of 11 steps\n") !=
        std::string::npos);
  const std::string narrow = write_series(series, {}, {}, width(80));
  CHECK(narrow.find("GROWING   leak_sessions  svc_cache.cc:26  +2.69 MiB  47 %  +250 KiB a snapshot\n") !=
        std::string::npos);
  CHECK(wide.find("background: 4.00 MiB allocated (snapshot 3) and freed again (6)") != std::string::npos);
}

TEST_CASE("text: a report without rows has a total, and no lines of nothing") {
  fakes::DiffMaker maker;
  maker.report().matched[0] = 0;
  const std::string out = write_diff(maker.report(), width(80));
  CHECK(out.find("nothing to match") != std::string::npos);
  CHECK(out.find("[0 others]") == std::string::npos);
  CHECK(out.find("[unattributed]") == std::string::npos);
  CHECK(out.find("TOTAL") != std::string::npos);
}

TEST_CASE("text: matching tiers are named, the unmatched last") {
  GrowthReport report = fakes::svc_diff(0, 11);
  report.matched[0] = 0.004;
  report.matched[3] = 0.006;
  report.matched[static_cast<std::size_t>(MatchTier::none)] = 0.99;
  const std::string out = write_diff(report, width(200));
  CHECK(out.find("<1 % of bytes by function, lines moved, <1 % by build id, 99 % unmatched (new or gone); exact") !=
        std::string::npos);
}

TEST_CASE("text: notes stand below the table, the gravest first") {
  GrowthReport report = fakes::svc_diff(0, 11);
  report.notes.add(Severity::info, "one");
  report.notes.add(Severity::warning, "two");
  report.notes.add(Severity::data_loss, "three", 5, 4);
  report.possible_pairs = 2;  // the engine's own note says so
  const std::vector<std::string> lines = lines_of(write_diff(report, width(80)));
  REQUIRE(lines.size() > 5);
  const auto end = lines.end();
  CHECK(end[-3] == "data loss: three (4 times)");
  CHECK(end[-2] == "warning: two");
  CHECK(end[-1] == "note: one");
}

TEST_CASE("text: a stack of a million frames is shown at once") {
  fakes::DiffMaker maker;
  std::vector<FrameView> frames;
  FrameView a;
  a.function = "ping";
  FrameView b;
  b.function = "pong";
  for (int i = 0; i < 500000; ++i) {
    frames.push_back(a);
    frames.push_back(b);
  }
  maker.row(frames, {0, 10});
  CHECK(write_diff(maker.report(), width(80)).find("ping ‹ pong ‹ ping") != std::string::npos);
}

TEST_CASE("names: frames without symbols are module and offset") {
  fakes::FakeStacks stacks;
  const Glyphs glyphs = glyphs_for(true);
  const auto cell = [&](const std::string& text, std::size_t columns) {
    return stack_cell(stacks.parse(text), columns, glyphs).text;
  };
  CHECK(cell("!/usr/lib/libx.so.6+1234", 80) == "libx.so.6+0x1234");
  FrameView bare;
  bare.offset = 0x77;
  CHECK(recorded_frame_text(bare) == "0x77");
  bare.module = "/m/lib.so";
  bare.offset = kNoOffset;
  CHECK(recorded_frame_text(bare) == "[unknown in lib.so]");
  CHECK(recorded_frame_text(FrameView{}) == "[unknown]");
}

TEST_CASE("names: callers are dropped from the root end, then the leaf is cut") {
  fakes::FakeStacks stacks;
  const Glyphs glyphs = glyphs_for(true);
  const auto cell = [&](const std::string& text, std::size_t columns) {
    return stack_cell(stacks.parse(text), columns, glyphs).text;
  };
  CHECK(cell("alpha < beta < gamma", 20) == "alpha ‹ beta ‹ gamma");
  CHECK(cell("alpha < beta < gamma", 19) == "alpha ‹ beta ‹ …");
  CHECK(cell("alpha < beta < gamma", 15) == "alpha ‹ …");
  CHECK(cell("alpha_beta_gamma < beta", 16) == "alpha_beta_gamma");
  CHECK(cell("ns::alpha_beta_gamma < beta", 19) == "ns…alpha_beta_gamma");
  CHECK(cell("f < f < f < g < g < main < _start", 40) == "f ↻ ‹ g ↻");
  CHECK(cell("main < _start", 40) == "main");
  CHECK(cell("std::a() < std::b() < user < std::thread::run() < main", 60) == "user (b)");
}

TEST_CASE("names: rows that would read alike show where they differ") {
  fakes::FakeStacks stacks;
  const Glyphs glyphs = glyphs_for(true);
  const auto cells = [&](const std::vector<std::string>& texts, std::size_t columns) {
    return stack_cells(
        texts.size(), [&](std::size_t i, std::vector<FrameView>& frames) { frames = stacks.parse(texts[i]); },
        [&](std::size_t) { return columns; }, glyphs);
  };
  using Texts = std::vector<std::string>;
  const Texts three = {"alloc < wrap < grow < parse < main", "alloc < wrap < grow < index < main", "other < main"};
  CHECK(cells(three, 60) == Texts{"alloc ‹ wrap ‹ grow ‹ parse", "alloc ‹ wrap ‹ grow ‹ index", "other"});
  CHECK(cells(three, 22) == Texts{"alloc ‹ … ‹ parse", "alloc ‹ … ‹ index", "other"});
  CHECK(cells(three, 15) == Texts{"… ‹ parse", "… ‹ index", "other"});
  // Directly below the leaf nothing is left out; what comes later is looked at where that reads alike again.
  CHECK(cells({"alloc < first_caller < z", "alloc < other_caller < z"}, 26) ==
        Texts{"alloc ‹ first_caller ‹ z", "alloc ‹ other_caller ‹ z"});
  CHECK(cells({"a < b < cc < e < x1", "a < b < cc < e < x2", "a < b < dd < e < x1"}, 13) ==
        Texts{"a ‹ … ‹ x1", "a ‹ … ‹ x2", "… ‹ dd ‹ …"});
  // One ends where the other goes on, and two that are the same stay so.
  CHECK(cells({"alloc < wrapper", "alloc < wrapper < caller_of_it"}, 26) ==
        Texts{"alloc ‹ wrapper", "alloc ‹ wrapper ‹ …"});
  CHECK(cells({"a < b", "a < b"}, 40) == Texts{"a ‹ b", "a ‹ b"});
  const std::string deep = [] {
    std::string text = "leaf";
    for (int i = 0; i < 2000; ++i) text += " < f" + std::to_string(i);
    return text;
  }();
  CHECK(cells({deep, deep + " < end"}, 30)[0] == "leaf ‹ f0 ‹ f1 ‹ f2 ‹ f3 ‹ …");
}

TEST_CASE("names: stacks of the same functions show the lines where they differ") {
  fakes::FakeStacks stacks;
  const Glyphs glyphs = glyphs_for(true);
  const auto cells = [&](const std::vector<std::string>& texts, std::size_t columns, LeafSite site) {
    return stack_cells(
        texts.size(), [&](std::size_t i, std::vector<FrameView>& frames) { frames = stacks.parse(texts[i]); },
        [&](std::size_t) { return columns; }, glyphs, site);
  };
  using Texts = std::vector<std::string>;
  const Texts layers = {"list@opt.py:125 < init@opt.py:507 < init@opt.py:664 < all@opt.py:813",
                        "list@opt.py:125 < init@opt.py:319 < init@opt.py:664 < all@opt.py:813",
                        "list@opt.py:125 < init@opt.py:319 < init@opt.py:664 < all@opt.py:900"};
  CHECK(cells(layers, 60, LeafSite::beside) ==
        Texts{"list ‹ init:507 ↻ ‹ all", "list ‹ … ‹ all:813", "list ‹ … ‹ all:900"});
  const Texts leaves = {"read@io.c:10 < main", "read@io.c:20 < main"};
  CHECK(cells(leaves, 60, LeafSite::beside) == Texts{"read", "read"});
  CHECK(cells(leaves, 60, LeafSite::nowhere) == Texts{"read:10", "read:20"});
  // Stacks of libraries alone have no own frame to look at.
  CHECK(cells({"std::a < std::b", "std::a < std::b", "std::a < std::b"}, 60, LeafSite::beside) ==
        Texts{"a ‹ b", "a ‹ b", "a ‹ b"});
  // Nothing to tell them apart: no line, or no room for one.
  CHECK(cells({"a < b@f.c:1 < c", "a < b < c"}, 60, LeafSite::beside) == Texts{"a ‹ b:1 ‹ c", "a ‹ b ‹ c"});
  CHECK(cells({"alpha_beta < b@f.c:1", "alpha_beta < b@f.c:2"}, 12, LeafSite::beside) ==
        Texts{"al…eta ‹ b:1", "al…eta ‹ b:2"});
  // Lines of a damaged store are unknown, as 0 is.
  CHECK(cells({"a < b@f.c:-1", "a < b@f.c:-2", "a < b@f.c:0"}, 60, LeafSite::beside) ==
        Texts{"a ‹ b", "a ‹ b", "a ‹ b"});
}

TEST_CASE("colour: only escapes are added") {
  Style plain = width(120);
  Style colour = plain;
  colour.colour = true;
  for (const GrowthReport& report : {fakes::svc_diff(4, 5), fakes::sampled_diff()}) {
    std::string painted_text = write_diff(report, colour);
    CHECK(painted_text.find("\x1b[38;5;166m") != std::string::npos);
    std::string stripped;
    for (std::size_t i = 0; i < painted_text.size(); ++i) {
      if (painted_text[i] != '\x1b') {
        stripped += painted_text[i];
        continue;
      }
      while (painted_text[i] != 'm') ++i;
    }
    CHECK(stripped == write_diff(report, plain));
  }
}

TEST_CASE("series: below 8 snapshots there is no verdict, and long ones show both ends") {
  CHECK(write_diff(fakes::svc_diff(0, 4), width(80))
            .find("verdict   none: not enough data for a trend verdict (needs 8 snapshots)") != std::string::npos);

  SeriesReport longer = fakes::svc_series();
  const SeriesStep step = longer.steps[5];
  longer.steps.resize(100, step);
  const std::string out = write_series(longer, {}, {}, width(80));
  CHECK(out.find("60 more steps: -n 0 shows all") != std::string::npos);
  Style all = width(80);
  all.max_rows = 0;
  CHECK(write_series(longer, {}, {}, all).find("more steps") == std::string::npos);
}

TEST_CASE("series: each culprit has its own verdict, and the freed burst is none of them") {
  const std::string out = write_series(fakes::svc_series(), {}, {}, width(120));
  for (const char* const line : {"GROWING   leak_sessions", "GROWING   make_log_line", "GROWING   leak_rec"})
    CHECK(out.find(line) != std::string::npos);
  CHECK(out.find("GROWING   background") == std::string::npos);
}
