#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>

#include "snapdiff/story.hpp"
#include "support/rounds.hpp"
#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

/// A random program: functions with lines, unsymbolized frames, allocators, labels, pseudo rows. The numbers are drawn
/// one a statement: compilers evaluate operands in different orders.
class RandomHeap {
 public:
  explicit RandomHeap(unsigned seed) : random_(seed) {}

  std::vector<std::string> rows(int count, int shift) {
    std::vector<std::string> out;
    for (int i = 0; i < count; ++i) {
      std::string stack = "main@m.cc:" + std::to_string(1 + shift);
      const unsigned depth = pick(8);
      for (unsigned d = 0; d < depth; ++d) stack += ";" + frame(shift);
      if (pick(3) == 0) stack += ";malloc";
      if (pick(30) == 0) stack = "[unattributed]";
      if (pick(30) == 0) stack = "";
      if (pick(4) == 0) stack += " {thread=" + std::to_string(pick(3)) + "}";
      if (!stack.empty() && stack.front() == ' ') stack.clear();
      const unsigned objects = pick(5), size = 1 + pick(100);
      out.push_back(stack + " " + std::to_string(objects * size) + " " + std::to_string(objects));
    }
    return out;
  }

  /// Calls of a function from several lines, each with sites of few sizes: what one lost another may have taken over.
  std::vector<std::string> moved_rows(bool many, unsigned shift) {
    std::vector<std::string> out;
    for (int i = 0; i < (many ? 400 : 60); ++i) {
      std::string stack = "main@m.cc:" + std::to_string(1 + shift);
      const unsigned caller = pick(3);
      stack += ";f" + std::to_string(caller) + "@f.cc:" + std::to_string(10 + 50 * caller + 2 * pick(4) + shift);
      if (pick(4) == 0) stack += ";helper@h.cc:" + std::to_string(3 + shift);
      const unsigned site = pick(many ? 60 : 10);
      stack += ";g" + std::to_string(site / 5) + "@g.cc:" + std::to_string(20 + 2 * site + shift);
      const unsigned objects = 1 + pick(12), size = many ? 16 + 8 * pick(40) : 16U << pick(4);
      out.push_back(stack + " " + std::to_string(objects * size) + " " + std::to_string(objects));
    }
    return out;
  }

  /// Stacks of seven layers of functions with six lines each; equal seeds give equal ones, at lines that moved.
  std::vector<std::string> layered_rows(int count, unsigned shift) {
    std::vector<std::string> out;
    for (int i = 0; i < count; ++i) {
      std::string stack = "main@m.cc:" + std::to_string(1 + shift);
      unsigned function = 0;
      for (unsigned layer = 0; layer < 7; ++layer) {
        const unsigned line = pick(6);
        const std::string name = std::to_string(layer) + "_" + std::to_string(function);
        stack += ";f" + name + "@" + name + ".cc:" + std::to_string(10 + 3 * line + (line > 2 ? shift : 0));
        function = (function * 6 + line) % 24;
      }
      const unsigned objects = 1 + pick(20) + shift % 2, size = 16U << pick(4);
      out.push_back(stack + " " + std::to_string(objects * size) + " " + std::to_string(objects));
    }
    return out;
  }

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  std::mt19937& engine() { return random_; }

 private:
  std::string frame(int shift) {
    switch (pick(6)) {
      case 0: return "/lib/liba.so+0x" + std::to_string(10 + pick(20));
      case 1: {
        const unsigned owner = pick(6), number = 1 + pick(2);
        return "f" + std::to_string(owner) + "::{lambda()#" + std::to_string(number) +
               "}@f.cc:" + std::to_string(5 + shift);
      }
      case 2: return "inl" + std::to_string(pick(4)) + "@i.cc:9~";
      default: {
        const unsigned function = pick(12), line = 10 + pick(3) + static_cast<unsigned>(shift);
        return "f" + std::to_string(function) + "@f.cc:" + std::to_string(line);
      }
    }
  }
  std::mt19937 random_;
};

std::string text_of(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

std::vector<DiffOptions> all_options() {
  std::vector<DiffOptions> out;
  for (const GroupBy group : {GroupBy::stack, GroupBy::function, GroupBy::file, GroupBy::line, GroupBy::module,
                              GroupBy::type, GroupBy::label}) {
    for (int bits = 0; bits < 32; ++bits) {
      DiffOptions o = by(group);
      o.label_key = "thread";
      if ((bits & 1) != 0) o.hide = "f3|lambda";
      if ((bits & 2) != 0) o.focus = "f[1-7]|malloc";
      if ((bits & 4) != 0) o.ignore = "f5";
      if ((bits & 8) != 0) o.show = "f\\d|main";
      if ((bits & 16) != 0) o.hide_allocator_frames = false;
      o.sort = static_cast<SortKey>(bits % 5);
      out.push_back(o);
    }
  }
  return out;
}

std::vector<std::string> printed(const GrowthReport& r) {
  std::vector<std::string> out;
  for (const GrowthRow& row : r.rows) {
    out.push_back(key_of(r, row) + " " + std::to_string(row.value.baseline) + " " + std::to_string(row.value.current) +
                  " " + std::to_string(row.objects.growth()) + " " + std::to_string(row.grew) + " " +
                  std::to_string(row.shrank) + " " + std::string(to_text(row.row_class)) + " " +
                  std::string(to_text(row.tier)));
  }
  return out;
}

using RowFacts = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, int, int>;

/// What rows hold, without their stacks, sorted; with `mirror` as the comparison the other way round has it.
std::vector<RowFacts> facts_of(const GrowthReport& r, bool mirror) {
  std::vector<RowFacts> out;
  for (const GrowthRow& row : r.rows) {
    RowClass c = row.row_class;
    if (mirror) {
      c = c == RowClass::added    ? RowClass::gone
          : c == RowClass::gone   ? RowClass::added
          : c == RowClass::grew   ? RowClass::shrank
          : c == RowClass::shrank ? RowClass::grew
                                  : c;
    }
    const Change v = mirror ? Change{row.value.current, row.value.baseline} : row.value;
    const std::int64_t sign = mirror ? -1 : 1;
    out.emplace_back(v.baseline, v.current, sign * row.objects.growth(), mirror ? -row.shrank : row.grew,
                     mirror ? -row.grew : row.shrank, static_cast<int>(c), static_cast<int>(row.tier));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("property: diff(a, a) shows no growth") {
  for (unsigned seed = 1; seed <= test::rounds(10U, 3U); ++seed) {
    RandomHeap program(seed);
    const std::string text = text_of(program.rows(60, 0));
    for (const DiffOptions& options : all_options()) {
      const GrowthReport r = must_diff(text, text, options);
      CHECK(r.grew == 0);
      CHECK(r.shrank == 0);
      for (const GrowthRow& row : r.rows) REQUIRE(row.row_class == RowClass::same);
    }
  }
}

TEST_CASE("property: every byte is in one row, with every combination of options") {
  for (unsigned seed = 1; seed <= test::rounds(10U, 3U); ++seed) {
    RandomHeap program(seed);
    const SnapshotRef a = heap(text_of(program.rows(80, 0)));
    const SnapshotRef b = heap(text_of(program.rows(80, seed % 2 == 0 ? 100 : 0)));
    for (const DiffOptions& options : all_options()) {
      const GrowthReport r = must_diff(a, b, options);
      REQUIRE(diff::check_conservation(r));
      std::int64_t sum = r.unattributed.growth() + r.filtered.growth();
      for (const GrowthRow& row : r.rows) sum += row.value.growth();
      REQUIRE(sum == r.total.growth());
      double shares = 0;
      for (const double share : r.matched) shares += share;
      const bool nothing = shares == 0;
      CHECK((nothing || shares == Approx(1)));
      for (std::size_t i = 0; i < r.cumulative.size(); ++i) {
        REQUIRE(r.cumulative[i].grew + r.cumulative[i].shrank == r.cumulative[i].value.growth());
      }
    }
  }
}

TEST_CASE("property: diff(b, a) mirrors diff(a, b)") {
  for (unsigned seed = 1; seed <= test::rounds(100U, 30U); ++seed) {
    RandomHeap program(seed);
    const SnapshotRef a = heap(text_of(program.rows(60, 0)));
    const SnapshotRef b = heap(text_of(program.rows(60, seed % 2 == 0 ? 100 : 0)));
    for (const GroupBy group : {GroupBy::stack, GroupBy::function, GroupBy::line, GroupBy::label}) {
      DiffOptions options = by(group);
      options.label_key = "thread";
      const GrowthReport there = must_diff(a, b, options);
      const GrowthReport back = must_diff(b, a, options);
      REQUIRE(there.rows.size() == back.rows.size());
      REQUIRE(facts_of(there, false) == facts_of(back, true));
      if (group != GroupBy::stack && seed % 2 != 0) {
        // A closure is called what its counterpart is called now, so it may have another name the other way round.
        const auto changed = [](const GrowthReport& r, std::int64_t sign) {
          std::map<std::string, std::int64_t> out;
          for (const auto& [key, growth] : growth_by_key(r))
            out[key.find("{lambda") == key.npos ? key : "closures"] += sign * growth;
          return out;
        };
        REQUIRE(changed(there, 1) == changed(back, -1));
      }
    }
  }
}

TEST_CASE("property: the order of the input does not matter") {
  for (unsigned seed = 1; seed <= test::rounds(20U, 10U); ++seed) {
    RandomHeap program(seed);
    std::vector<std::string> a = program.rows(60, 0);
    std::vector<std::string> b = program.rows(60, seed % 2 == 0 ? 100 : 0);
    for (const GroupBy group : {GroupBy::stack, GroupBy::function, GroupBy::label}) {
      DiffOptions options = by(group);
      options.label_key = "thread";
      const GrowthReport r = must_diff(text_of(a), text_of(b), options);
      std::shuffle(a.begin(), a.end(), program.engine());
      std::shuffle(b.begin(), b.end(), program.engine());
      const GrowthReport shuffled = must_diff(text_of(a), text_of(b), options);
      REQUIRE(printed(r) == printed(shuffled));
      const std::vector<const Culprit*> some = marked_of(r), others = marked_of(shuffled);
      REQUIRE(some.size() == others.size());
      for (std::size_t i = 0; i < some.size(); ++i) {
        CHECK(some[i]->growth() == others[i]->growth());
        CHECK(some[i]->rows == others[i]->rows);
        CHECK(stack_text(some[i]->path) == stack_text(others[i]->path));
      }
      CHECK(r.common_path == shuffled.common_path);
      CHECK(r.possible_pairs == shuffled.possible_pairs);
    }
  }
}

TEST_CASE("property: the order of the input does not matter where sites moved, leak and were split off") {
  bool merged = false;
  for (unsigned seed = 1; seed <= test::rounds(80U, 30U); ++seed) {
    RandomHeap program(seed);
    const bool many = seed > 60;  // more stacks go through a line than are looked at, and it calls more than these show
    std::vector<std::string> a = program.moved_rows(many, 0), b = program.moved_rows(many, 2);
    const GrowthReport r = must_diff(text_of(a), text_of(b));
    std::shuffle(a.begin(), a.end(), program.engine());
    std::shuffle(b.begin(), b.end(), program.engine());
    REQUIRE(printed(r) == printed(must_diff(text_of(a), text_of(b))));
    merged = merged || std::any_of(r.rows.begin(), r.rows.end(),
                                   [](const GrowthRow& row) { return row.tier == MatchTier::merged; });
  }
  CHECK(merged);
}

TEST_CASE("property: neither the order of the two builds nor that of their rows changes what is matched") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    RandomHeap program(seed);
    std::vector<std::string> a = seed % 3 == 0 ? program.rows(60, 0) : program.moved_rows(false, 0);
    std::vector<std::string> b = seed % 3 == 0 ? program.rows(60, 100) : program.moved_rows(false, 2);
    const GrowthReport there = must_diff(text_of(a), text_of(b));
    std::shuffle(a.begin(), a.end(), program.engine());
    std::shuffle(b.begin(), b.end(), program.engine());
    CAPTURE(seed);
    REQUIRE(facts_of(there, false) == facts_of(must_diff(text_of(b), text_of(a)), true));
  }
}

TEST_CASE("property: nor does it with more stacks than the matching looks at") {
  std::vector<std::string> a = RandomHeap(1).layered_rows(10'000, 0), b = RandomHeap(1).layered_rows(10'000, 3);
  const GrowthReport there = must_diff(text_of(a), text_of(b));
  CHECK(there.rows.size() > 9000);
  CHECK(there.matched[static_cast<std::size_t>(MatchTier::none)] < 0.01);
  std::mt19937 random(1);
  std::shuffle(a.begin(), a.end(), random);
  std::shuffle(b.begin(), b.end(), random);
  REQUIRE(facts_of(there, false) == facts_of(must_diff(text_of(b), text_of(a)), true));
}

TEST_CASE("property: the steps of a series add up") {
  for (unsigned seed = 1; seed <= test::rounds(10U, 3U); ++seed) {
    RandomHeap program(seed);
    std::vector<SnapshotRef> snapshots;
    for (int i = 0; i < 6; ++i) snapshots.push_back(heap(text_of(program.rows(40, i < 3 ? 0 : 100))));
    for (const GroupBy group : {GroupBy::stack, GroupBy::function, GroupBy::label}) {
      DiffOptions options = by(group);
      options.label_key = "thread";
      const Result<SeriesReport> s = diff::diff_series(snapshots, options);
      REQUIRE(s);
      std::int64_t sum = 0;
      for (const SeriesStep& step : s->steps) sum += step.growth;
      CHECK(sum == s->overall.total.growth());
      for (std::size_t k = 0; k < snapshots.size(); ++k) {
        std::int64_t rows = 0;
        for (std::size_t i = 0; i < s->overall.rows.size(); ++i) rows += s->overall.series.at(i, k);
        const Result<TopReport> top = diff::top(snapshots[k], options);
        CHECK(rows + top->unattributed + top->filtered == s->steps[k].total);
      }
      for (std::size_t i = 0; i < s->overall.rows.size(); ++i) {
        REQUIRE(s->overall.series.at(i, 0) == s->overall.rows[i].value.baseline);
        REQUIRE(s->overall.series.at(i, 5) == s->overall.rows[i].value.current);
      }
    }
  }
}

TEST_CASE("property: large inputs take the threaded ways and agree with small ones") {
  RandomHeap program(7);
  std::string a, b;
  std::map<std::string, std::int64_t> expected;
  for (int i = 0; i < 40'000; ++i) {
    const std::string stack =
        "main;f" + std::to_string(i % 97) + ";g" + std::to_string(i % 1013) + ";h" + std::to_string(i);
    const unsigned before = program.pick(50);
    const unsigned after = program.pick(50);
    a += stack + " " + std::to_string(before) + " 1\n";
    b += stack + " " + std::to_string(after) + " 1\n";
    expected["h" + std::to_string(i)] = static_cast<std::int64_t>(after) - before;
  }
  const GrowthReport r = must_diff(a, b);
  REQUIRE(r.rows.size() == 40'000);
  std::vector<FrameView> frames;
  std::uint64_t last = ~std::uint64_t{0};
  std::pair<std::int64_t, std::string> last_of_size;  // larger ones first: by what is left of 50
  for (const GrowthRow& row : r.rows) {
    r.frames(row, frames);
    const std::string leaf(frames[0].function);
    REQUIRE(expected.at(leaf) == row.value.growth());
    const auto size = static_cast<std::uint64_t>(std::abs(row.value.growth()));
    REQUIRE(size <= last);
    const std::pair of_size(50 - std::max(row.value.baseline, row.value.current), leaf);
    if (size == last) REQUIRE(last_of_size < of_size);
    last = size;
    last_of_size = of_size;
  }
  CHECK(must_diff(a, b, by(GroupBy::function)).grew == r.grew);
}
