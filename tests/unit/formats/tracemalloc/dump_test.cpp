#include "helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
namespace fs = std::filesystem;

namespace {

Snapshot dump(const fs::path& path) {
  INFO(path.string());
  Result<std::vector<Snapshot>> all = formats::read_file(path.string(), {});
  if (!all) FAIL(all.error().text());
  REQUIRE(all->size() == 1);
  return std::move((*all)[0]);
}

Snapshot own(const std::string& name) {
  return dump(fs::path(SNAPDIFF_TEST_DATA) / "tracemalloc" / (name + ".tracemalloc"));
}

std::int64_t total(const Snapshot& s, std::string_view metric) {
  std::int64_t sum = 0;
  for (const std::int64_t value : s.column(metric)->value) sum += value;
  return sum;
}

/// The shared series, or nothing with a visible word.
fs::path shared(const std::string& folder) {
  const fs::path path = fs::path(SNAPDIFF_SHARED_DATA) / "trackers" / folder;
  if (fs::exists(path)) return path;
  WARN("skipped: the shared sample files are not here");
  return {};
}

}  // namespace

TEST_CASE("tracemalloc: the leaks of leak_cache.py grow as its source says, in every version of Python") {
  const fs::path folder = shared("tracemalloc");
  if (folder.empty()) return;
  // Bytes of 50 strings of 1000 characters.
  const auto [series, strings] = GENERATE(table<std::string, std::int64_t>({
      {"py3.6-nf10", 52450},
      {"py3.8-nf10", 52450},
      {"py3.9-nf10", 52450},
      {"py3.10-nf10", 52450},
      {"py3.11-nf1", 52450},
      {"py3.11-nf10", 52450},
      {"py3.11-nf25", 52450},
      {"py3.12-nf10", 52050},
      {"py3.13-nf10", 52050},
  }));
  for (int step = 0; step < 4; ++step) {
    const Snapshot s = dump(folder / (series + "-step" + std::to_string(step) + ".tracemalloc"));
    const std::int64_t steps = step + 1;
    const auto cache = at_leaf(s, "leak_cache.py:9");
    CHECK(cache.first == 200 * steps + 1);
    // Besides the bytearrays: the list that holds them.
    const std::int64_t list = cache.second - 1'005'700 * steps;
    CHECK(list > 800 * steps - 100);
    CHECK(list < 1000 * steps + 1000);
    if (series.substr(0, 6) == "py3.11") {
      constexpr std::int64_t kMeasured[] = {1'006'564, 2'013'000, 3'019'564, 4'026'000};
      CHECK(cache.second == kMeasured[step]);
    }
    CHECK(at_leaf(s, "leak_cache.py:16") == std::pair<std::int64_t, std::int64_t>{50 * steps, strings * steps});
    CHECK(at_leaf(s, "leak_cache.py:19").first == 0);
    CHECK(s.facts.sampling == Sampling::exact);
    CHECK(s.facts.complete);
  }
}

TEST_CASE("tracemalloc: NumPy's arrays grow in their own domain") {
  const fs::path folder = shared("tracemalloc");
  if (folder.empty()) return;
  for (int step = 0; step < 3; ++step) {
    const Snapshot s = dump(folder / ("numpy-domain-step" + std::to_string(step) + ".tracemalloc"));
    int rows = 0;
    for (const auto& [stack, values] : rows_of(s)) {
      if (stack.find("{domain=389047}") == std::string::npos) {
        CHECK(stack.find('{') == std::string::npos);  // domain 0 has no label
        continue;
      }
      ++rows;
      CHECK(stack.find("/usr/lib/python3/dist-packages/numpy/core/numeric.py:205;/srv/app/np_leak.py:5;") == 0);
      CHECK(values == std::pair<std::int64_t, std::int64_t>{step + 1, 2'000'000 * (step + 1)});
    }
    CHECK(rows == 1);
  }
}

TEST_CASE("tracemalloc: a leak of tensors does not show, and the snapshot says why") {
  const fs::path folder = shared("torch");
  if (folder.empty()) return;
  constexpr std::int64_t kTotals[] = {360'582, 362'183, 362'656, 363'066};
  for (int step = 0; step < 4; ++step) {
    const Snapshot s = dump(folder / ("torch-cpu-step" + std::to_string(step) + ".tracemalloc"));
    CHECK(total(s, "inuse_space") == kTotals[step]);
    CHECK(has_note(s, Severity::info, "native memory"));
  }
}

TEST_CASE("tracemalloc: stacks of one frame are marked where they were cut, and only there") {
  const Snapshot cut = own("py3.11-nf1-step0");
  for (const auto& [stack, values] : rows_of(cut)) {
    CHECK(stack.substr(stack.find(';') + 1) == "[stack cut]");
    CHECK(stack.find(';') == stack.rfind(';'));
  }
  CHECK(rows_of(cut).count("/srv/app/leak_cache.py:9;[stack cut]") == 1);
  for (const auto& [stack, values] : rows_of(own("py3.11-nf25-step0"))) CHECK(stack.find("[stack cut]") == stack.npos);
  // Python 3.6 does not say how many frames there were.
  for (const auto& [stack, values] : rows_of(own("py3.6-nf10-step1"))) CHECK(stack.find("[stack cut]") == stack.npos);
}

TEST_CASE("tracemalloc: the layout is told from the traces") {
  CHECK(own("py3.6-nf10-step0").facts.format_detail ==
        "Python 3.6 to 3.8, pickle protocol 4, at most 10 frames a stack");
  CHECK(own("py3.11-nf1-step0").facts.format_detail ==
        "Python 3.9 or later, pickle protocol 5, at most 1 frame a stack");
  CHECK(own("py3.6-nf10-step0").facts.format == "tracemalloc");
}

TEST_CASE("tracemalloc: a frame is a file, a line and a name made of both") {
  const Snapshot s = read_all(dump_around(one_trace())).at(0);
  const Dictionary& d = *s.dictionary;
  REQUIRE(d.frames.size() == 1);
  CHECK(d.strings[d.functions.name[1]] == "app/a.py:9");
  CHECK(d.strings[d.functions.file[1]] == "app/a.py");
  CHECK(d.frames.line[0] == 9);
  CHECK(rows_of(s) == Rows{{"app/a.py:9", {1, 100}}});
}

TEST_CASE("tracemalloc: the layout of Python 3.4 has no domain") {
  const std::string tuple = "K\x64" + text_of("a.py") + "K\x07\x86\x94\x85\x94\x86\x94";
  // Again, from the memo: slots 12 to 15 are the name, the frame, the traceback and the trace.
  const Snapshot s = read_all(dump_around(tuple + "K\x65h\x0e\x86\x94" + "M\x01\x02h\x0e\x86\x94")).at(0);
  CHECK(rows_of(s) == Rows{{"a.py:7", {3, 100 + 101 + 513}}});
  CHECK(s.facts.format_detail == "Python 3.4 or 3.5, pickle protocol 4, at most 25 frames a stack");
}

TEST_CASE("tracemalloc: traces in a row give the same as traces one by one") {
  // Long enough for the short cut through whole traces, of all three layouts, with what interrupts it: a
  // traceback of its own, a size beyond 31 bits, a domain, a cut stack.
  std::string traces = one_trace();
  Rows expected{{"app/a.py:9", {1, 100}}};
  const auto expect = [&](const std::string& stack, std::int64_t size) {
    ++expected[stack].first;
    expected[stack].second += size;
  };
  for (int i = 0; i < 500; ++i) {
    traces += "(K\0K"s + static_cast<char>(i % 200) + "h\x0eK\1t\x94";
    expect("app/a.py:9", i % 200);
    traces += "(K\0M\xff\xff"s + "h\x0eK\2t\x94";
    expect("app/a.py:9;[stack cut]", 65535);
    traces += "(J\xb7\xef\5\0K\x03h\x0eK\1t\x94"s;
    expect("app/a.py:9 {domain=389047}", 3);
    traces += "K\0M\x10\x10h\x0e\x87\x94"s + "K\5h\x0e\x86\x94";
    expect("app/a.py:9", 0x1010);
    expect("app/a.py:9", 5);
    traces += "(K\0\x8a\5\0\0\0\0\1h\x0eK\1t\x94"s;
    expect("app/a.py:9", std::int64_t{1} << 32);
    traces += "(K\0J\0\0\0\1j\x0e\0\0\0K\1t\x94"s;
    expect("app/a.py:9", 1 << 24);
  }
  const std::string bytes = dump_around(traces);
  CHECK(rows_of(read_all(bytes).at(0)) == expected);
}

TEST_CASE("tracemalloc: protocol 2, with GLOBAL and numbered memo slots") {
  const std::string bytes =
      "\x80\x02"
      "ctracemalloc\nSnapshot\nq\0)\x81q\1}q\2(X\6\0\0\0tracesq\3ctracemalloc\n_Traces\nq\4)\x81q\5}q\6X\7\0\0\0_"
      "tracesq\7"
      "]q\x08((K\0K\x64X\4\0\0\0a.pyq\x09K\7\x86q\x0a\x85q\x0bK\1tq\x0c"
      "(K\0K\x65h\x0bK\1tq\x0d"
      "esbX\x0f\0\0\0traceback_limitq\x0eK\x19ub."s;
  CHECK(rows_of(read_all(bytes).at(0)) == Rows{{"a.py:7", {2, 201}}});
}

TEST_CASE("tracemalloc: traces in a tuple, alone by APPEND, and none at all") {
  const std::string around = dump_around("");
  const std::string list = "]\x94(e"s;
  const auto with = [&](const std::string& instead) {
    std::string out = around;
    return out.replace(out.find(list), list.size(), instead);
  };
  CHECK(rows_of(read_all(with("(" + one_trace() + "(K\0K\1h\x0dK\1t\x94"s + "t\x94")).at(0)) ==
        Rows{{"app/a.py:9", {2, 101}}});
  CHECK(rows_of(read_all(with("]\x94" + one_trace() + "a")).at(0)) == Rows{{"app/a.py:9", {1, 100}}});
  CHECK(rows_of(read_all(with("]\x94")).at(0)).empty());
  CHECK(rows_of(read_all(with(")")).at(0)).empty());
}

TEST_CASE("tracemalloc: where no frame was known there is no stack") {
  const std::string unknown = "(K\0K\5"s + text_of("<unknown>") + "K\0\x86\x94\x85\x94K\1t\x94"s;
  const std::string empty = "(K\0K\6)K\0t\x94"s;
  CHECK(rows_of(read_all(dump_around(unknown + empty)).at(0)) == Rows{{"[no stack recorded]", {2, 11}}});
}

TEST_CASE("tracemalloc: names are bytes, surrogates too") {
  const std::string name = "/srv/\xed\xb3\xbf.py";  // os.fsdecode(b'/srv/\xff.py')
  const Snapshot s = read_all(dump_around("(K\0K\5"s + text_of(name) + "K\1\x86\x94\x85\x94K\1t\x94"s)).at(0);
  CHECK(rows_of(s) == Rows{{name + ":1", {1, 5}}});
}

TEST_CASE("tracemalloc: dumps one behind the other are a series") {
  const std::string first = dump_around(one_trace(100));
  const std::string second = dump_around(one_trace(120));
  const std::vector<Snapshot> all = read_all(first + second + dump_around(""));
  REQUIRE(all.size() == 3);
  CHECK(rows_of(all[0]) == Rows{{"app/a.py:9", {1, 100}}});
  CHECK(rows_of(all[1]) == Rows{{"app/a.py:9", {1, 120}}});
  CHECK(rows_of(all[2]).empty());
  CHECK(all[1].facts.position == 1);

  const std::vector<Snapshot> cut = read_all(first + second.substr(0, second.size() - 1));
  REQUIRE(cut.size() == 1);
  CHECK(has_note(cut[0], Severity::data_loss, "inside a further dump"));
  const std::vector<Snapshot> tail = read_all(first + "\0\0xy\0"s);
  REQUIRE(tail.size() == 1);
  CHECK(has_note(tail[0], Severity::warning, "bytes after the end"));
  CHECK(tail[0].facts.notes.all().back().count == 2);
  CHECK_FALSE(has_note(read_all(first + "\0\0\0"s).at(0), Severity::warning, "bytes after the end"));
  const Error unsafe = error_of(first + "\x80\4cos\nsystem\n"s);
  CHECK(unsafe.offset == first.size() + 2);
}

TEST_CASE("tracemalloc: every shared sample is claimed by its own format only") {
  const fs::path folder = fs::path(SNAPDIFF_SHARED_DATA) / "trackers";
  if (!fs::exists(folder)) {
    WARN("skipped: the shared sample files are not here");
    return;
  }
  int dumps = 0;
  int lists = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string();
    const std::string head = slurp(entry.path()).substr(0, kSniffBytes);
    const bool dump = entry.path().extension() == ".tracemalloc";
    const bool list = entry.path().parent_path().filename() == "tracemalloc" && entry.path().extension() == ".txt";
    for (const formats::Format* importer : formats::all()) {
      const bool own =
          (dump && importer->info.name == "tracemalloc") || (list && importer->info.name == "tracemalloc-text");
      const bool concerned = dump || list || importer->info.name.substr(0, 11) == "tracemalloc";
      INFO(name << " and " << importer->info.name);
      if (concerned) CHECK((importer->sniff(head) == Match::certain) == own);
    }
    dumps += dump ? 1 : 0;
    lists += list ? 1 : 0;
  }
  CHECK(dumps >= 40);
  CHECK(lists >= 15);
}
