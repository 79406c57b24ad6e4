#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyzer/flame/flame_tree.hpp"
#include "unit/analyzer/flame/oracle.hpp"
#include "unit/analyzer/graph/fake_report.hpp"

using namespace snapdiff;
using test::FakeReport;

namespace {

/// Few names, so that stacks share beginnings, repeat frames and end inside each other.
std::string random_stack(std::mt19937& random, std::size_t names) {
  const std::size_t depth = random() % 9;
  std::string out;
  for (std::size_t i = 0; i < depth; ++i) {
    if (i > 0) out += ';';
    const std::size_t name = random() % names;
    out += name == 0 ? std::string("+lib.so:0x") + std::to_string(random() % 3 + 1) : "f" + std::to_string(name);
  }
  return out;
}

FakeReport random_report(std::uint32_t seed) {
  std::mt19937 random(seed);
  FakeReport report;
  const std::size_t rows = random() % 60;
  const bool small = random() % 2 == 0;
  const auto value = [&] { return static_cast<std::int64_t>(random() % (small ? 4 : 1'000'000)); };
  for (std::size_t i = 0; i < rows; ++i) {
    report.row(random_stack(random, 2 + random() % 6), value(), random() % 4 == 0 ? 0 : value());
    GrowthRow& row = report.get().rows.back();
    // A row of folded recursion may hold growth and shrinkage.
    if (random() % 5 == 0 && row.value.baseline > 0) {
      row.grew += 1;
      row.shrank -= 1;
      report.get().grew += 1;
      report.get().shrank -= 1;
    }
    row.error = random() % 7 == 0 ? kUnknownError : static_cast<double>(random() % 100);
  }
  report.get().exact = random() % 2 == 0;
  if (random() % 3 == 0) report.unattributed(value(), value());
  if (random() % 3 == 0) report.filtered(value(), value());
  return report;
}

/// Stack number -> frames, all names from one table, as a snapshot has them.
class WideStacks : public StackView {
 public:
  WideStacks(std::size_t depth, std::size_t fan) : depth_(depth) {
    for (std::size_t i = 0; i < depth * fan; ++i) names_.push_back("function_" + std::to_string(i));
    fan_ = fan;
  }
  void frames(StackRef stack, std::vector<FrameView>& out) const override {
    out.clear();
    auto bits = static_cast<std::uint64_t>(stack.stack) * 0x9e3779b97f4a7c15ULL;
    for (std::size_t i = depth_; i-- > 0;) {
      FrameView frame;
      frame.function = names_[i * fan_ + (bits >> (i * 64 / depth_)) % fan_];
      out.push_back(frame);
    }
  }

 private:
  std::size_t depth_, fan_ = 1;
  std::vector<std::string> names_;
};

}  // namespace

TEST_CASE("flame tree: every box of random reports is what a sum over all stacks says") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    FakeReport report = random_report(seed);
    test::check_all_widths(report.get());
  }
}

TEST_CASE("flame tree: a mirrored comparison has mirrored boxes of the same width") {
  FakeReport there, back;
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    const std::string stack = "main;" + std::string(1, static_cast<char>('a' + i % 7)) + ";s" + std::to_string(i);
    const auto a = static_cast<std::int64_t>(random() % 100);
    const auto b = static_cast<std::int64_t>(random() % 100);
    there.row(stack, a, b);
    back.row(stack, b, a);
  }
  const auto x = flame::flame_tree(there.get(), FlameWidth::change);
  const auto y = flame::flame_tree(back.get(), FlameWidth::change);
  REQUIRE(x);
  REQUIRE(y);
  REQUIRE(x->boxes.size() == y->boxes.size());
  for (std::size_t i = 0; i < x->boxes.size(); ++i) {
    CHECK(x->boxes[i].weight == y->boxes[i].weight);
    CHECK(x->boxes[i].grew == -y->boxes[i].shrank);
    CHECK(x->boxes[i].value.baseline == y->boxes[i].value.current);
  }
}

TEST_CASE("flame tree: a hundred thousand stacks of thirty frames, at once") {
  constexpr std::uint32_t kStacks = 100'000;
  const auto view = std::make_shared<WideStacks>(30, 16);
  GrowthReport report;
  report.view = view;
  report.unit = "bytes";
  for (std::uint32_t i = 0; i < kStacks; ++i) {
    GrowthRow row;
    row.key = i;
    row.value = {0, static_cast<std::int64_t>(i) + 1};
    row.grew = row.value.current;
    report.rows.push_back(row);
    report.stacks.push_back({static_cast<StackId>(i + 1), 1});
    report.total.current += row.grew;
    report.grew += row.grew;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto tree = flame::flame_tree(report, FlameWidth::change);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  REQUIRE(tree);
  CHECK(tree->boxes.front().weight == static_cast<std::uint64_t>(report.grew));
  CHECK(tree->boxes.size() > kStacks);
  CHECK(tree->depth == 30);
  WARN(tree->boxes.size() << " boxes of " << kStacks << " stacks in " << took.count() << " s");
  CHECK(took.count() < 30);  // about one second alone on one core
}
