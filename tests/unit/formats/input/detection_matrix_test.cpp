#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/input/open_input.hpp"
#include "formats/registry.hpp"
#include "support/imported.hpp"

using namespace snapdiff;
using namespace snapdiff::formats;

namespace {

namespace fs = std::filesystem;

/// What the samples of a folder are, by who wrote them. Folders that are not here hold none.
const std::map<std::string, std::vector<std::string>>& expected() {
  static const std::map<std::string, std::vector<std::string>> kExpected = {
      {"allocator_totals", {"malloc-totals", "python-malloc", "stats-alloc"}},
      {"async-profiler-collapsed", {"folded-stacks"}},
      {"async-profiler-jfr", {"folded-stacks", "jfr", "pprof"}},
      {"austin", {"folded-stacks"}},
      {"bcc", {"bcc-memleak"}},
      {"cpython-debugmallocstats", {"python-malloc"}},
      {"dotnet", {"dotnet-heap"}},
      {"erlang", {"erlang-crash-dump", "erlang-memory"}},
      {"fil", {"folded-stacks"}},
      {"folded_stacks", {"folded-stacks"}},
      {"glibc-mallinfo2", {"malloc-totals"}},
      {"glibc-malloc-info", {"malloc-totals"}},
      {"glibc-malloc-stats", {"malloc-totals"}},
      {"glibc-mtrace", {"leak-listing"}},
      {"go-expvar-runtime-metrics", {"metric-log"}},
      {"go-gctrace", {"metric-log"}},
      {"go-goroutine-debug1", {"go-text"}},
      {"go-goroutine-debug2", {"goroutine-dump"}},
      {"go-goroutineleak", {"go-text", "pprof"}},
      {"go-other-profiles", {"go-text", "pprof"}},
      {"go-pprof-text", {"pprof-text", "pprof"}},
      {"go-heapdump", {"go-heapdump"}},
      {"go_heapdump", {"go-heapdump", "go-text"}},
      {"go_text", {"go-text"}},
      {"goroutine_dump", {"goroutine-dump"}},
      {"gperftools", {"gperftools", "pprof-text"}},
      {"guppy", {"guppy"}},
      {"heapprofile", {"v8-heapprofile"}},
      {"heaptimeline", {"v8-heapsnapshot"}},
      {"heaptrack", {"heaptrack", "heaptrack-print", "folded-stacks"}},
      {"java_heapz", {"java-heapz", "pprof-text"}},
      {"jdk-flight-recording", {"jfr", "jvm-histogram"}},
      {"jemalloc", {"jemalloc", "jemalloc-stats"}},
      {"jfr", {"jfr", "pprof-text"}},
      {"jsc", {"jsc-heapsnapshot"}},
      {"jvm", {"hprof", "jvm-histogram"}},
      {"jvm-classloader-stats", {"jvm-classloaders"}},
      {"jvm-gc-log", {"metric-log", "jvm-memory"}},
      {"jvm-metaspace", {"jvm-memory"}},
      {"jvm-nmt", {"jvm-nmt", "jvm-memory"}},
      {"jvm_native", {"jvm-classloaders", "jvm-memory", "jvm-nmt"}},
      {"leak_reports", {"leak-listing", "memcheck", "umdh"}},
      {"lsan", {"leak-sanitizer"}},
      {"memory_profiler", {"metric-log"}},
      {"memray", {"memray", "memray-csv", "memray-html"}},
      {"memray-bin", {"memray", "memray-csv", "memray-gprof2dot", "memray-stats"}},
      {"memray-html", {"memray-html"}},
      {"metric_log", {"metric-log"}},
      {"mimalloc_stats", {"mimalloc-stats"}},
      {"mprof-children", {"metric-log"}},
      {"native-jsonl", {"snapdiff-tracker"}},
      {"node-memoryusage-log", {"metric-log"}},
      {"node-report", {"node-report"}},
      {"objgraph", {"objgraph-dot", "objgraph-text"}},
      {"otlp", {"otlp"}},
      {"php-memory-log", {"metric-log"}},
      {"postgres", {"postgres-contexts"}},
      {"pprof", {"pprof"}},
      {"pprof_text", {"pprof", "pprof-text"}},
      {"proc-smaps", {"proc-smaps"}},
      {"proc-status", {"proc-memory"}},
      {"proc_text", {"android-memory", "kernel-oom", "proc-memory", "proc-smaps"}},
      {"process_table", {"process-table"}},
      {"prometheus", {"prometheus"}},
      {"pympler", {"pympler"}},
      {"ruby", {"ruby-heap"}},
      {"ruby-objectspace", {"ruby-heap"}},
      {"ruby_heap", {"ruby-heap"}},
      {"runtime_state", {"erlang-crash-dump", "erlang-memory", "ghc-heap", "node-report"}},
      {"rust-stats-alloc", {"stats-alloc"}},
      {"scalene", {"scalene"}},
      {"symbolized", {"symbolized"}},
      {"tcmalloc-getstats", {"malloc-totals"}},
      {"tensorflow", {"tensorflow-bfc", "metric-log"}},
      {"torch", {"metric-log", "tracemalloc"}},
      {"torch_cuda", {"torch-cuda", "torch-profile"}},
      {"torchsharp", {"metric-log"}},
      {"tracemalloc", {"tracemalloc", "tracemalloc-text", "metric-log"}},
      {"type_counts", {"object-counts"}},
      {"v8", {"v8-heapprofile", "v8-heapsnapshot"}},
      {"v8-oom-crash", {"metric-log"}},
      {"v8-trace-gc", {"metric-log"}},
      {"valgrind", {"dhat", "massif", "memcheck", "ms-print"}},
      {"waterfall", {"jvm-memory", "jvm-nmt", "malloc-totals", "proc-memory", "proc-smaps"}},
  };
  return kExpected;
}

/// Programs, readmes and figures beside the samples.
bool is_sample(const std::string& name) {
  static const std::vector<std::string> kEndings = {
      ".md", ".py",  ".c",   ".cc", ".cpp", ".go",  ".java",   ".sh",    ".rs",      ".js",
      ".rb", ".erl", ".php", ".hs", ".mod", ".jfc", ".txt.xz", ".c.txt", ".cpp.txt", ".expected.txt"};
  for (const std::string& ending : kEndings) {
    if (name.ends_with(ending)) return false;
  }
  for (const char* const begin : {"README", "oracle", "expected", "make_", "constructed"}) {
    if (name.starts_with(begin)) return false;
  }
  return true;
}

struct Counts {
  std::size_t samples = 0, questions = 0, refused = 0;
};

/// One reader takes each sample, the one that it is for; every other that is sure of it stands below that one.
void check(const fs::path& path, const std::vector<std::string>& names, Counts& counts) {
  const Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_path(path.string(), {});
  if (!opened) return;
  OpenedInput& input = **opened;
  Result<const Format*> found = detect(input.head(), input.head_is_all());
  for (const std::size_t bytes : kTextSniffBytes) {
    if (found || input.head_is_all() || !input.look_further(bytes)) break;
    found = detect(input.head(), input.head_is_all());
  }
  INFO(path.string());
  ++counts.samples;
  if (!found) {
    // No reader's: never one that two claim.
    CHECK(found.error().code != ErrorCode::incompatible);
    ++counts.refused;
    return;
  }
  const std::string name((*found)->info.name);
  CHECK_THAT(name,
             Catch::Predicate<std::string>(
                 [&](const std::string& one) { return std::find(names.begin(), names.end(), one) != names.end(); },
                 "is one of its folder's"));
  for (const Format* other : all()) {
    ++counts.questions;
    if (other == *found || other->rank < (*found)->rank) continue;
    INFO(other->info.name);
    CHECK(other->sniff(input.head()) != Match::certain);
  }
}

void walk(const fs::path& root, Counts& counts) {
  for (const auto& [folder, names] : expected()) {
    const fs::path at = root / folder;
    if (!fs::is_directory(at)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(at)) {
      if (entry.is_regular_file() && is_sample(entry.path().filename().string())) check(entry.path(), names, counts);
    }
  }
}

}  // namespace

TEST_CASE("detection: every sample of every format against every reader") {
  Counts counts;
  walk(SNAPDIFF_TEST_DATA, counts);
  CHECK(counts.samples > 180);
  CHECK(counts.refused <= 6);  // of profilers that no reader takes, beside samples
  for (const char* const shared : {"real/newformats", "trackers", "more"}) {
    const auto root = test::shared_sample(shared);
    if (root) walk(*root, counts);
  }
  WARN("detection matrix: " << counts.samples << " samples, " << counts.questions << " pairs of sample and reader, "
                            << counts.refused << " samples that no reader takes");
}
