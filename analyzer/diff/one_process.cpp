#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/comparison.hpp"

namespace snapdiff::diff {
namespace {

/// Without pids: in fewer stacks the allocations of a longer-lived other process may all be more by chance.
constexpr std::size_t kFewStacksForProof = 5;

/// What the facts say; the columns are looked at apart.
bool may_be_one_process(const Side& first, const Side& last) {
  const Snapshot& a = *first.ref.snapshot;
  const Snapshot& b = *last.ref.snapshot;
  const bool sampled = first.blur.kind == Blur::Kind::known && last.blur.kind == Blur::Kind::known &&
                       first.blur.period == last.blur.period;
  if (!sampled || first.rounded || last.rounded || !first.salted.empty() || !last.salted.empty()) return false;
  const auto strange = [](const SnapshotFacts& facts) { return facts.is_delta || facts.is_diff || facts.partial; };
  if (strange(a.facts) || strange(b.facts) || a.facts.producer.empty() || a.facts.producer != b.facts.producer)
    return false;
  if (a.facts.taken_at_ns && b.facts.taken_at_ns && *b.facts.taken_at_ns < *a.facts.taken_at_ns) return false;
  return other_process(a, b).empty();
}

/// What was allocated in one stack, and what of it lives.
struct Allocated {
  double first = 0, last = 0;  // allocated until then
  double live_first = 0, live_last = 0;
  double variance = 0;  // of both sides

  void add(const Allocated& other) {
    first += other.first;
    last += other.last;
    live_first += other.live_first;
    live_last += other.live_last;
    variance += other.variance;
  }
};

/// By unit; and by identity what no unit's entry holds: stacks of which nothing lives on that side.
struct Allocations {
  LargeColumn<Allocated> of_unit;
  std::unordered_map<Hash128, Allocated> loose;
};

void add_side(const Comparison& c, std::size_t s, const Column& allocations, Allocations& out) {
  const Side& side = c.sides[s];
  const bool is_last = s > 0;
  const SampleTable& samples = side.ref.snapshot->samples;
  const std::vector<std::int64_t>& live = side.columns.value->value;
  const bool rows_are_entries = side.stack.size() == samples.size() && side.variance.size() == samples.size();
  /// Rows that another block may add to as well.
  struct Later {
    std::vector<std::pair<std::size_t, Allocated>> of_unit;
    std::vector<std::pair<StackId, Allocated>> loose;
  };
  std::vector<Later> later(blocks_of(samples.size()));
  const auto end_of_stack = [&](std::size_t row) {  // rows of one stack belong to the block in which they begin
    while (row > 0 && row < samples.size() && samples.stack[row] == samples.stack[row - 1]) ++row;
    return row;
  };
  for_each_block(samples.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    std::size_t row = end_of_stack(begin);
    end = end_of_stack(end);
    if (row >= end) return;
    const auto stacks = std::span(side.stack.begin(), side.stack.end());
    auto entry = static_cast<std::size_t>(std::ranges::lower_bound(stacks, samples.stack[row]) - stacks.begin());
    auto again = std::ranges::lower_bound(c.repeated[s], entry);
    for (; row < end; ++row) {
      const StackId stack = samples.stack[row];
      while (entry < stacks.size() && stacks[entry] < stack) ++entry;
      const auto allocated = static_cast<double>(allocations.value[row]);
      const auto value = static_cast<double>(live[row]);
      if (allocated == 0 && value == 0) continue;
      Allocated of_row;
      (is_last ? of_row.last : of_row.first) = allocated;
      (is_last ? of_row.live_last : of_row.live_first) = value;
      of_row.variance = rows_are_entries ? side.variance[row] : row_variance(side, row);
      if (entry == stacks.size() || stacks[entry] != stack) {
        later[block].loose.emplace_back(stack, of_row);
        continue;
      }
      while (again != c.repeated[s].end() && *again < entry) ++again;
      const std::size_t unit = c.unit_of_entry[s][entry];
      if (again != c.repeated[s].end() && *again == entry) {
        later[block].of_unit.emplace_back(unit, of_row);
      } else {
        out.of_unit[unit].add(of_row);
      }
    }
  });
  for (const Later& block : later) {
    for (const auto& [unit, of_row] : block.of_unit) out.of_unit[unit].add(of_row);
    for (const auto& [stack, of_row] : block.loose) {
      const Fate fate = side.seen->fate[index_of(stack)];  // stacks that are not visible have no identity
      const Hash128 together{0, static_cast<std::uint64_t>(fate)};
      out.loose[fate == Fate::visible ? side.seen->identity(stack) : together].add(of_row);
    }
  }
}

/// Gives units what one of their sides holds loose.
void join_loose(const Comparison& c, Allocations& all) {
  for (const std::size_t s : {std::size_t{0}, c.sides.size() - 1}) {
    for (std::size_t entry = 0; !all.loose.empty() && entry < c.sides[s].stack.size(); ++entry) {
      const auto found = all.loose.find(c.sides[s].identity(entry));
      if (found == all.loose.end()) continue;
      all.of_unit[c.unit_of_entry[s][entry]].add(found->second);
      all.loose.erase(found);
    }
  }
}

double variance_since(const Allocated& stack) {
  const double live = stack.live_first + stack.live_last;
  if (!(live > 0) || stack.live_first < 0 || stack.live_last < 0) return stack.variance;
  const double allocated = stack.last - stack.first;
  const double freed = allocated - (stack.live_last - stack.live_first);
  const double came = std::clamp(allocated, 0.0, stack.live_last);
  const double went = std::clamp(freed, 0.0, stack.live_first);
  return stack.variance * (came + went) / live;
}

}  // namespace

const Column* allocations_beside(const Snapshot& snapshot, const std::string& metric) {
  constexpr std::string_view kLive = "inuse_";
  if (!metric.starts_with(kLive)) return nullptr;
  return snapshot.column("alloc_" + metric.substr(kLive.size()));
}

std::optional<SinceBaseline> find_since_baseline(const Comparison& c) {
  const Side& first = c.sides.front();
  const Side& last = c.sides.back();
  const Column* const at_first = allocations_beside(*first.ref.snapshot, c.metric);
  const Column* const at_last = allocations_beside(*last.ref.snapshot, c.metric);
  if (at_first == nullptr || at_last == nullptr || !may_be_one_process(first, last)) return std::nullopt;

  Allocations all;
  resize_on_all_cores(all.of_unit, c.unit_count());
  add_side(c, 0, *at_first, all);
  add_side(c, c.sides.size() - 1, *at_last, all);
  join_loose(c, all);
  std::size_t evidence = 0;
  bool again = false;
  const auto look_at = [&](const Allocated& stack) {
    again = again || stack.last < stack.first;
    evidence += stack.first > 0 ? 1U : 0U;
  };
  for (const Allocated& unit : all.of_unit) look_at(unit);
  for (const auto& [identity, stack] : all.loose) look_at(stack);
  const bool named = first.ref.snapshot->facts.pid && last.ref.snapshot->facts.pid;
  if (again || (!named && evidence < kFewStacksForProof)) return std::nullopt;

  SinceBaseline since;
  resize_on_all_cores(since.variance, c.unit_count());
  for_each_block(c.unit_count(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t unit = begin; unit < end; ++unit) since.variance[unit] = variance_since(all.of_unit[unit]);
  });
  for (const double variance : since.variance) since.total += variance;
  for (const auto& [identity, stack] : all.loose) since.total += variance_since(stack);
  return since;
}

}  // namespace snapdiff::diff
