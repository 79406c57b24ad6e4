#include <catch2/catch.hpp>
#include <cstdio>
#include <map>
#include <utility>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

TextOptions with_id(std::string module, std::string id) {
  TextOptions options;
  options.build_ids[std::move(module)] = std::move(id);
  return options;
}

TextOptions mapped(std::uint64_t start, std::uint64_t size, std::uint64_t offset = 0x1000) {
  TextOptions options;
  options.mappings.emplace_back("/bin/app", Mapping{start, start + size, offset, {}});
  return options;
}

double share(const GrowthReport& r, MatchTier tier) { return r.matched[static_cast<std::size_t>(tier)]; }

bool has_note(const GrowthReport& r, std::string_view part) {
  for (const Note& note : r.notes.all()) {
    if (note.text.find(part) != std::string::npos) return true;
  }
  return false;
}

/// A program whose functions all lie one line lower after an edit at the top of the file.
std::string program(int shift, std::string_view worker = "worker") {
  const auto line = [&](int n) { return std::to_string(n + shift); };
  return "main@app.cc:" + line(40) + ";" + std::string(worker) + "@app.cc:" + line(20) + ";load@app.cc:" + line(10) +
         " 100 1\nmain@app.cc:" + line(41) + ";" + std::string(worker) + "@app.cc:" + line(21) +
         ";save@app.cc:" + line(5) + " 50 1\n";
}

}  // namespace

TEST_CASE("T0: equal build ids match by offset") {
  const TextOptions id = with_id("/bin/app", "abc");
  const GrowthReport r =
      must_diff(heap("/bin/app+0x10;/bin/app+0x20 5 1\n", id), heap("/bin/app+0x10;/bin/app+0x20 9 1\n", id));
  REQUIRE(r.rows.size() == 1);
  CHECK(r.rows[0].tier == MatchTier::build_id);
  CHECK(share(r, MatchTier::build_id) == 1);
}

TEST_CASE("T0: other build ids never match by offset, and say so") {
  const GrowthReport r = must_diff(heap("/bin/app+0x10 5 1\n", with_id("/bin/app", "abc")),
                                   heap("/bin/app+0x10 9 1\n", with_id("/bin/app", "def")));
  CHECK(r.rows.size() == 2);
  CHECK(share(r, MatchTier::none) == 1);
  CHECK(has_note(r, "app is another build"));
}

TEST_CASE("T1: without build ids the size and offset of the mapping decide") {
  // Another load address, sizes equal after rounding up to 4 KiB.
  const GrowthReport same = must_diff(heap("/bin/app+0x1010 5 1\n", mapped(0x10000, 0x2000)),
                                      heap("/bin/app+0x1010 9 1\n", mapped(0x7f0000, 0x1ff0)));
  REQUIRE(same.rows.size() == 1);
  CHECK(same.rows[0].tier == MatchTier::module_offset);
  CHECK_FALSE(has_note(same, "another build"));
  CHECK(has_note(same, "different processes"));
  const GrowthReport other = must_diff(heap("/bin/app+0x1010 5 1\n", mapped(0x10000, 0x2000)),
                                       heap("/bin/app+0x1010 9 1\n", mapped(0x10000, 0x3000)));
  CHECK(other.rows.size() == 2);
  CHECK(has_note(other, "app is another build"));
  // Named frames of that module still match by name.
  const GrowthReport named =
      must_diff(heap("f@a.cc:1#/bin/app;/bin/app+0x1010 5 1\nf@a.cc:1#/bin/app 1 1\n", mapped(0x10000, 0x2000)),
                heap("f@a.cc:1#/bin/app;/bin/app+0x1010 9 1\nf@a.cc:1#/bin/app 2 1\n", mapped(0x10000, 0x3000)));
  CHECK(named.rows.size() == 3);
  CHECK(row_called(named, "f@a.cc:1").tier == MatchTier::function_line);
  // No map at all contradicts nothing.
  CHECK(must_diff("/bin/app+0x1010 5 1\n", "/bin/app+0x1010 9 1\n").rows[0].tier == MatchTier::module_offset);
}

TEST_CASE("T1: a mapping of data that differs is no other build") {
  TextOptions a = mapped(0x10000, 0x2000);
  TextOptions b = mapped(0x10000, 0x2000);
  a.mappings.emplace_back("/bin/app", Mapping{0x12000, 0x13000, 0x2000, {}});
  b.mappings.emplace_back("/bin/app", Mapping{0x12000, 0x15000, 0x2000, {}});
  CHECK(must_diff(heap("/bin/app+0x2010 5 1\n", a), heap("/bin/app+0x2010 9 1\n", b)).rows.size() == 1);
}

TEST_CASE("T1: addresses outside of modules hold within one process only") {
  TextOptions a, b;
  a.facts.pid = 1;
  b.facts.pid = 2;
  CHECK(must_diff(heap("+0x10 5 1\n", a), heap("+0x10 9 1\n", a)).rows.size() == 1);
  CHECK(must_diff(heap("+0x10 5 1\n", a), heap("+0x10 9 1\n", b)).rows.size() == 2);
}

TEST_CASE("T2: the weakest frame gives the tier of its stack") {
  const TextOptions id = with_id("/bin/app", "abc");
  const GrowthReport r = must_diff(heap("/bin/app+0x10;f@f.cc:3 5 1\n", id), heap("/bin/app+0x10;f@f.cc:3 9 1\n", id));
  CHECK(r.rows[0].tier == MatchTier::function_line);
}

TEST_CASE("T3: moved functions match without their lines") {
  const GrowthReport r = must_diff(program(0), program(3));
  REQUIRE(r.rows.size() == 2);
  for (const GrowthRow& row : r.rows) {
    CHECK(row.tier == MatchTier::function_file);
    CHECK(row.row_class == RowClass::same);
  }
  CHECK(share(r, MatchTier::function_file) == 1);
  // The newer side's lines are shown.
  CHECK(row_called(r, "main@app.cc:43;worker@app.cc:23;load@app.cc:13").value == Change{100, 100});
}

TEST_CASE("T3: by line, values stay where each side has them, by function nothing changed") {
  const GrowthReport lines = must_diff(program(0), program(3), by(GroupBy::line));
  CHECK(row_called(lines, "app.cc:10").value == Change{100, 0});
  CHECK(row_called(lines, "app.cc:13").value == Change{0, 100});
  const GrowthReport functions = must_diff(program(0), program(3), by(GroupBy::function));
  for (const GrowthRow& row : functions.rows) CHECK(row.row_class == RowClass::same);
  CHECK(functions.grew == 0);
}

TEST_CASE("T3: several stacks that only lines tell apart stay apart") {
  const GrowthReport r =
      must_diff("main@m.cc:1;f@f.cc:10 5 1\nmain@m.cc:1;f@f.cc:20 6 1\nroot@o.cc:7" + moved_frames(0) + " 1 1\n",
                "main@m.cc:1;f@f.cc:12 7 1\nmain@m.cc:1;f@f.cc:22 8 1\nroot@o.cc:7" + moved_frames(2) + " 1 1\n");
  REQUIRE(r.rows.size() == 3);
  CHECK(row_called(r, "main@m.cc:1;f@f.cc:12").value == Change{5, 7});
  CHECK(row_called(r, "main@m.cc:1;f@f.cc:22").value == Change{6, 8});
  for (const GrowthRow& row : r.rows) CHECK(row.tier == MatchTier::function_file);
}

TEST_CASE("another build: an old line that is another call now is not the same stack") {
  // Every line moved by 10: f@f.cc:20 is on both sides, and calls g before and h after.
  const std::string old_build =
      "main@m.cc:5;f@f.cc:10;h@h.cc:1 100 1\nmain@m.cc:5;f@f.cc:20;g@g.cc:1 200 1\nmain@m.cc:5;k@f.cc:40 7 1\n";
  const std::string new_build =
      "main@m.cc:5;f@f.cc:20;h@h.cc:1 110 1\nmain@m.cc:5;f@f.cc:30;g@g.cc:1 210 1\nmain@m.cc:5;k@f.cc:50 7 1\n";
  const GrowthReport r = must_diff(old_build, new_build);
  REQUIRE(r.rows.size() == 3);
  CHECK(row_called(r, "main@m.cc:5;f@f.cc:20;h@h.cc:1").value == Change{100, 110});
  CHECK(row_called(r, "main@m.cc:5;f@f.cc:30;g@g.cc:1").value == Change{200, 210});
  DiffOptions strict;
  strict.match_strictly = true;
  for (const GrowthRow& row : must_diff(old_build, new_build, strict).rows) CHECK(row.tier == MatchTier::none);
}

TEST_CASE("another build: mappings of equal size, and other code at the offsets") {
  const TextOptions a = mapped(0x10000, 0x2000);
  const TextOptions b = mapped(0x50000, 0x2000);
  std::string old_build, new_build;
  for (int i = 0; i < 12; ++i) {
    const auto at = [](int offset) {
      char text[32];
      std::snprintf(text, sizeof text, "/bin/app+0x%x", 0x1000 + offset);
      return std::string(text);
    };
    // Two of twelve offsets are met by chance.
    old_build += at(i * 16) + " 5 1\n";
    new_build += at(i < 2 ? i * 16 : i * 16 + 4) + " 9 1\n";
  }
  const GrowthReport r = must_diff(heap(old_build, a), heap(new_build, b));
  CHECK(r.rows.size() == 24);
  CHECK(has_note(r, "app is another build"));
}

TEST_CASE("T3 does not fire within one build") {
  SECTION("a line that both sides have shows that the function did not move") {
    const GrowthReport r = must_diff("f@f.cc:10 5 1\nf@f.cc:20 6 1\n", "f@f.cc:20 6 1\nf@f.cc:30 7 1\n");
    CHECK(r.rows.size() == 3);
    CHECK(row_called(r, "f@f.cc:10").row_class == RowClass::gone);
    CHECK(row_called(r, "f@f.cc:30").row_class == RowClass::added);
  }
  SECTION("equal build ids") {
    const TextOptions id = with_id("/bin/app", "abc");
    CHECK(must_diff(heap("f@f.cc:10#/bin/app 5 1\n", id), heap("f@f.cc:30#/bin/app 7 1\n", id)).rows.size() == 2);
  }
  SECTION("equal mappings with code") {
    const std::string frames = "/bin/app+0x1010 1 1\n";
    CHECK(must_diff(heap("f@f.cc:10#/bin/app 5 1\n" + frames, mapped(0x10000, 0x2000)),
                    heap("f@f.cc:30#/bin/app 7 1\n" + frames, mapped(0x90000, 0x2000)))
              .rows.size() == 3);
  }
  SECTION("one process") {
    TextOptions pid;
    pid.facts.pid = 7;
    CHECK(must_diff(heap("f@f.cc:10 5 1\n", pid), heap("f@f.cc:30 7 1\n", pid)).rows.size() == 2);
  }
}

TEST_CASE("T4: renumbered lambdas and clones of a rebuilt program match") {
  const GrowthReport r = must_diff(program(0, "run(int)::{lambda(int)#1}::operator()(int) const"),
                                   program(3, "run(int)::{lambda(int)#2}::operator()(int) const"));
  REQUIRE(r.rows.size() == 2);
  for (const GrowthRow& row : r.rows) {
    CHECK(row.tier == MatchTier::normalised);
    CHECK(row.value.growth() == 0);
  }
  CHECK(r.rule_set == "1");
  const GrowthReport by_function =
      must_diff(program(0, "w.constprop.0"), program(3, "w.constprop.1"), by(GroupBy::function));
  CHECK(by_function.grew == 0);
  CHECK(by_function.shrank == 0);
}

TEST_CASE("T4: a name that both sides have is nobody's new name") {
  // Lambda 1 is gone and lambda 2 is on both sides: they are two functions.
  const GrowthReport r =
      must_diff("main@m.cc:1;f::{lambda()#1}@f.cc:5 5 1\nmain@m.cc:1;f::{lambda()#2}@f.cc:9 6 1\nmain@m.cc:1" +
                    moved_frames(0) + " 1 1\n",
                "main@m.cc:3;f::{lambda()#2}@f.cc:11 6 1\nmain@m.cc:3" + moved_frames(2) + " 1 1\n");
  CHECK(row_called(r, "main@m.cc:1;f::{lambda()#1}@f.cc:5").row_class == RowClass::gone);
  CHECK(row_called(r, "main@m.cc:3;f::{lambda()#2}@f.cc:11").value == Change{6, 6});
}

TEST_CASE("T4 does not fire without evidence of another build") {
  const GrowthReport r = must_diff("main;serve.func1 5 1\n", "main;serve.func2 6 1\n");
  CHECK(r.rows.size() == 2);
}

TEST_CASE("inlining that changes only the flag changes nothing") {
  const GrowthReport r =
      must_diff("main@m.cc:1;helper@h.cc:3~;alloc@a.cc:2 5 1\n", "main@m.cc:1;helper@h.cc:3;alloc@a.cc:2 9 1\n");
  REQUIRE(r.rows.size() == 1);
  CHECK(r.rows[0].tier == MatchTier::function_line);
}

TEST_CASE("inline-free does not fire within one build") {
  const TextOptions id = with_id("/bin/app", "abc");
  const GrowthReport r =
      must_diff(heap("main@m.cc:1#/bin/app;helper@h.cc:3#/bin/app~ 5 1\n", id), heap("main@m.cc:1#/bin/app 9 1\n", id));
  CHECK(r.rows.size() == 2);
}

TEST_CASE("inline: a frame that came between is accepted and marked") {
  const std::string tail = ";b@b.cc:2;c@c.cc:3;d@d.cc:4;e@e.cc:5;f@f.cc:6;g@g.cc:7;h@h.cc:8;leaf@l.cc:9";
  const GrowthReport r =
      must_diff("main@m.cc:1" + tail + " 1000 1\nmoved@x.cc:1" + moved_frames(0) + " 1 1\n",
                "main@m.cc:1;wrapper@w.cc:1" + tail + " 1500 1\nmoved@x.cc:2" + moved_frames(1) + " 1 1\n");
  REQUIRE(r.rows.size() == 2);
  CHECK(r.rows[0].tier == MatchTier::inline_free);
  CHECK(r.rows[0].value == Change{1000, 1500});
  CHECK(share(r, MatchTier::inline_free) == Approx(2500.0 / 2502));
}

TEST_CASE("T4: a function with the callers and callees of another is that one, and is listed") {
  const GrowthReport r = must_diff(
      "main@m.cc:1;b@b.cc:2;c@c.cc:3;old@x.cc:4;leaf@l.cc:9 1000 1\nmoved@x.cc:1" + moved_frames(0) + " 1 1\n",
      "main@m.cc:1;b@b.cc:2;c@c.cc:3;fresh@y.cc:4;leaf@l.cc:9 1500 1\nmoved@x.cc:2" + moved_frames(1) + " 1 1\n");
  REQUIRE(r.rows.size() == 2);
  CHECK(r.rows[0].value == Change{1000, 1500});
  CHECK(r.rows[0].tier == MatchTier::normalised);
  REQUIRE(r.renamed.size() == 1);
  CHECK(r.renamed[0].before == "old");
  CHECK(r.renamed[0].after == "fresh");
  CHECK(r.renamed[0].stacks == 1);
  REQUIRE(r.counterpart(r.rows[0].key) != nullptr);
}

TEST_CASE("another build: all files lie elsewhere") {
  const auto program = [](const std::string& folder) {
    std::string text;
    for (int i = 0; i < 6; ++i) {
      const std::string n = std::to_string(i);
      text += "main@" + folder + "/m.cc:" + n + ";app::f" + n + "@" + folder + "/f.cc:7;leaf@" + folder + "/l.cc:9 10" +
              n + " 1\n";
    }
    return text;
  };
  const GrowthReport r = must_diff(program("/build/1"), program("/ci/2"));
  REQUIRE(r.rows.size() == 6);
  for (const GrowthRow& row : r.rows) CHECK(row.value.growth() == 0);
  CHECK(share(r, MatchTier::function_file) == 1);
}

TEST_CASE("another build: calls that the optimiser made jumps leave their callers out") {
  std::string before, after;
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i), root = "main@m.cc:1" + n + ";", deep = "g" + n + "@g.cc:2" + n + ";";
    before += root + "f@f.cc:3" + n + ";" + deep + "leaf@l.cc:4" + n + " 10" + n + " 1\n";
    after += root + deep + "leaf@l.cc:4" + n + " 10" + n + " 1\n";
  }
  const GrowthReport r = must_diff(before, after);
  REQUIRE(r.rows.size() == 6);
  for (const GrowthRow& row : r.rows) CHECK(row.value.growth() == 0);
}

TEST_CASE("another build: several jumps in a row") {
  std::string before = "main@m.cc:1" + moved_frames(0) + " 1 1\n", after = "main@m.cc:1" + moved_frames(1) + " 1 1\n";
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i), root = "main@m.cc:1;run@m.cc:1" + n + ";";
    const std::string leaf = "deep@d.cc:5" + n + ";leaf@l.cc:4" + n + " 10" + n + " 1\n";
    const std::string known = root + "process@p.cc:60;publish@p.cc:30;track@t.cc:40;leaf@l.cc:40 5" + n + " 1\n";
    before += known + root + "process@p.cc:67;publish@p.cc:34;track@t.cc:41;" + leaf;
    after += known + root + leaf;
  }
  const GrowthReport r = must_diff(before, after);
  CHECK(r.rows.size() == 13);
  for (const GrowthRow& row : r.rows) CHECK(row.value.growth() == 0);
}

TEST_CASE("another build: a new site where the old one stood is merged with it, not taken for it") {
  // g moved by 3, its callee's line 30 is new and the old 30 may be 30 or 33: objects and callers do not tell.
  const std::string above = "main@m.cc:1;a@f.cc:10 5 1\nmain@m.cc:2;a@f.cc:11 6 1\n";
  const std::string old_build =
      above + "main@m.cc:3;site@f.cc:30 100 1\nmain@m.cc:4;z@f.cc:90;b@b.cc:1" + moved_frames(0) + " 9 1\n";
  const std::string new_build = above +
                                "main@m.cc:3;site@f.cc:30 4000 1\nmain@m.cc:3;site@f.cc:33 140 1\n"
                                "main@m.cc:4;z@f.cc:93;b@b.cc:1" +
                                moved_frames(3) + " 9 1\n";
  const GrowthReport r = must_diff(old_build, new_build);
  for (const GrowthRow& row : r.rows) {
    if (row.value.baseline == 100) CHECK(row.value.current == 4140);
  }
  CHECK(share(r, MatchTier::merged) > 0.9);
}

TEST_CASE("another build: a closure that Go named after the function its own one was inlined into") {
  const GrowthReport r = must_diff(
      "main.main@m.go:10;main.flush@m.go:20;main.fill@m.go:54;main.flush.func1@m.go:54 1000 10\n"
      "main.main@m.go:11;main.encode@m.go:30;main.fill@m.go:54;main.encode.func2@m.go:54 500 5\n"
      "main.main@m.go:12;main.fill@m.go:51 300 3\n",
      "main.main@m.go:13;main.flush@m.go:23;main.fill@m.go:57;main.fill.func1@m.go:57 1100 11\n"
      "main.main@m.go:14;main.encode@m.go:33;main.fill@m.go:57;main.fill.func1@m.go:57 600 6\n"
      "main.main@m.go:15;main.fill@m.go:54 300 3\n");
  REQUIRE(r.rows.size() == 3);
  for (const GrowthRow& row : r.rows) CHECK(row.value.growth() <= 100);
  CHECK(share(r, MatchTier::inline_free) == 0);
  CHECK(share(r, MatchTier::none) == 0);
}

TEST_CASE("another build: objects of another size, and another number of them, are another site's") {
  // The old site asks in another way now; a new one leaks on the same line.
  const GrowthReport r = must_diff(
      "main@a.cc:10;put@a.cc:20;std::vector<int>::reserve@/usr/include/v.h:1 10000 4\nmain@a.cc:11;get@a.cc:30 800 8\n",
      "main@a.cc:14;put@a.cc:24;std::vector<int>::resize@/usr/include/v.h:2 64000 1000\nmain@a.cc:15;get@a.cc:34 800 "
      "8\n");
  CHECK(r.rows.size() == 3);
  CHECK(share(r, MatchTier::none) > 0.9);
}

TEST_CASE("another build: a leak in the line of a site that moved down is not that site") {
  const auto text = [](std::string_view file, std::string_view rest) {
    const std::string up = "main@m.go:48;assemble@" + std::string(file) + ":84;collect@l.go:";
    std::string out;
    for (std::size_t begin = 0; begin < rest.size();) {
      const std::size_t end = rest.find('\n', begin);
      out += up + std::string(rest.substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    return out + "main@m.go:49;app::seal@" + std::string(file) + ":20 900 9\n";
  };
  const GrowthReport r = must_diff(text("net/pool.go", "81 199680 65\n84 95616 83\n89 52992 23\n"),
                                   text("lib/pool.go", "81 211968 69\n84 96768 84\n89 475520 743\n92 56448 21\n"));
  std::map<std::int64_t, std::int64_t> before;
  for (const GrowthRow& row : r.rows) before[row.value.current] = row.value.baseline;
  CHECK(before.at(211968) == 199680);
  CHECK(before.at(96768) == 95616);
  CHECK(before.at(475520) == 0);
}

TEST_CASE("another build: only headers of the library lie elsewhere") {
  const auto text = [](std::string_view path, int shift) {
    std::string out = "main@m.cc:1;plain@m.cc:90" + moved_frames(shift) + " 1000 10\n";
    for (int i = 0; i < 6; ++i) {
      const std::string n = std::to_string(i);
      out += "main@m.cc:1" + n + ";fill@m.cc:3" + n + ";std::vector<char>::reserve@" + std::string(path) +
             "/bits/vector.tcc:79 10" + n + " 1\n";
    }
    return out;
  };
  const GrowthReport r = must_diff(text("/usr/include/c++/12", 0), text("/usr/lib/gcc/12/../../../include/c++/12", 1));
  CHECK(r.rows.size() == 7);
  for (const GrowthRow& row : r.rows) CHECK(row.value.growth() == 0);
}

TEST_CASE("another build: a part split off a function that jumps to it seems to be called by the function's caller") {
  // The calls of the parts are the last ones: `save` is in no stack of `save_rest`.
  const std::string old_build =
      "main@m.cc:44;run@m.cc:16;save@s.cc:49;load@l.cc:40 2500 25\n"
      "main@m.cc:44;run@m.cc:16;save@s.cc:52;load@l.cc:40 2400 24\n"
      "main@m.cc:44;run@m.cc:16;save@s.cc:56;encode@e.cc:92 5300 10\n"
      "main@m.cc:44;run@m.cc:25;render@r.cc:12;load@l.cc:40 1100 11\n"
      "main@m.cc:44;run@m.cc:25;render@r.cc:21 900 9\n"
      "main@m.cc:44;run@m.cc:22;render@r.cc:21 800 8\n"
      "main@m.cc:44;run@m.cc:25;render@r.cc:24;encode@e.cc:92 4200 6\n";
  std::string new_build = old_build;
  for (const auto& [was, is] :
       {std::pair{"save@s.cc:52", "save_rest@s.cc:95"}, std::pair{"save@s.cc:56", "save_rest@s.cc:98"},
        std::pair{"render@r.cc:21", "render_rest@r.cc:112"}, std::pair{"render@r.cc:24", "render_rest@r.cc:115"}}) {
    for (std::size_t at = 0; (at = new_build.find(was)) != std::string::npos;)
      new_build.replace(at, std::string_view(was).size(), is);
  }
  const GrowthReport r = must_diff(old_build + "main@m.cc:44" + moved_frames(0) + " 1 1\n",
                                   new_build + "main@m.cc:44" + moved_frames(1) + " 1 1\n");
  CHECK(r.rows.size() == 8);
  for (const GrowthRow& row : r.rows) CHECK(row.value.growth() == 0);
}

TEST_CASE(
    "another build: two calls of one function changed places, the numbers of objects below them tell which is which") {
  const auto text = [](int first, int second, int shift, int member) {
    std::string out;
    const auto add = [&](std::string_view leaf, int size, int site, int count) {
      out += "main@m.cc:" + std::to_string(10 + shift) + ";serve@s.cc:" + std::to_string(site) +
             ";fetch@f.cc:" + std::to_string(5 + shift) + ";" + std::string(leaf) +
             "@l.cc:" + std::to_string(size + shift) + " " + std::to_string((size + member) * count) + " " +
             std::to_string(count) + "\n";
    };
    add("read", 200, first, 65 + shift);
    add("parse", 300, first, 5);
    add("copy", 400, first, 61 - shift);
    add("index", 500, first, 88);
    add("read", 200, second, 32);
    add("parse", 300, second, 33 + shift);
    add("copy", 400, second, 18);
    add("index", 500, second, 37 - shift);
    return out;
  };
  // Every object has a new member: sizes do not tell.
  const GrowthReport r = must_diff(text(21, 23, 0, 0), text(23, 21, 3, 40));
  REQUIRE(r.rows.size() == 8);
  for (const GrowthRow& row : r.rows) CHECK(std::abs(row.objects.growth()) <= 3);
}

TEST_CASE("nothing coarse fires without evidence of another build") {
  const std::string tail = ";b@b.cc:2;c@c.cc:3;d@d.cc:4;e@e.cc:5;f@f.cc:6;g@g.cc:7;h@h.cc:8;leaf@l.cc:9";
  const GrowthReport r =
      must_diff("main@m.cc:1" + tail + " 1000 1\n", "main@m.cc:1;wrapper@w.cc:1" + tail + " 1500 1\n");
  CHECK(r.rows.size() == 2);
  CHECK(r.possible_pairs == 0);
}

TEST_CASE("shares of the tiers add up to 1") {
  const GrowthReport r = must_diff(heap("/bin/app+0x10 10 1\na@a.cc:1 20 1\ngone 5 1\n", with_id("/bin/app", "abc")),
                                   heap("/bin/app+0x10 30 1\na@a.cc:1 20 1\nnew 15 1\n", with_id("/bin/app", "abc")));
  CHECK(share(r, MatchTier::build_id) == Approx(0.4));
  CHECK(share(r, MatchTier::function_line) == Approx(0.4));
  CHECK(share(r, MatchTier::none) == Approx(0.2));
}
