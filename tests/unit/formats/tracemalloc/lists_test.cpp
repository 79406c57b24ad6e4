#include "formats/tracemalloc/statistic_line.hpp"
#include "helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using formats::tracemalloc::LineKind;
using formats::tracemalloc::parse_line;
using formats::tracemalloc::StatisticLine;
namespace fs = std::filesystem;

namespace {

std::string sample(const std::string& name) {
  return slurp(fs::path(SNAPDIFF_TEST_DATA) / "tracemalloc" / (name + ".txt"));
}

struct Sum {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t half_unit = 0;
  friend bool operator==(const Sum&, const Sum&) = default;
};

std::map<std::string, Sum> sums(const Snapshot& s) {
  std::map<std::string, Sum> out;
  for (std::size_t row = 0; row < s.samples.size(); ++row)
    out[stack_text(s, s.samples.stack[row])] = {s.column("inuse_objects")->value[row],
                                                s.column("inuse_space")->value[row],
                                                s.column(half_unit_name("inuse_space"))->value[row]};
  return out;
}

std::ostream& operator<<(std::ostream& out, const Sum& sum) {
  return out << sum.count << " blocks " << sum.bytes << " ± " << sum.half_unit;
}

}  // namespace

TEST_CASE("tracemalloc-text: printed sizes stand for an interval") {
  const auto [text, bytes, half_unit] = GENERATE(table<std::string, std::int64_t, std::int64_t>({
      {"0 B", 0, 0},
      {"10239 B", 10239, 0},
      {"10.0 KiB", 10240, 52},
      {"63.5 KiB", 65024, 52},
      {"51.2 KiB", 52429, 52},
      {"2949 KiB", 2949 * 1024, 512},
      {"10239 KiB", 10239 * 1024, 512},
      {"99.9 MiB", 104752742, 52429},
      {"100 MiB", 104857600, 524288},
      {"12345 TiB", std::int64_t{12345} << 40, std::int64_t{1} << 39},
  }));
  const StatisticLine line = parse_line("a.py:1: size=" + text + ", count=2, average=1 B");
  INFO(text);
  CHECK(line.kind == LineKind::statistic);
  CHECK(line.size.value == bytes);
  CHECK(line.size.half_unit == half_unit);
}

TEST_CASE("tracemalloc-text: lines of every kind") {
  StatisticLine line = parse_line("/srv/my app/c:d.py:16: size=102 KiB (+51.2 KiB), count=100 (+50), average=1049 B");
  CHECK(line.kind == LineKind::difference);
  CHECK(line.file == "/srv/my app/c:d.py");
  CHECK(line.line == 16);
  CHECK(line.size_growth.value == 52429);
  CHECK(line.count_growth == 50);
  line = parse_line("C:\\srv\\app\\x.py:7: size=0 B (-72 B), count=0 (-1)");
  CHECK(line.kind == LineKind::difference);
  CHECK(line.file == "C:\\srv\\app\\x.py");
  CHECK(line.size_growth.value == -72);
  CHECK(line.count_growth == -1);
  line = parse_line("<frozen posixpath>:88: size=127 B, count=1, average=127 B\t ");
  CHECK(line.kind == LineKind::statistic);
  CHECK(line.file == "<frozen posixpath>");
  CHECK(parse_line("x.py:1: size=5 B, count=0").kind == LineKind::statistic);
  line = parse_line("12 memory blocks: 1.5 KiB");
  CHECK(line.kind == LineKind::blocks);
  CHECK(line.count == 12);
  CHECK(line.size.value == 1536);
  CHECK(parse_line("INFO:root:#1: 1 memory block: 5 B").kind == LineKind::blocks);
  line = parse_line("  File \"/srv/a \"b\".py\", line 12");
  CHECK(line.kind == LineKind::frame);
  CHECK(line.file == "/srv/a \"b\".py");
  CHECK(line.line == 12);
  CHECK(parse_line("INFO:root:/srv/app.py:9: size=5 B, count=1, average=5 B").file == "/srv/app.py");
  CHECK(parse_line("[12:00:03] C:/app/x.py:9: size=5 B, count=1, average=5 B").file == "C:/app/x.py");
  CHECK(parse_line("src/my app.py:9: size=5 B, count=1, average=5 B").file == "src/my app.py");
}

TEST_CASE("tracemalloc-text: lists as Python shows them, without a line each") {
  // print(snapshot.compare_to(old, "lineno")), and statistics("traceback") of Python 3.9 and later.
  const std::string text =
      "[<StatisticDiff traceback=<Traceback (<Frame filename='a.py' lineno=40>,)> size=64000 (+640) count=1000 (+1)>, "
      "<StatisticDiff traceback=<Traceback (<Frame filename=\"it's.py\" lineno=9>,)> size=0 (-528) count=0 (-3)>]\n"
      "then\n"
      "[<Statistic traceback=<Traceback (<Frame filename='main.py' lineno=1>, <Frame filename='a.py' lineno=2>) "
      "total_nframe=2> size=7 count=1>]\n";
  const std::vector<Snapshot> all = read_all(text);
  REQUIRE(all.size() == 3);
  CHECK(sums(all[0]) == std::map<std::string, Sum>{{"a.py:40", {999, 63'360, 0}}, {"it's.py:9", {3, 528, 0}}});
  CHECK(sums(all[1]) == std::map<std::string, Sum>{{"a.py:40", {1000, 64'000, 0}}, {"it's.py:9", {0, 0, 1}}});
  CHECK(sums(all[2]) == std::map<std::string, Sum>{{"a.py:2;main.py:1", {1, 7, 0}}});
  const std::string line = text.substr(0, text.find('\n'));
  for (std::size_t size = 0; size < line.size() - 2; ++size) {
    CAPTURE(size);
    std::vector<StatisticLine> frames;
    std::string_view rest = std::string_view(line).substr(0, size);
    const LineKind kind = formats::tracemalloc::take_shown(rest, frames).kind;
    CHECK((size > line.find(">, <") ? kind == LineKind::difference : kind != LineKind::difference));
  }
}

TEST_CASE("tracemalloc-text: what looks like a line and is none is left out and told, not guessed") {
  const auto text = GENERATE(values<std::string>({
      "a.py:9: size=5 B",
      "a.py:9: size=5 B, count=",
      "a.py:9: size=5 B, count=1",  // of 12, perhaps
      "a.py:9: size=5 XB, count=1",
      "a.py:9: size=5B, count=1",
      "a.py:9: size=5 B, count=1, average=5 B and more",
      "a.py:9: size=-5 B, count=1",
      "a.py:9: size=5 B (+5 B), count=1",
      "a.py:9: size=5 B (+5 B, count=1 (+1)",
      "a.py:99999999999: size=5 B, count=1",
      "a.py:9: size=99999999999999999999 B, count=1",
      "a.py:9: size=9999999999 TiB, count=1",
      "a.py:9: size=5.25 KiB, count=1",
      "a.py:9: size=5 B (+5 B), count=1 (+2)",
  }));
  INFO(text);
  const std::string good = "b.py:1: size=9 B, count=1, average=9 B\n";
  const Snapshot s = read_all(good + text + "\n" + good.substr(0, good.size() - 1), "tracemalloc-text").at(0);
  CHECK(sums(s) == std::map<std::string, Sum>{{"b.py:1", {2, 18, 0}}});
  CHECK(has_note(s, Severity::data_loss, "lines of a list that could not be read"));
}

TEST_CASE("tracemalloc-text: numbers that no memory reaches are left out and told, also where growth is subtracted") {
  const std::string good = "b.py:1: size=9 B (+4 B), count=1 (+0)\n";
  for (const std::string values :
       {"size=9223372036854775800 B (-72 B), count=0 (-1)",
        "size=0 B (-9223372036854775807 B), count=9223372036854775807 (-1)", "size=4194304 TiB (+1 TiB), count=1 (+1)",
        "size=1 B (+0 B), count=4611686018427387904 (-4611686018427387904)"}) {
    INFO(values);
    const std::vector<Snapshot> both = read_all("a.py:1: " + values + "\n" + good, "tracemalloc-text");
    REQUIRE(both.size() == 2);
    CHECK(sums(both[0]) == std::map<std::string, Sum>{{"b.py:1", {1, 5, 0}}});
    CHECK(sums(both[1]) == std::map<std::string, Sum>{{"b.py:1", {1, 9, 0}}});
    CHECK(has_note(both[1], Severity::data_loss, "lines of a list that could not be read"));
  }
}

TEST_CASE("tracemalloc-text: lines that fit and whose sum does not are refused") {
  std::string listed;
  std::string ranked;
  for (const std::string n : {"1", "2", "3"}) {
    listed += "a.py:" + n + ": size=4611686018427387902 B, count=1, average=1 B\n";
    ranked += "#" + n + ": app/a.py:" + n + ": 4503599627370494.0 KiB\n";
  }
  CHECK(error_of(listed, "tracemalloc-text").code == ErrorCode::limit);
  CHECK(error_of(ranked + "Total allocated size: 1.0 KiB\n", "tracemalloc-text").code == ErrorCode::limit);
}

TEST_CASE("tracemalloc-text: statistics by line, as Python printed them") {
  const std::vector<Snapshot> all = read_all(sample("py3.11-nf25-step1.lineno"));
  REQUIRE(all.size() == 1);
  const Snapshot& s = all[0];
  CHECK(s.facts.format == "tracemalloc-text");
  CHECK_FALSE(s.facts.complete);
  CHECK(s.samples.size() == 20);
  const auto rows = sums(s);
  CHECK(rows.at("/srv/app/leak_cache.py:9") == Sum{401, 1966 * 1024, 512});
  CHECK(rows.at("/srv/app/leak_cache.py:16") == Sum{100, 102 * 1024, 512});
  CHECK(rows.at("/srv/app/leak_cache.py:13") == Sum{3, 888, 0});
  CHECK(has_note(s, Severity::info, "native memory"));
  CHECK(sums(read_all(sample("py3.11-nf25-step1.filename")).at(0)).at("/srv/app/leak_cache.py:0") ==
        Sum{522, 2071 * 1024, 512});
}

TEST_CASE("tracemalloc-text: tracebacks, turned round") {
  const Snapshot s = read_all(sample("py3.11-nf25-step1.traceback")).at(0);
  const auto rows = sums(s);
  CHECK(rows.size() == 5);
  CHECK(rows.at("/srv/app/leak_cache.py:9;/srv/app/leak_cache.py:25;/srv/app/leak_cache.py:52") ==
        Sum{401, 2012979, 52});
  CHECK(rows.count("/opt/python3/versions/3.11.7/lib/python3.11/linecache.py:137;"
                   "/opt/python3/versions/3.11.7/lib/python3.11/linecache.py:46;"
                   "/opt/python3/versions/3.11.7/lib/python3.11/linecache.py:30;"
                   "/opt/python3/versions/3.11.7/lib/python3.11/tracemalloc.py:251;"
                   "/srv/app/leak_cache.py:39;/srv/app/leak_cache.py:52") == 1);
  CHECK_FALSE(s.facts.complete);
}

TEST_CASE("tracemalloc-text: a printed line with its stack below has the stack") {
  const Snapshot s = read_all(
                         "a.py:1: size=9 B, count=1, average=9 B\n"
                         "  File \"main.py\", line 3\n    run()\n\n"
                         "  File \"a.py\", line 1\n"
                         "b.py:1: size=8 B, count=1, average=8 B\n"
                         "Traceback (most recent call last):\n  File \"other.py\", line 1\n")
                         .at(0);
  CHECK(sums(s) == std::map<std::string, Sum>{{"a.py:1;main.py:3", {1, 9, 0}}, {"b.py:1", {1, 8, 0}}});
}

TEST_CASE("tracemalloc-text: compare_to is two snapshots, the older one by subtraction") {
  const std::vector<Snapshot> all = read_all(sample("py3.11-nf25-step1-vs-step0.compare"));
  REQUIRE(all.size() == 2);
  for (const Snapshot& s : all) {
    CHECK_FALSE(s.facts.complete);
    CHECK(s.samples.size() == 15);
  }
  const auto before = sums(all[0]);
  const auto after = sums(all[1]);
  CHECK(before.at("/srv/app/leak_cache.py:9") == Sum{201, 983 * 1024, 1024});
  CHECK(after.at("/srv/app/leak_cache.py:9") == Sum{401, 1966 * 1024, 512});
  // New lines were nothing before: known, where a line that is absent is not.
  CHECK(before.at("/srv/app/leak_cache.py:41") == Sum{0, 0, 1});
  CHECK(before.at("/opt/python3/versions/3.11.7/lib/python3.11/linecache.py:137") == Sum{0, 0, 1});
  CHECK(after.at("/srv/app/leak_cache.py:41") == Sum{10, 997, 0});
}

TEST_CASE("tracemalloc-text: what was freed is nothing afterwards") {
  const std::vector<Snapshot> all =
      read_all("a.py:1: size=0 B (-72 B), count=0 (-1)\nb.py:2: size=9 B (+1 B), count=2 (+1), average=4 B\n");
  REQUIRE(all.size() == 2);
  CHECK(sums(all[0]).at("a.py:1") == Sum{1, 72, 0});
  CHECK(sums(all[0]).at("b.py:2") == Sum{1, 8, 0});
  CHECK(sums(all[1]).at("a.py:1") == Sum{0, 0, 1});
  CHECK(sums(all[1]).at("b.py:2") == Sum{2, 9, 0});
}

TEST_CASE("tracemalloc-text: every list of a log is a snapshot") {
  const std::string list =
      "a.py:1: size=20 B, count=2, average=10 B\n    a = b\nb.py:2: size=10 B, count=1, average=10 B\n";
  const std::string longer = "a.py:1: size=30 B, count=3, average=10 B\n\nb.py:2: size=10 B, count=1, average=10 B\n";
  SECTION("with a heading") {
    const auto all = read_all("[ Top 2 ]\n" + list + "[ Top 2 ]\n" + longer + "Iteration 3: done\n");
    REQUIRE(all.size() == 2);
    CHECK(sums(all[0]).at("a.py:1").bytes == 20);
    CHECK(sums(all[1]).at("a.py:1").bytes == 30);
    CHECK(all[1].samples.size() == 2);
  }
  SECTION("without one: the next list begins with more than the last one ended with") {
    const auto all = read_all(list + longer + list);
    REQUIRE(all.size() == 3);
    CHECK(sums(all[2]).at("a.py:1").bytes == 20);
  }
  SECTION("of several kinds") {
    const auto all = read_all(list + "1 memory blocks: 0.0 KiB\n  File \"a.py\", line 1\n" +
                              "a.py:1: size=0 B (-72 B), count=0 (-1)\n");
    REQUIRE(all.size() == 4);
    CHECK(sums(all[1]).at("a.py:1") == Sum{1, 0, 52});
  }
  SECTION("equal lines of one list are summed: statistics by traceback print one frame") {
    const auto all = read_all("a.py:1: size=20 B, count=2, average=10 B\na.py:1: size=10 B, count=1, average=10 B\n");
    REQUIRE(all.size() == 1);
    CHECK(sums(all[0]).at("a.py:1") == Sum{3, 30, 0});
  }
}

TEST_CASE("tracemalloc-text: display_top of the manual, of several Pythons") {
  // Exact sizes of listed lines, of the others, and of all, as the same run printed them.
  struct Step {
    std::map<std::string, std::int64_t> listed;
    std::int64_t others, total;
  };
  const std::string cache = "app/top_lines.py:12", names = "app/top_lines.py:16", open = "app/top_lines.py:40";
  const std::string frozen = "<frozen importlib._bootstrap_external>:780";
  const auto [name, steps] = GENERATE_COPY(table<std::string, std::vector<Step>>(
      {{"py3.6-display_top",
        {{{{cache, 1003314}, {names, 48772}, {open, 4942}}, 174, 1057202},
         {{{cache, 2006548}, {names, 97544}, {open, 4942}}, 17745, 2126779},
         {{{cache, 3009934}, {names, 146316}, {open, 4942}}, 23239, 3184431}}},
       {"py3.11-display_top",
        {{{{cache, 1003266}, {names, 48764}, {open, 5120}}, 80, 1057230},
         {{{cache, 2006612}, {names, 97528}, {open, 5120}}, 5334, 2114594},
         {{{cache, 3009974}, {names, 146292}, {open, 5120}}, 8571, 3169957}}},
       {"py3.13-display_top",
        {{{{cache, 1003266}, {names, 46364}, {open, 5232}}, 72, 1054934},
         {{{cache, 2006612}, {frozen, 250186}, {names, 92728}}, 67307, 2416833},
         {{{cache, 3009974}, {frozen, 249946}, {names, 139092}}, 83224, 3482236}}}}));
  INFO(name);
  const auto all = read_all(sample(name));
  REQUIRE(all.size() == steps.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Snapshot& s = all[i];
    CHECK(s.facts.format == "tracemalloc-text");
    CHECK_FALSE(s.facts.complete);
    CHECK(s.column("inuse_objects") == nullptr);  // not printed: unknown, not 0
    const Column& bytes = *s.column("inuse_space");
    const Column& half_units = *s.column(half_unit_name("inuse_space"));
    std::map<std::string, std::int64_t> expected = steps[i].listed;
    expected["[below threshold]"] = steps[i].others;
    CHECK(s.samples.size() == expected.size());
    std::int64_t sum = 0, half_unit = 0;
    for (std::size_t row = 0; row < s.samples.size(); ++row) {
      const std::string place = stack_text(s, s.samples.stack[row]);
      INFO(place);
      CHECK(half_units.value[row] == 52);
      CHECK(std::abs(bytes.value[row] - expected.at(place)) <= half_units.value[row]);
      sum += bytes.value[row];
      half_unit += half_units.value[row];
    }
    CHECK(std::abs(sum - steps[i].total) <= half_unit);
  }
}

TEST_CASE("tracemalloc-text: display_top without its other lines") {
  const std::string list = "Top 2 lines\n#1: a.py:1: 10.0 KiB\n    x = [i for i in range(9)]\n#2: b.py:2: 2.0 KiB\n";
  const auto rows = [](const Snapshot& s) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> out;
    for (std::size_t row = 0; row < s.samples.size(); ++row)
      out[stack_text(s, s.samples.stack[row])] = {s.column("inuse_space")->value[row],
                                                  s.column(half_unit_name("inuse_space"))->value[row]};
    return out;
  };
  SECTION("the total tells the rest, with the rounding of all") {
    const auto all = read_all(list + "Total allocated size: 20.0 KiB\n");
    REQUIRE(all.size() == 1);
    CHECK(rows(all[0]).at("[below threshold]") == std::pair<std::int64_t, std::int64_t>{8192, 156});
  }
  SECTION("a rest within the rounding is none") {
    CHECK(rows(read_all(list + "Total allocated size: 12.1 KiB\n").at(0)).count("[below threshold]") == 0);
    CHECK(rows(read_all(list).at(0)).size() == 2);
  }
  SECTION("a second list begins at #1, also where it is lighter; a log stands before the lines") {
    const auto all = read_all(
        "INFO:root:#1: a.py:1: 10.0 KiB\nINFO:root:#2: b.py:2: 9.0 KiB\n"
        "INFO:root:3 other: 1.0 KiB\nINFO:root:#1: a.py:1: 0.5 KiB\n");
    REQUIRE(all.size() == 2);
    CHECK(rows(all[0]).at("[below threshold]").first == 1024);
    CHECK(rows(all[1]).size() == 1);
  }
  SECTION("one such line alone is no list") {
    CHECK(error_of("#1: a.py:1: 10.0 KiB\n", "").code == ErrorCode::unsupported);
  }
}

TEST_CASE("tracemalloc-text: PowerShell's UTF-16, colours and CRLF") {
  const std::string text = "\x1b[33mC:\\app\\x.py:9: size=63.5 KiB, count=4, average=16.0 KiB\x1b[0m\r\n";
  std::string utf16 = "\xff\xfe";
  for (const char c : text) utf16 += std::string(1, c) + '\0';
  for (const std::string& bytes : {text, "\xef\xbb\xbf" + text, utf16})
    CHECK(sums(read_all(bytes).at(0)) == std::map<std::string, Sum>{{"C:\\app\\x.py:9", {4, 65024, 52}}});
}

TEST_CASE("tracemalloc-text: a line without end is left out and counted, what follows is read") {
  const std::string row = "a.py:1: size=20 B, count=2, average=10 B\n";
  const auto all = read_all(row + std::string((std::size_t{16} << 20) + 5, 'x') + "\n" + row);
  REQUIRE(all.size() == 1);
  CHECK(sums(all[0]).at("a.py:1") == Sum{4, 40, 0});
  REQUIRE_FALSE(all[0].facts.notes.all().empty());
  CHECK(all[0].facts.notes.all().back().text.find("lines of more than 16 MiB") == 0);
}

TEST_CASE("tracemalloc-text: cut at any byte it is fewer lines, or an error") {
  const std::string text = sample("py3.11-nf25-step1-vs-step0.compare");
  for (std::size_t size = 0; size < text.size(); ++size) {
    formats::ReadOptions options;
    options.format = "tracemalloc-text";
    const Result<std::vector<Snapshot>> all =
        formats::read_bytes(std::string_view(text).substr(0, size), "cut", options);
    if (!all) {
      CHECK(size < 90);
      CHECK_FALSE(all.error().message.empty());
    } else {
      CHECK(all->size() == 2);
    }
  }
  CHECK(error_of("nothing of the kind\n", "tracemalloc-text").message.find("no statistics: the input ends") == 0);
}
