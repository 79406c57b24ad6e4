#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "formats/foreign_files.hpp"
#include "formats/input/open_input.hpp"
#include "formats/registry.hpp"

using namespace snapdiff;
using namespace snapdiff::formats;

namespace {

/// The five header words of a legacy CPU profile.
template <class Word>
std::string cpu_profile(bool swapped, Word version) {
  std::string out;
  for (const Word word : {Word{0}, Word{3}, version, Word{10000}, Word{0}, Word{1}, Word{1}, Word{0x4005d0}}) {
    for (std::size_t i = 0; i < sizeof word; ++i) {
      const std::size_t byte = swapped ? sizeof word - 1 - i : i;
      out.push_back(static_cast<char>((word >> (8 * byte)) & 0xff));
    }
  }
  return out;
}

Error error_for(std::string_view bytes) {
  const Result<std::vector<Snapshot>> read = read_bytes(bytes, "given", {});
  REQUIRE_FALSE(read);
  CHECK(read.error().subject == "given");
  return read.error();
}

}  // namespace

TEST_CASE("detect: legacy CPU profiles of every word size and byte order are refused by name") {
  for (const std::string& bytes :
       {cpu_profile<std::uint32_t>(false, 0), cpu_profile<std::uint32_t>(true, 0), cpu_profile<std::uint64_t>(false, 0),
        cpu_profile<std::uint64_t>(true, 0), cpu_profile<std::uint64_t>(false, 1)}) {
    const Error error = error_for(bytes);
    CHECK(error.code == ErrorCode::unsupported);
    CHECK(error.message.find("CPU profile") != std::string::npos);
  }
}

TEST_CASE("detect: foreign files are refused by name") {
  using namespace std::string_view_literals;
  const auto [bytes, kind] = GENERATE(table<std::string_view, std::string>({
      {"--- contentionz 1 ---\ncycles/second = 100\n"sv, "a contention profile"},
      {"--- contention:\n"sv, "a contention profile"},
      {"--- mutex:\ncycles/second=1\n"sv, "a mutex profile"},
      {"--- threadz 1 ---\n"sv, "thread"},
      {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv, "a PNG image"},
      {"\x7f"
       "ELF\2\1\1\0\0\0\0\0\0\0\0\0"sv,
       "an ELF binary"},
      {"%PDF-1.7\n"sv, "a PDF document"},
      {"SQLite format 3\0\x10\0"sv, "--db"},
      {"PK\x03\x04\x14\0"sv, "a zip archive"},
      {"\x80\x04\x95\0\0\0\0\0\0\0\0}."sv, "a Python pickle"},
      {"{\"version\":1,\"snapshot\":{\"meta\":{\"node_fields\":[]}}}"sv, "a V8 heap snapshot"},
      {"{\"a\": 1}"sv, "JSON"},
      {"<!DOCTYPE html><html>"sv, "HTML"},
      {"hello world\n"sv, "text of an unknown kind"},
      {"heap"sv, "text of an unknown kind"},
      {"\0\0\0\0\0\0\0\0"sv, "zero bytes"},
  }));
  const Error error = error_for(bytes);
  INFO(error.message);
  CHECK(error.code == ErrorCode::unsupported);
  CHECK(error.message.find(kind) != std::string::npos);
}

TEST_CASE("detect: unknown bytes are shown") {
  const Error error = error_for("\xfe\xed\xfa\x01\x02\x03");
  CHECK(error.code == ErrorCode::unsupported);
  CHECK(error.message.find("first bytes fe ed fa 01 02 03") != std::string::npos);
}

TEST_CASE("detect: an empty head is an empty input") {
  const Result<const Format*> found = detect("", true);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::malformed);
}

TEST_CASE("detect: an unknown --format is told with the known ones") {
  ReadOptions options;
  options.format = "nonsense";
  const Result<std::vector<Snapshot>> read = read_bytes("x", "given", options);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::usage);
  CHECK(read.error().message.find("pprof") != std::string::npos);
}

TEST_CASE("detect: every importer is described, once") {
  std::set<std::string_view> names;
  for (const Format* importer : all()) {
    CHECK_FALSE(importer->info.name.empty());
    CHECK_FALSE(importer->info.summary.empty());
    CHECK(names.insert(importer->info.name).second);
    CHECK(importer->sniff("") == Match::no);
  }
  CHECK(names.count("pprof") == 1);
}

TEST_CASE("detect: each real sample is claimed by one importer, and by no other") {
  namespace fs = std::filesystem;
  const fs::path samples = fs::path(SNAPDIFF_SHARED_DATA) / "pprof";
  if (!fs::exists(samples)) {
    WARN("skipped: the shared sample files are not here");
    return;
  }
  int checked = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(samples)) {
    const fs::path& path = entry.path();
    const std::string folder = path.parent_path().filename().string();
    if (!entry.is_regular_file() || path.extension() == ".md" || path.extension() == ".txt") continue;
    if (folder == "bin" || folder == "src" || folder == "goq") continue;
    const Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_path(path.string(), {});
    REQUIRE(opened);
    int certain = 0;
    int possible = 0;
    for (const Format* importer : all()) {
      const Match match = importer->sniff((*opened)->head());
      certain += match == Match::certain ? 1 : 0;
      possible += match == Match::possible ? 1 : 0;
    }
    INFO(path);
    CHECK(certain + possible == 1);
    ++checked;
  }
  CHECK(checked > 100);
}

TEST_CASE("formats: each has a name of its own and a fuzz corpus") {
  // Corpora with a target of their own, which are not called as the format is.
  const std::map<std::string_view, std::string> shared = {{"torch-html", "torch_cuda"},
                                                          {"torch-json", "torch_cuda"},
                                                          {"tracemalloc-text", "tracemalloc"},
                                                          {"snapdiff-tracker", "tracker_lines"},
                                                          {"v8-heapsnapshot", "v8"}};
  std::set<std::string> names;
  for (const Format* format : all()) {
    std::string name(format->info.name);
    CAPTURE(name);
    CHECK(names.insert(name).second);
    CHECK(*called(name) == format);
    if (const auto found = shared.find(format->info.name); found != shared.end()) name = found->second;
    std::replace(name.begin(), name.end(), '-', '_');
    const std::filesystem::path seeds = std::filesystem::path(SNAPDIFF_TEST_DATA) / "../fuzz/corpus" / name;
    CHECK((std::filesystem::is_directory(seeds) || std::filesystem::is_regular_file(seeds.string() + ".tar.xz")));
  }
  CHECK(names.size() > 30);
}
