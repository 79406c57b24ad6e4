#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/role_rules.hpp"
#include "analyzer/cuda/stack_phase.hpp"
#include "analyzer/cuda/trace.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::cuda {
namespace {

/// Blocks that only the first iterations leave are warm-up: of the first third of them at most.
constexpr std::size_t kWarmUpPart = 3;
/// Of so few iterations two prove something.
constexpr std::size_t kFew = 3;

/// A block that is in use at the last mark and was allocated within the trace.
struct Survivor {
  std::uint64_t birth = 0;
  std::uint32_t iteration = 0;
  std::uint64_t key = 0;  ///< of its Python lines
  std::int64_t bytes = 0;
};

/// The first iteration that allocates at all, by Python lines: a cache that is bounded has freed what that one left.
using Beginnings = std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash>;

std::vector<Survivor> survivors_of(const EventLog& events, std::size_t stacks, StackPhases& phases,
                                   const Iterations& found, Beginnings& beginnings) {
  std::unordered_map<StackId, std::uint32_t> first;
  std::unordered_map<std::uint64_t, std::pair<Survivor, StackId>, KeyedHash> open;
  EventLog::Reader reader = events.read();
  TraceEvent event;
  std::uint32_t iteration = 0;
  for (std::uint64_t n = 0; n < found.marks.back() && reader.next(event); ++n) {
    while (n >= found.marks[iteration]) ++iteration;
    if (index_of(event.stack) >= stacks) continue;  // damaged: live_sets() says so
    if (event.action == TraceAction::alloc && event.size != kCublasWorkspace) {
      open[event.address] = {{n, iteration, 0, event.size}, event.stack};
      first.try_emplace(event.stack, iteration);
    }
    if (event.action == TraceAction::free_requested || event.action == TraceAction::free_completed)
      open.erase(event.address);
  }
  for (const auto& [stack, began] : first) {
    const auto [at, is_new] = beginnings.try_emplace(phases.python_key(stack), began);
    if (!is_new) at->second = std::min(at->second, began);
  }
  std::vector<Survivor> out;
  for (auto& [address, block] : open) {
    block.first.key = phases.python_key(block.second);
    out.push_back(block.first);
  }
  std::sort(out.begin(), out.end(),
            [](const Survivor& a, const Survivor& b) { return std::pair(a.key, a.birth) < std::pair(b.key, b.birth); });
  return out;
}

/// Of one group: which iterations left something, and how many blocks.
struct Group {
  std::vector<std::uint32_t> iterations;
  std::vector<std::size_t> blocks;
};

Group group_of(const Survivor* first, const Survivor* end) {
  Group out;
  for (const Survivor* at = first; at != end; ++at) {
    if (out.iterations.empty() || out.iterations.back() != at->iteration) {
      out.iterations.push_back(at->iteration);
      out.blocks.push_back(0);
    }
    ++out.blocks.back();
  }
  return out;
}

/// Whether iterations all along the trace leave something: from the first one that allocates it, at even distances, up
/// to the end. Blocks that the last one leaves say nothing: the loop's variables hold them until the next one.
bool is_left_behind(const Group& group, std::uint32_t began, std::size_t iterations) {
  std::vector<std::uint32_t> before(group.iterations);
  if (before.back() + 1 == iterations) before.pop_back();
  if (before.empty()) return false;
  const std::size_t possible = iterations - began;
  if (possible == 2) return iterations <= kFew && group.blocks.size() == 2 && group.blocks[0] == group.blocks[1];
  if (before.size() < 2) return false;
  std::vector<std::uint32_t> gaps;
  for (std::size_t i = 1; i < before.size(); ++i) gaps.push_back(before[i] - before[i - 1]);
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  const std::size_t gap = gaps[gaps.size() / 2];
  return before.front() - began < gap && before.back() + gap + 1 >= iterations - 1 &&
         2 * before.size() * gap + gap >= possible;
}

/// Blocks of the group that count: of the last iteration no more than the one before it left.
void take_births(const Survivor* first, const Survivor* end, const Group& group, std::size_t iterations,
                 std::vector<std::uint64_t>& births) {
  std::size_t last = 0;
  if (group.iterations.back() + 1 == iterations && group.blocks.size() > 1) {
    const std::size_t most = *std::max_element(group.blocks.begin(), group.blocks.end() - 1);
    last = group.blocks.back() - std::min(group.blocks.back(), most);
  }
  for (const Survivor* at = first; at != end - static_cast<std::ptrdiff_t>(last); ++at) births.push_back(at->birth);
}

}  // namespace

bool LeftOver::has(std::uint64_t event) const { return std::binary_search(births.begin(), births.end(), event); }

Result<LeftOver> left_over(const Snapshot& snapshot, TraceRef ref, const Iterations& found) {
  const Result<const DeviceTrace*> found_trace = trace_of(snapshot, ref);
  if (!found_trace) return found_trace.error();
  const DeviceTrace* const trace = *found_trace;
  LeftOver out;
  if (found.size() < 2) return out;
  StackPhases phases(*snapshot.dictionary);
  Beginnings beginnings;
  const std::vector<Survivor> all =
      survivors_of(trace->events, snapshot.dictionary->stacks.size(), phases, found, beginnings);
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && all[end].key == all[first].key) ++end;
    const Group group = group_of(&all[first], &all[first] + (end - first));
    if (is_left_behind(group, beginnings[all[first].key], found.size())) {
      take_births(&all[first], &all[first] + (end - first), group, found.size(), out.births);
    } else if (group.iterations.back() < std::max<std::size_t>(1, found.size() / kWarmUpPart)) {
      out.warm_up = std::max<std::size_t>(out.warm_up, group.iterations.back() + 1);
      for (std::size_t i = first; i < end; ++i) {
        std::int64_t sum = 0;
        if (checked_add(out.warm_bytes, all[i].bytes, sum)) out.warm_bytes = sum;
      }
    }
    first = end;
  }
  std::sort(out.births.begin(), out.births.end());
  return out;
}

}  // namespace snapdiff::cuda
