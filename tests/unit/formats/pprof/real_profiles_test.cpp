#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "formats/registry.hpp"
#include "read_back.hpp"

using namespace snapdiff;
namespace fs = std::filesystem;

namespace {

const fs::path kOwn = fs::path(SNAPDIFF_TEST_DATA) / "pprof";
const fs::path kShared = fs::path(SNAPDIFF_SHARED_DATA) / "pprof";

bool shared_data_here() {
  if (fs::exists(kShared)) return true;
  WARN("skipped: the shared sample files are not here");
  return false;
}

Snapshot read_one(const fs::path& path) {
  INFO(path);
  Result<std::vector<Snapshot>> read = formats::read_file(path.string(), {});
  if (!read) FAIL(read.error().text());
  REQUIRE(read->size() == 1);
  CHECK(read->front().facts.format == "pprof");
  CHECK(read->front().facts.source.size_bytes == fs::file_size(path));
  return std::move(read->front());
}

using Totals = std::map<std::string, std::int64_t>;

}  // namespace

// Totals as `go tool pprof -raw` sums them; tests/data/pprof/SOURCES.md.
TEST_CASE("pprof, real: two consecutive Go heaps with no growth") {
  const Totals expected = {
      {"alloc_objects", 1715}, {"alloc_space", 1049360}, {"inuse_objects", 1715}, {"inuse_space", 1049360}};
  for (const char* name : {"go-dd-heap/heap.before.pb", "go-dd-heap/heap.after.pb"}) {
    const Snapshot s = read_one(kOwn / name);
    CHECK(read_back::totals(s) == expected);
    CHECK(s.facts.producer == "go");
    CHECK(s.facts.sampling == Sampling::poisson);
    CHECK(s.facts.period == 524288);
  }
}

TEST_CASE("pprof, real: a Go series has its measured totals") {
  const std::pair<const char*, std::pair<std::int64_t, std::int64_t>> files[] = {
      {"heap.001.pb.gz", {1875856, 3202}}, {"heap.002.pb.gz", {2708376, 6267}}, {"heap.003.pb.gz", {3479480, 9327}}};
  std::int64_t sequence = 0;
  for (const auto& [name, inuse] : files) {
    const Snapshot s = read_one(kOwn / "go-queue" / name);
    CHECK(read_back::totals(s).at("inuse_space") == inuse.first);
    CHECK(read_back::totals(s).at("inuse_objects") == inuse.second);
    CHECK(s.facts.sequence == ++sequence);
    CHECK(s.facts.sampling == Sampling::exact);
    CHECK(s.facts.taken_at_ns);
  }
}

TEST_CASE("pprof, real: every series file has the totals of the truth table") {
  if (!shared_data_here()) return;
  std::ifstream truth(kShared / "series" / "TRUTH.md");
  const std::regex heading("^## ([a-z0-9-]+)$");
  const std::regex row("^(\\S+\\.pb\\.gz) (\\d+) / (\\d+) .*$");
  std::string folder;
  std::string line;
  int checked = 0;
  while (std::getline(truth, line)) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) folder = match[1];
    if (!std::regex_match(line, match, row)) continue;
    const Snapshot s = read_one(kShared / "series" / folder / match[1].str());
    CHECK(read_back::totals(s).at("inuse_space") == std::stoll(match[2]));
    CHECK(read_back::totals(s).at("inuse_objects") == std::stoll(match[3]));
    ++checked;
  }
  CHECK(checked == 36);  // go-queue, go-queue-s512k, node-cache
}

TEST_CASE("pprof, real: samples of many producers") {
  if (!shared_data_here()) return;
  CHECK(read_back::totals(read_one(kShared / "go-proto-dd-stress.before.pb.gz")).at("alloc_space") == 38341130374);
  CHECK(read_back::totals(read_one(kShared / "go-proto-dd-stress.after.pb.gz")).at("inuse_space") == 6374088);

  const Snapshot delta = read_one(kShared / "go-proto-parca-alloc_space_delta.pb.gz");
  CHECK(delta.facts.is_delta);
  CHECK(delta.facts.duration_ns.value_or(0) > 29'000'000'000);

  const Snapshot pyroscope = read_one(kShared / "go-proto-uncompressed-pyroscope-heap.pb");
  CHECK(static_cast<double>(read_back::totals(pyroscope).at("inuse_space")) / (1 << 20) ==
        Approx(1528.40).margin(0.005));

  const Snapshot node = read_one(kShared / "node-proto-objects-space-uncompressed.pb");
  CHECK(node.column("inuse_objects") != nullptr);
  CHECK(node.column("inuse_space") != nullptr);
  CHECK(node.facts.producer == "node");

  const Snapshot dotnet = read_one(kShared / "dotnet-proto-multi-sampletype.pb.gz");
  CHECK(dotnet.samples.columns.size() == 6);

  const Snapshot cut = read_one(kShared / "go-proto-truncated-stacks.pb.gz");
  CHECK(static_cast<double>(read_back::totals(cut).at("inuse_space")) / (1LL << 40) == Approx(13.61).margin(0.01));

  CHECK(read_one(kShared / "proto-no-samples.pb.gz").samples.size() == 0);
}

TEST_CASE("pprof, real: odd files that must be read") {
  if (!shared_data_here()) return;
  CHECK(read_one(kShared / "malformed-invalid_utf8.pb.gz").samples.size() == 1);
  CHECK(read_one(kShared / "malformed-no_addr_no_line.pb.gz").samples.size() == 2);
}
