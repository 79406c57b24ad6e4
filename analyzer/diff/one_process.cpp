#include "analyzer/diff/one_process.hpp"

#include <algorithm>
#include <string>

namespace snapdiff::diff {
namespace {

/// Without pids: in fewer stacks the allocations of a longer-lived other process may all be more by chance.
constexpr std::size_t kFewStacks = 5;

/// inuse_space -> alloc_space; null where the snapshot has no such column.
const Column* allocations_beside(const Snapshot& snapshot, const std::string& metric) {
  constexpr std::string_view kLive = "inuse_";
  if (!metric.starts_with(kLive)) return nullptr;
  return snapshot.column("alloc_" + metric.substr(kLive.size()));
}

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

/// Values by identity of the stack, each once, ordered.
struct Allocated {
  Hash128 identity;
  double first = 0, last = 0;  // allocated until then
  double live_first = 0, live_last = 0;
  double variance = 0;  // of both sides
};

void add_side(const Side& side, const Column& allocations, bool is_last, std::vector<Allocated>& out) {
  const SampleTable& samples = side.ref.snapshot->samples;
  const std::vector<std::int64_t>& live = side.columns.value->value;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const auto allocated = static_cast<double>(allocations.value[row]);
    const auto value = static_cast<double>(live[row]);
    if (allocated == 0 && value == 0) continue;
    Allocated entry;
    const std::size_t stack = index_of(samples.stack[row]);
    const Fate fate = side.seen->fate[stack];  // stacks that are not visible have no identity: they are taken together
    entry.identity = fate == Fate::visible ? side.seen->identity[stack] : Hash128{0, static_cast<std::uint64_t>(fate)};
    (is_last ? entry.last : entry.first) = allocated;
    (is_last ? entry.live_last : entry.live_first) = value;
    entry.variance = row_variance(side, row);
    out.push_back(entry);
  }
}

/// Sorted by identity, one for each.
void sum_up(std::vector<Allocated>& all) {
  std::sort(all.begin(), all.end(), [](const Allocated& a, const Allocated& b) { return a.identity < b.identity; });
  std::size_t out = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (out > 0 && all[out - 1].identity == all[i].identity) {
      Allocated& sum = all[out - 1];
      sum.first += all[i].first;
      sum.last += all[i].last;
      sum.live_first += all[i].live_first;
      sum.live_last += all[i].live_last;
      sum.variance += all[i].variance;
    } else {
      all[out++] = all[i];
    }
  }
  all.resize(out);
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

std::optional<SinceBaseline> find_since_baseline(const Comparison& c) {
  const Side& first = c.sides.front();
  const Side& last = c.sides.back();
  const Column* const at_first = allocations_beside(*first.ref.snapshot, c.metric);
  const Column* const at_last = allocations_beside(*last.ref.snapshot, c.metric);
  if (at_first == nullptr || at_last == nullptr || !may_be_one_process(first, last)) return std::nullopt;

  std::vector<Allocated> all;
  add_side(first, *at_first, false, all);
  add_side(last, *at_last, true, all);
  sum_up(all);
  std::size_t evidence = 0;
  for (const Allocated& stack : all) {
    if (stack.last < stack.first) return std::nullopt;  // it began again
    evidence += stack.first > 0 ? 1U : 0U;
  }
  const bool named = first.ref.snapshot->facts.pid && last.ref.snapshot->facts.pid;
  if (!named && evidence < kFewStacks) return std::nullopt;

  SinceBaseline since;
  since.variance.assign(c.unit_count(), 0);
  for (const Allocated& stack : all) since.total += variance_since(stack);
  std::vector<bool> seen(c.unit_count(), false);
  for (const std::size_t s : {std::size_t{0}, c.sides.size() - 1}) {
    for (std::size_t entry = 0; entry < c.sides[s].stack.size(); ++entry) {
      const std::uint32_t unit = c.unit_of_entry[s][entry];
      if (seen[unit]) continue;
      seen[unit] = true;
      const Hash128& identity = c.sides[s].identity(entry);
      const auto at =
          std::lower_bound(all.begin(), all.end(), identity,
                           [](const Allocated& stack, const Hash128& wanted) { return stack.identity < wanted; });
      since.variance[unit] = variance_since(*at);
    }
  }
  return since;
}

}  // namespace snapdiff::diff
