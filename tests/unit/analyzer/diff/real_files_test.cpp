#include <catch2/catch.hpp>
#include <filesystem>

#include "formats/registry.hpp"
#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const std::filesystem::path kShared = std::filesystem::path(SNAPDIFF_SHARED_DATA) / "pprof";

bool have_shared() {
  if (std::filesystem::exists(kShared)) return true;
  WARN("skipped: the shared sample files are not here");
  return false;
}

SnapshotRef load(const std::string& name) {
  Result<std::vector<Snapshot>> read = formats::read_file((kShared / name).string(), {});
  if (!read) throw std::invalid_argument(read.error().text());
  SnapshotRef r;
  r.snapshot = std::make_shared<Snapshot>(std::move(read->at(0)));
  r.ref = name;
  return r;
}

std::string numbered(const char* format, int n) {
  char name[64];
  std::snprintf(name, sizeof name, format, n);
  return name;
}

const CumulativeChange& cumulative_of(const GrowthReport& r, std::string_view key) {
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    if (r.keys[r.rows[i].key] == key) return r.cumulative[i];
  }
  throw std::invalid_argument("no key " + std::string(key));
}

}  // namespace

TEST_CASE("real: two runs under address randomisation diff to zero on every stack") {
  if (!have_shared()) return;
  const GrowthReport r =
      must_diff(load("allocator-dumps/tcmalloc-run1.0002.heap"), load("allocator-dumps/tcmalloc-run2.0002.heap"));
  CHECK(r.total == Change{10'752'621, 10'752'621});
  CHECK(r.rows.size() > 200);
  for (const GrowthRow& row : r.rows) {
    CHECK(row.row_class == RowClass::same);
    CHECK(row.tier == MatchTier::module_offset);
  }
  CHECK(r.matched[static_cast<std::size_t>(MatchTier::module_offset)] == 1);
  DiffOptions alloc;
  alloc.metric = "alloc_space";
  for (const GrowthRow& row : must_diff(load("allocator-dumps/tcmalloc-run1.0002.heap"),
                                        load("allocator-dumps/tcmalloc-run2.0002.heap"), alloc)
                                  .rows) {
    CHECK(row.row_class == RowClass::same);
  }
}

TEST_CASE("real: growth within one tcmalloc process, as two other tools measured it") {
  if (!have_shared()) return;
  const GrowthReport r =
      must_diff(load("allocator-dumps/tcmalloc-run1.0001.heap"), load("allocator-dumps/tcmalloc-run1.0002.heap"));
  CHECK(r.total.growth() == 2'988'163);
  CHECK(r.exact);
}

TEST_CASE("real: step 11 to 12 of the service, within a process and across two") {
  if (!have_shared()) return;
  for (const std::string run : {"tcmalloc-svc", "tcmalloc-svc-run2"}) {
    const GrowthReport r =
        must_diff(load("series/tcmalloc-svc/svc.0011.heap"), load("series/" + run + "/svc.0012.heap"));
    CHECK(r.total.growth() == 521'536);
    CHECK(r.total_objects.growth() == 4001);
    // leak_sessions, its bodies, the log lines, and one depth of leak_rec; nothing else moved.
    std::vector<std::int64_t> growth;
    for (const GrowthRow& row : r.rows) {
      if (row.value.growth() != 0) growth.push_back(row.value.growth());
    }
    CHECK(growth == std::vector<std::int64_t>{240'000, 200'000, 65'536, 16'000});
    CHECK(r.matched[static_cast<std::size_t>(MatchTier::module_offset)] == Approx(1));
  }
}

TEST_CASE("real: every step of the Go service by function") {
  if (!have_shared()) return;
  for (int step = 2; step <= 12; ++step) {
    const SnapshotRef before = load("series/go-queue/" + numbered("heap.%03d.pb.gz", step - 1));
    const SnapshotRef after = load("series/go-queue/" + numbered("heap.%03d.pb.gz", step));
    const GrowthReport r = must_diff(before, after, by(GroupBy::function));
    CAPTURE(step);
    std::int64_t burst = 0;
    if (step == 4) burst = 6 * 1'048'576;
    if (step == 8) burst = -6 * 1'048'576;
    // In step 2 ringWrite has one block more, of 96 bytes (read off the file by other means).
    CHECK(row_called(r, "main.newBody").value.growth() == 721'920 + burst + (step == 2 ? 96 : 0));
    CHECK(cumulative_of(r, "main.leakBacklog").value.growth() >= 512'000 + 32'000);
    CHECK(r.exact);
    const Result<PeekReport> peek = diff::peek(before, after, "^main\\.newBody$", {});
    REQUIRE(peek);
    std::map<std::string, std::int64_t> callers;
    for (const PeekEdge& edge : peek->functions.at(0).callers) callers[edge.function] = edge.value.growth();
    CHECK(callers.at("main.leakBacklog") == 512'000);
    CHECK(callers.at("main.leakIndex") == 128'000);
    CHECK(callers.at("main.leakSubscribers") == 81'920);
  }
}

TEST_CASE("real: the Go series, its steps and its restart") {
  if (!have_shared()) return;
  std::vector<SnapshotRef> snapshots;
  for (int i = 1; i <= 12; ++i) snapshots.push_back(load("series/go-queue/" + numbered("heap.%03d.pb.gz", i)));
  const Result<SeriesReport> s = diff::diff_series(snapshots, {});
  REQUIRE(s);
  const std::vector<std::int64_t> growth = {0,       832520,   771104, 7160288, 764320, 789152,
                                            1134336, -5708160, 764320, 788896,  775584, 780160};
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < growth.size(); ++i) {
    CHECK(s->steps[i].growth == growth[i]);
    sum += s->steps[i].growth;
    CHECK(s->steps[i].restart.empty());
  }
  CHECK(sum == s->overall.total.growth());
  CHECK(s->steps[3].heaviest_growth == 6 * 1'048'576);
  CHECK(s->steps[3].heaviest.front().function == "main.newBody");
  CHECK(s->steps[7].heaviest_growth == -6 * 1'048'576);
}

TEST_CASE("real: the pair of dd-trace-go grows by function as go tool pprof -diff_base says") {
  if (!have_shared()) return;
  DiffOptions options = by(GroupBy::function);
  options.metric = "alloc_space";
  const GrowthReport r =
      must_diff(load("go-proto-dd-stress.before.pb.gz"), load("go-proto-dd-stress.after.pb.gz"), options);
  CHECK(r.total.baseline == 38'341'130'374);
  std::map<std::string, std::int64_t> top;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& name = r.keys[r.rows[i].key];
    top[name.substr(name.rfind('.') + 1)] = r.rows[i].value.growth();
  }
  CHECK(top == std::map<std::string, std::int64_t>{
                   {"mapSample", 29'911'812}, {"postDecode", 16'780'536}, {"decodeUint64s", 8'389'736}});
  const GrowthReport in_use =
      must_diff(load("go-proto-dd-stress.before.pb.gz"), load("go-proto-dd-stress.after.pb.gz"));
  CHECK(in_use.total == Change{6'374'088, 6'374'088});
  CHECK(in_use.grew == 0);
  const GrowthReport small = must_diff(load("go-proto-dd-heap.before.pb.gz"), load("go-proto-dd-heap.after.pb.gz"));
  CHECK(small.total == Change{1'049'360, 1'049'360});
  CHECK(small.grew == 0);
}

TEST_CASE("real: invariants hold for every profile that loads") {
  if (!have_shared()) return;
  std::vector<SnapshotRef> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kShared)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.starts_with("malformed") ||
        (!name.ends_with(".gz") && !name.ends_with(".heap") && !name.ends_with(".pb")))
      continue;
    Result<std::vector<Snapshot>> read = formats::read_file(entry.path().string(), {});
    if (!read || read->empty()) continue;
    SnapshotRef r;
    r.snapshot = std::make_shared<Snapshot>(std::move(read->at(0)));
    r.ref = name;
    all.push_back(std::move(r));
  }
  CHECK(all.size() > 20);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].ref);
    DiffOptions options;
    if (!diff::choose_metric(std::span(&all[i], 1), {}))
      options.metric = all[i].snapshot->samples.columns.at(0).type.name;
    for (const GroupBy group : {GroupBy::stack, GroupBy::function}) {
      options.by = group;
      const Result<GrowthReport> self = diff::diff(all[i], all[i], options);
      REQUIRE(self);
      CHECK(self->grew == 0);
      CHECK(self->shrank == 0);
    }
    // With its neighbour in the list, whatever that is, where they have a metric in common.
    const SnapshotRef& other = all[(i + 1) % all.size()];
    const Result<GrowthReport> there = diff::diff(all[i], other, {});
    const Result<GrowthReport> back = diff::diff(other, all[i], {});
    CHECK(there.has_value() == back.has_value());
    if (!there || !back) continue;
    CHECK(there->rows.size() == back->rows.size());
    CHECK(there->grew == -back->shrank);
    CHECK(there->shrank == -back->grew);
  }
}
