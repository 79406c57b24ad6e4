#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/diff/diff.hpp"
#include "formats/registry.hpp"
#include "unit/analyzer/flame/oracle.hpp"

using namespace snapdiff;

namespace {

/// All snapshots of an example that ships with the product.
std::vector<SnapshotRef> example(const std::string& folder, const std::string& ending) {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(SNAPDIFF_TEST_DATA) / "../../examples" / folder)) {
    if (file.path().string().ends_with(ending)) names.push_back(file.path().string());
  }
  std::sort(names.begin(), names.end());
  std::vector<SnapshotRef> out;
  for (const std::string& name : names) {
    Result<std::vector<Snapshot>> read = formats::read_file(name, {});
    REQUIRE(read);
    SnapshotRef ref;
    ref.snapshot = std::make_shared<Snapshot>(std::move(read->at(0)));
    ref.ref = name;
    out.push_back(std::move(ref));
  }
  REQUIRE(out.size() >= 12);
  return out;
}

void check_example(const std::string& folder, const std::string& ending, DiffOptions options = {}) {
  const std::vector<SnapshotRef> refs = example(folder, ending);
  for (const auto& [a, b] :
       {std::pair<std::size_t, std::size_t>(0, refs.size() - 1), {2, 3}, {refs.size() - 1, 0}, {1, 1}}) {
    const Result<GrowthReport> report = diff::diff(refs[a], refs[b], options);
    REQUIRE(report);
    test::check_all_widths(*report);
  }
}

}  // namespace

TEST_CASE("flame tree, real: a Go service's series, sampled") { check_example("go-queue", ".pb.gz"); }

TEST_CASE("flame tree, real: a tcmalloc series, exact") { check_example("tcmalloc-svc", ".heap"); }

TEST_CASE("flame tree, real: filtered and hidden frames still add up") {
  DiffOptions options;
  options.focus = "main";
  options.hide = "alloc|malloc|make";
  check_example("tcmalloc-svc", ".heap", options);
  options = {};
  options.ignore = "queue";
  options.show = "main";
  check_example("go-queue", ".pb.gz", options);
}

TEST_CASE("flame tree, real: of one snapshot it holds what top holds") {
  const std::vector<SnapshotRef> refs = example("go-queue", ".pb.gz");
  const Result<TopReport> top = diff::top(refs.back(), {});
  REQUIRE(top);
  const Result<FlameTree> tree = flame::flame_tree(*top);
  REQUIRE(tree);
  CHECK(tree->boxes.front().value.current == top->total);
  std::vector<std::int64_t> own(tree->boxes.size());
  for (std::size_t i = tree->boxes.size(); i-- > 0;) {
    own[i] += tree->boxes[i].value.current;
    if (i > 0) own[tree->boxes[i].parent] -= tree->boxes[i].value.current;
  }
  std::int64_t sum = 0;
  for (const std::int64_t value : own) sum += value;
  CHECK(sum == top->total);
}
