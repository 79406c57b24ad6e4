#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/foreign_files.hpp"
#include "formats/input/open_input.hpp"
#include "formats/registry.hpp"

using namespace snapdiff;
using namespace snapdiff::formats;
namespace fs = std::filesystem;

namespace {

/// The formats that are certain, of the highest rank among them: more than one is a tie.
std::vector<std::string> claims(const fs::path& path) {
  const Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_path(path.string(), {});
  REQUIRE(opened);
  std::vector<std::string> certain;
  std::optional<int> rank;
  for (const Format* format : all()) {
    if (format->sniff((*opened)->head()) != Match::certain) continue;
    if (rank && format->rank < *rank) continue;
    if (rank && format->rank > *rank) certain.clear();
    rank = format->rank;
    certain.emplace_back(format->info.name);
  }
  return certain;
}

struct Expected {
  std::string start;   ///< of the path below the samples
  std::string ending;  ///< of the file name
  std::string format;
};

/// The first that fits counts.
const std::vector<Expected>& table() {
  static const std::vector<Expected> kTable{
      {"", ".c", ""},
      {"", ".cpp", ""},
      {"", ".py", ""},
      {"", ".java", ""},
      {"bcc/", ".txt", "bcc-memleak"},
      {"dotnet/", ".txt", "dotnet-heap"},
      {"jemalloc/", "", "jemalloc-stats"},
      {"jvm/jdk17-histo", ".txt", "jvm-histogram"},
      {"jvm/jdk17-jcmd", ".txt", "jvm-histogram"},
      {"lsan/", ".txt", "leak-sanitizer"},
      {"objgraph/common", ".txt", "objgraph-text"},
      {"objgraph/growth", ".txt", "objgraph-text"},
      {"tensorflow/constructed-bfc", ".log", "tensorflow-bfc"},
      {"valgrind/memcheck", "", "memcheck"},
      {"valgrind/massif", ".out", "massif"},
      {"valgrind/dhat", ".json", "dhat"},
      {"heaptrack/", ".zst", "heaptrack"},
      {"heaptrack/", ".gz", "heaptrack"},
      {"jvm/", ".hprof.gz", "hprof"},
      {"memory_profiler/", "", "metric-log"},
      {"native-jsonl/", ".jsonl", "snapdiff-tracker"},
      {"objgraph/", ".dot", "objgraph-dot"},
      {"tensorflow/constructed-meminfo", "", "metric-log"},
      {"torch/constructed-memory", "", "metric-log"},
      {"torch/", ".tracemalloc", "tracemalloc"},
      {"torch/", ".log", "metric-log"},
      {"torchsharp/", "", "metric-log"},
      {"tracemalloc/", ".tracemalloc", "tracemalloc"},
      {"tracemalloc/", ".log", "metric-log"},
      {"tracemalloc/", ".txt", "tracemalloc-text"},
      {"v8/", ".heapsnapshot.gz", "v8-heapsnapshot"},
  };
  return kTable;
}

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

TEST_CASE("detect: each sample of a tracker is claimed by its own format and by no other") {
  const fs::path samples = fs::path(SNAPDIFF_SHARED_DATA) / "trackers";
  if (!fs::exists(samples)) {
    WARN("skipped: the shared sample files are not here");
    return;
  }
  std::set<std::string> of_the_table;
  for (const Expected& expected : table()) of_the_table.insert(expected.format);
  std::size_t claimed = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(samples)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
    const std::string name = fs::relative(entry.path(), samples).string();
    INFO(name);
    const std::vector<std::string> certain = claims(entry.path());
    bool listed = false;
    for (const Expected& expected : table()) {
      if (name.rfind(expected.start, 0) != 0 || !ends_with(name, expected.ending)) continue;
      CHECK(certain == (expected.format.empty() ? std::vector<std::string>{} : std::vector{expected.format}));
      listed = true;
      claimed += expected.format.empty() ? 0U : 1U;
      break;
    }
    if (listed) continue;
    CHECK(certain.size() <= 1);
    for (const std::string& format : certain) CHECK(of_the_table.count(format) == 0);
  }
  CHECK(claimed >= 100);
}

TEST_CASE("detect: samples of languages' profilers are claimed by their own format, and no other file by these") {
  const fs::path samples = fs::path(SNAPDIFF_SHARED_DATA) / "real" / "newformats";
  if (!fs::exists(samples)) {
    WARN("skipped: the shared sample files are not here");
    return;
  }
  const std::vector<Expected> own{{"heapprofile/", ".heapprofile", "v8-heapprofile"},
                                  {"async-profiler-", "collapsed", "folded-stacks"},
                                  {"async-profiler-collapsed/", ".gz", "folded-stacks"},
                                  {"austin/", ".gz", "folded-stacks"},
                                  {"go-pprof-text/", ".txt", "pprof-text"},
                                  {"go-goroutine-debug2/", ".gz", "goroutine-dump"},
                                  {"ruby-objectspace/heap", ".gz", "ruby-heap"},
                                  {"guppy/heap", "", "guppy"},
                                  {"pympler/", ".txt", "pympler"},
                                  {"fil/", ".prof", "folded-stacks"},
                                  {"erlang/memory", ".log", "erlang-memory"},
                                  {"erlang/erl_crash", ".gz", "erlang-crash-dump"},
                                  {"node-report/fatal", ".json", "node-report"},
                                  {"rust-stats-alloc/", ".log", "stats-alloc"},
                                  {"memray-html/flamegraph", ".gz", "memray-html"},
                                  {"glibc-mtrace/", ".gz", "leak-listing"},
                                  {"scalene/", ".gz", "scalene"}};
  std::size_t claimed = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(samples)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), samples).string();
    INFO(name);
    const auto expected = std::find_if(own.begin(), own.end(), [&](const Expected& one) {
      return name.rfind(one.start, 0) == 0 && ends_with(name, one.ending);
    });
    const std::vector<std::string> certain = claims(entry.path());
    if (expected != own.end()) {
      CHECK(certain == std::vector{expected->format});
      ++claimed;
      continue;
    }
    for (const Expected& one : own) CHECK(std::find(certain.begin(), certain.end(), one.format) == certain.end());
  }
  CHECK(claimed >= 20);
}

TEST_CASE("detect: no test file is claimed for certain by two formats") {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(SNAPDIFF_TEST_DATA))) {
    if (!entry.is_regular_file()) continue;
    INFO(entry.path().filename());
    CHECK(claims(entry.path()).size() <= 1);
  }
}

TEST_CASE("detect: what .NET records in binary is refused with what to do") {
  using namespace std::string_view_literals;
  CHECK(foreign_kind("\x14\0\0\0!FastSerialization.1"sv).find("dotnet-gcdump report") != std::string::npos);
}
