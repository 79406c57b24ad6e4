#include <catch2/catch.hpp>
#include <filesystem>

#include "formats/input/open_input.hpp"
#include "formats/registry.hpp"
#include "unit/formats/metric_log/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::formats;
using namespace snapdiff::test;

namespace {

Match sniff(std::string_view head) { return kMetricLog.sniff(head); }

std::string utf16(std::string_view text, bool little) {
  std::string out = little ? "\xff\xfe" : "\xfe\xff";
  for (const char c : text) {
    if (little) out += c;
    out += '\0';
    if (!little) out += c;
  }
  return out;
}

}  // namespace

TEST_CASE("detection: samples of all trackers are certain, also cut by the head") {
  namespace fs = std::filesystem;
  std::size_t checked = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(SNAPDIFF_TEST_DATA "/metric_log")) {
    if (entry.path().extension() == ".md") continue;
    const std::string name = entry.path().filename().string();
    INFO(name);
    const std::string bytes = sample(name);
    CHECK(sniff(bytes) == Match::certain);
    const Result<const Format*> found = detect(bytes, true);
    REQUIRE(found);
    CHECK((*found)->info.name == kMetricLog.info.name);
    if (bytes.size() > 1200 && name.find("plain") == std::string::npos)
      CHECK(sniff(bytes.substr(0, 1200)) == Match::certain);
    ++checked;
  }
  CHECK(checked > 15);
}

TEST_CASE("detection: other shared samples are not claimed") {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(SNAPDIFF_SHARED_DATA) / "trackers";
  if (!fs::exists(root)) {
    WARN("skipped: the shared sample files are not here");
    return;
  }
  std::size_t checked = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string(), folder = entry.path().parent_path().filename();
    if (!entry.is_regular_file() || extension == ".md" || extension == ".py") continue;
    if (folder == "torchsharp" || folder == "memory_profiler") continue;
    const std::string name = entry.path().filename();
    if (name.find("iterations.log") != std::string::npos || name.find("memory_s") != std::string::npos ||
        name.find("meminfo") != std::string::npos)
      continue;
    const auto opened = OpenedInput::open_path(entry.path().string(), {});
    REQUIRE(opened);
    INFO(entry.path());
    const Result<const Format*> found = detect((*opened)->head(), (*opened)->head_is_all());
    CHECK_FALSE((found && *found == &kMetricLog));
    ++checked;
  }
  CHECK(checked > 100);
}

TEST_CASE("detection: one line that people write is possible, two are certain") {
  CHECK(sniff("rss: 5 MB\n") == Match::possible);
  CHECK(sniff("rss: 5 MB\nrss: 6 MB\n") == Match::certain);
  CHECK(sniff("{'current': 5, 'peak': 6}\n") == Match::certain);
  CHECK(sniff("notes\non\nmemory\nrss: 5 MB\nand\nmore\n") == Match::no);
  CHECK(sniff("hello\n") == Match::no);
  // A word that is used again for another thing.
  CHECK(sniff("limits:\n  memory: 5 MB\nrequests:\n  memory: 6 MB\n") == Match::no);
  CHECK(sniff("heap\n 8m: 2, used=16.0 MB\n 4m: 1, used=4.0 MB\n") == Match::no);
  CHECK(sniff("a\n  step 1 memory: 5 MB\nb\n  step 2 memory: 6 MB\n") == Match::certain);
  CHECK(sniff("") == Match::no);
  CHECK(sniff(std::string_view("rss: 5 MB\nrss: 6 MB\n\0", 21)) == Match::no);
}

TEST_CASE("detection: what another format says in the same log says more") {
  const std::string metrics = "rss: 5 MB\nrss: 6 MB\n";
  const auto format_of = [&](const std::string& more) {
    const Result<const Format*> found = detect(metrics + more, true);
    REQUIRE(found);
    return std::string((*found)->info.name);
  };
  CHECK(format_of("") == "metric-log");
  CHECK(format_of("==1==ERROR: LeakSanitizer: detected memory leaks\n") == "leak-sanitizer");
  CHECK(format_of("a.py:3: size=5 KiB, count=1, average=5 KiB\n") == "tracemalloc-text");
  CHECK(format_of("[11:16:33] Top 2 stacks with outstanding allocations:\n") == "bcc-memleak");
  CHECK(format_of(" num     #instances         #bytes  class name\n") == "jvm-histogram");
}

TEST_CASE("detection: text is looked at further than other files") {
  const std::string metrics = "Iteration 1: 5.0MB\nIteration 2: 6.0MB\n";
  for (const std::size_t filler : {20'000U, 200'000U, 900'000U}) {
    std::string log;
    while (log.size() < filler) log += "[INFO] nothing to see on this line\n";
    const auto read = read_bytes(log + metrics, "given", {});
    INFO(filler);
    REQUIRE(read);
    CHECK(read->size() == 2);
    CHECK((*read)[0].facts.format == kMetricLog.info.name);
  }
  const auto late = read_bytes(std::string(1'200'000, 'x') + "\n" + metrics, "given", {});
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::unsupported);
}

TEST_CASE("detection: UTF-16 with a byte order mark is read as any log") {
  const std::string log = sample("cpu-iterations.log");
  const auto expected = read_bytes(log, "given", {});
  REQUIRE(expected);
  for (const bool little : {true, false}) {
    const auto read = read_bytes(utf16(log, little), "given", {});
    REQUIRE(read);
    REQUIRE(read->size() == expected->size());
    for (std::size_t i = 0; i < read->size(); ++i) CHECK((*read)[i].facts.counters == (*expected)[i].facts.counters);
    CHECK(read->back().facts.format_detail == "metric lines, utf-16");
  }
  const auto odd = read_bytes(utf16(log, true) + "x", "given", {});
  REQUIRE(odd);
  CHECK(noted(*odd, "half a character") == 1);
}

TEST_CASE("detection: UTF-16 keeps every character, whatever the length of the text") {
  // Pairs of surrogates at every place of the decoder's buffers.
  for (const std::size_t filler : {0U, 1U, 8190U, 8191U, 8192U, 16383U, 65534U, 65535U, 65536U}) {
    std::string bytes = "\xff\xfe";
    for (std::size_t i = 0; i < filler; ++i) bytes += std::string("a\0", 2);
    bytes += std::string("=\0\x3d\xd8\x00\xde", 6);  // U+1F600
    bytes += std::string(" \0x\0=\0005\0\n\0", 10);
    ReadOptions options;
    options.patterns = {R"((?P<name>=\S+) x=(?P<value>\d+))"};
    const auto read = read_bytes(bytes, "given", options);
    INFO(filler);
    REQUIRE(read);
    CHECK(read->front().facts.counters.at(0).name == "=\xf0\x9f\x98\x80");
  }
}

TEST_CASE("detection: a pattern makes a log of any text, but of nothing that is something else") {
  ReadOptions options;
  options.patterns = {"heap (\\d+)"};
  const auto read = read_bytes("heap 5\nheap 6\n", "given", options);
  REQUIRE(read);
  CHECK(read->size() == 2);
  const auto png = read_bytes(std::string_view("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), "given", options);
  REQUIRE_FALSE(png);
  CHECK(png.error().code == ErrorCode::unsupported);
  const auto profile = read_bytes("heap profile: 1: 8 [1: 8] @ heap_v2/524288\n 1: 8 [1: 8] @ 0x1\n", "given", options);
  REQUIRE(profile);
  CHECK(profile->front().facts.format == "gperftools");
}
