#include <catch2/catch.hpp>

#include <chrono>
#include <map>
#include <set>

#include "analyzer/base/validate.hpp"
#include "formats/registry.hpp"
#include "unit/analyzer/symbols/symbols_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const std::string kSeries = std::string(SNAPDIFF_SHARED_DATA) + "/pprof/series";

bool have_series() {
  if (std::filesystem::exists(kSeries + "/bin/svc_cache")) return true;
  WARN("skipped: the shared series are not there");
  return false;
}

std::vector<Snapshot> read_all(const std::vector<std::string>& names) {
  std::vector<Snapshot> out;
  for (const std::string& name : names) {
    auto read = formats::read_file(kSeries + "/" + name, {});
    REQUIRE(read);
    for (Snapshot& snapshot : *read) out.push_back(std::move(snapshot));
  }
  return out;
}

symbols::SymbolOptions with_binary() {
  symbols::SymbolOptions options;
  options.paths = {kSeries + "/bin"};
  return options;
}

struct Line {
  std::string function, file;
  int line = 0;
  bool operator<(const Line& other) const {
    return std::tie(function, file, line) < std::tie(other.function, other.file, other.line);
  }
};

/// Bytes by frame of one file name, of rows through that frame.
std::map<Line, std::int64_t> bytes_by_line(const Snapshot& snapshot, const std::string& file) {
  const Dictionary& d = *snapshot.dictionary;
  const Column* bytes = snapshot.column("inuse_space");
  std::map<Line, std::int64_t> out;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    std::set<Line> seen;
    for (const FrameId frame : d.stacks.frames(snapshot.samples.stack[row])) {
      const std::size_t i = index_of(frame), f = index_of(d.frames.function[i]);
      const std::string_view path = d.strings[d.functions.file[f]];
      if (base_name(path) != file) continue;
      seen.insert({std::string(d.strings[d.functions.name[f]]), std::string(path), d.frames.line[i]});
    }
    for (const Line& line : seen) out[line] += bytes->value[row];
  }
  return out;
}

std::int64_t growth_at(const std::map<Line, std::int64_t>& a, const std::map<Line, std::int64_t>& b,
                       const std::string& function, int line) {
  const auto sum = [&](const std::map<Line, std::int64_t>& rows) {
    std::int64_t total = 0;
    for (const auto& [key, bytes] : rows) {
      if (key.function == function && key.line == line) total += bytes;
    }
    return total;
  };
  return sum(b) - sum(a);
}

/// One row of the TRUTH table: function, line of the allocation (or call) in svc_cache.cc, bytes a step.
struct Leak {
  const char* function;
  int line;
  std::int64_t tcmalloc, jemalloc;
};

// svc_cache.cc with the lines counted in the source; steps 7 to 12, five of them after the first.
const std::vector<Leak> kLeaks = {
    {"alloc_body(unsigned long)", 24, 240'000, 256'000},
    {"leak_sessions(int, unsigned long)", 26, 16'000 + 240'000, 16'000 + 256'000},
    {"make_log_line(int)", 28, 200'000, 224'000},
    {"leak_log(int, unsigned long)", 29, 200'000, 224'000},
    {"leak_rec(int, unsigned long)", 35, 65'536, 65'536},
};

void check_series(const std::string& first, const std::string& last, int steps, bool jemalloc) {
  const std::vector<Snapshot> raw = read_all({first, last});
  const auto named = symbols::name_snapshots(raw, with_binary());
  REQUIRE(named);
  for (const Snapshot& snapshot : named->snapshots) REQUIRE(validate(snapshot));
  const auto a = bytes_by_line(named->snapshots[0], "svc_cache.cc");
  const auto b = bytes_by_line(named->snapshots[1], "svc_cache.cc");
  for (const Leak& leak : kLeaks) {
    CAPTURE(leak.function, leak.line);
    const std::int64_t each = jemalloc ? leak.jemalloc : leak.tcmalloc;
    const std::int64_t growth = growth_at(a, b, leak.function, leak.line);
    if (std::string(leak.function).starts_with("leak_log")) {
      CHECK(growth >= each * steps);  // and the vector that grows now and then
    } else {
      CHECK(growth == each * steps);
    }
  }
  for (const symbols::ModuleReport& module : named->report.modules) {
    if (base_name(module.name) != "svc_cache") continue;
    CHECK(module.named == module.addresses);
    CHECK(module.binary == kSeries + "/bin/svc_cache");
  }
}

}  // namespace

TEST_CASE("series: every function and line of the leak appears with its bytes, tcmalloc") {
  if (!have_series()) return;
  check_series("tcmalloc-svc/svc.0007.heap", "tcmalloc-svc/svc.0012.heap", 5, false);
}

TEST_CASE("series: every function and line of the leak appears with its bytes, jemalloc") {
  if (!have_series()) return;
  check_series("jemalloc-svc/svc.0006.heap", "jemalloc-svc/svc.0011.heap", 5, true);
}

TEST_CASE("series: another load address gives the same names") {
  if (!have_series()) return;
  check_series("tcmalloc-svc/svc.0007.heap", "tcmalloc-svc-run2/svc.0012.heap", 5, false);
}

TEST_CASE("series: each address of the program is what addr2line gives, inlined calls included") {
  if (!have_series() || !has_program("addr2line")) return;
  const std::string binary = kSeries + "/bin/svc_cache";
  const SectionPlace text = section_of(binary, ".text");
  const auto raw = read_all({"tcmalloc-svc/svc.0012.heap", "jemalloc-svc/svc.0011.heap"});
  std::size_t compared = 0;
  for (const Snapshot& snapshot : raw) {
    const auto named = symbols::name_snapshot(snapshot, with_binary());
    REQUIRE(named);
    const Dictionary& d = *named->snapshots[0].dictionary;
    for (std::size_t s = 1; s < d.stacks.size(); ++s) {
      const auto frames = d.stacks.frames(StackId{static_cast<std::uint32_t>(s)});
      for (std::size_t i = 0; i < frames.size();) {
        std::vector<TrueFrame> ours;
        const std::size_t row = index_of(frames[i]);
        const bool in_program = base_name(d.strings[d.modules.name[index_of(d.frames.module[row])]]) == "svc_cache";
        for (bool more = true; more && i < frames.size(); ++i) {
          const std::size_t r = index_of(frames[i]), f = index_of(d.frames.function[r]);
          ours.push_back({std::string(d.strings[d.functions.name[f]]), std::string(d.strings[d.functions.file[f]]),
                          d.frames.line[r]});
          more = (d.frames.flags[r] & kFrameInlined) != 0;
        }
        if (!in_program || ours.back().file.empty()) continue;
        const auto theirs = ask_addr2line(binary, {d.frames.offset[row] - text.offset + text.address});
        CHECK(text_of(ours) == text_of(theirs.at(0)));
        ++compared;
      }
    }
    if (compared > 200) break;
  }
  CHECK(compared > 20);
}

TEST_CASE("series: naming changes no hash, no row and no total") {
  if (!have_series()) return;
  const std::vector<Snapshot> raw = read_all({"jemalloc-svc/svc.0011.heap"});
  const auto named = symbols::name_snapshot(raw[0], with_binary());
  REQUIRE(named);
  const Snapshot& after = named->snapshots[0];
  CHECK(after.dictionary->stacks.hash == raw[0].dictionary->stacks.hash);
  CHECK(after.samples.stack == raw[0].samples.stack);
  CHECK(after.samples.columns[0].value == raw[0].samples.columns[0].value);
  for (std::size_t i = 0; i < raw[0].dictionary->frames.size(); ++i)
    CHECK(after.dictionary->frames.hash[i] == raw[0].dictionary->frames.hash[i]);
  // Without the frames that naming added, every stack is what it was.
  for (std::uint32_t s = 0; s < raw[0].dictionary->stacks.size(); ++s) {
    std::vector<FrameId> plain;
    for (const FrameId frame : after.dictionary->stacks.frames(StackId{s})) {
      if (index_of(frame) < raw[0].dictionary->frames.size()) plain.push_back(frame);
    }
    const auto before = raw[0].dictionary->stacks.frames(StackId{s});
    CHECK(std::equal(plain.begin(), plain.end(), before.begin(), before.end()));
  }
}

TEST_CASE("series: named again, the same, named again from nothing, names stay") {
  if (!have_series()) return;
  const std::vector<Snapshot> raw = read_all({"tcmalloc-svc/svc.0012.heap"});
  symbols::SymbolOptions options = with_binary();
  const auto once = symbols::name_snapshot(raw[0], options);
  REQUIRE(once);
  const auto left_alone = symbols::name_snapshot(once->snapshots[0], options);
  REQUIRE(left_alone);
  CHECK(left_alone->report.addresses < once->report.addresses);
  options.again = true;
  const auto twice = symbols::name_snapshot(once->snapshots[0], options);
  REQUIRE(twice);
  REQUIRE(validate(twice->snapshots[0]));
  CHECK(twice->report.addresses == once->report.addresses);
  const Dictionary& a = *once->snapshots[0].dictionary;
  const Dictionary& b = *twice->snapshots[0].dictionary;
  CHECK(a.frames.hash == b.frames.hash);
  CHECK(a.frames.function == b.frames.function);
  CHECK(a.frames.line == b.frames.line);
  CHECK(a.stacks.frame == b.stacks.frame);
  symbols::SymbolOptions nothing;
  nothing.recorded_paths = false;
  nothing.again = true;
  const auto kept = symbols::name_snapshot(once->snapshots[0], nothing);
  REQUIRE(kept);
  CHECK(kept->snapshots[0].dictionary->frames.function == a.frames.function);
  CHECK(kept->snapshots[0].dictionary->stacks.frame == a.stacks.frame);
}

TEST_CASE("series: without the binary the report says what is missing and what would help") {
  if (!have_series()) return;
  const std::vector<Snapshot> raw = read_all({"tcmalloc-svc/svc.0012.heap"});
  symbols::SymbolOptions options;
  options.recorded_paths = false;
  const auto named = symbols::name_snapshot(raw[0], options);
  REQUIRE(named);
  CHECK(named->report.unnamed == named->report.addresses);
  CHECK(named->report.unnamed_bytes == 7'047'568);  // every row goes through the program
  REQUIRE_FALSE(named->report.modules.empty());
  bool found = false;
  for (const symbols::ModuleReport& module : named->report.modules) {
    if (base_name(module.name) != "svc_cache") continue;
    found = true;
    CHECK(module.unnamed_bytes == 7'047'568);
    CHECK(module.advice == "no file for " + module.name + "; give it with --symbols FILE|DIR");
  }
  CHECK(found);
  CHECK(named->snapshots[0].dictionary->stacks.frame == raw[0].dictionary->stacks.frame);
}

TEST_CASE("series: speed") {
  if (!have_series()) return;
  std::vector<std::string> names;
  for (int i = 1; i <= 12; ++i)
    names.push_back("tcmalloc-svc/svc.00" + std::string(i < 10 ? "0" : "") + std::to_string(i) + ".heap");
  const std::vector<Snapshot> raw = read_all(names);
  const auto start = std::chrono::steady_clock::now();
  const auto named = symbols::name_snapshots(raw, with_binary());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  REQUIRE(named);
  std::printf("12 tcmalloc snapshots: %llu addresses in %zu modules, %llu unnamed, %.1f ms\n",
              static_cast<unsigned long long>(named->report.addresses), named->report.modules.size(),
              static_cast<unsigned long long>(named->report.unnamed), took.count() * 1000);
  for (const auto& m : named->report.modules)
    std::printf("  %s: %llu of %llu named, %llu without lines; %s\n", std::string(base_name(m.name)).c_str(),
                static_cast<unsigned long long>(m.named), static_cast<unsigned long long>(m.addresses),
                static_cast<unsigned long long>(m.without_lines), m.advice.c_str());
  std::printf("%s", text_of(named->report.notes).c_str());
}
