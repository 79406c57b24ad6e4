#include <algorithm>
#include <utility>

#include "analyzer/diff/make_report.hpp"

namespace snapdiff::diff {
namespace {

/// What stands for a row on the baseline's side, and how many stacks each side has in it.
struct Found {
  std::uint32_t before = 0, after = 0;
  std::int64_t most = -1;
  StackId stack{};
};

std::vector<Found> find_largest(const Comparison& c) {
  std::vector<std::uint8_t> in(c.unit_count(), 0);
  for (const std::uint32_t u : c.unit_of_entry.front()) in[u] |= 1U;
  for (const std::uint32_t u : c.unit_of_entry.back()) in[u] |= 2U;
  std::vector<Found> found(c.unit_count());
  for (std::size_t entry = 0; entry < c.unit_of_entry.front().size(); ++entry) {
    const std::uint32_t u = c.unit_of_entry.front()[entry];
    if (entry >= c.sides.front().stack.size()) break;
    Found& of_row = found[c.row_of_unit[u]];
    const std::int64_t value = c.values[u].value.baseline;
    if (value > of_row.most) {
      of_row.most = value;
      of_row.stack = c.sides.front().stack[entry];
    }
  }
  for (std::size_t u = 0; u < c.unit_count(); ++u) {
    Found& of_row = found[c.row_of_unit[u]];
    of_row.before += in[u] & 1U;
    of_row.after += (in[u] >> 1U) & 1U;
  }
  return found;
}

/// Equal functions from the leaf, and from there on from the root.
std::size_t alike_at_ends(const std::vector<FrameView>& a, const std::vector<FrameView>& b) {
  const auto equal = [](const FrameView& x, const FrameView& y) { return x.function == y.function; };
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t leaf = 0, root = 0;
  while (leaf < most && equal(a[leaf], b[leaf])) ++leaf;
  while (leaf + root < most && equal(a[a.size() - 1 - root], b[b.size() - 1 - root])) ++root;
  return leaf + root;
}

/// Where several stacks are one row, the one that is most like the row's own.
void prefer_alike(const Comparison& c, ComparisonView& view, std::vector<Found>& found) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> members;  // row, entry
  for (std::uint32_t entry = 0; entry < std::min(c.unit_of_entry.front().size(), c.sides.front().stack.size());
       ++entry) {
    const std::uint32_t row = c.row_of_unit[c.unit_of_entry.front()[entry]];
    if (found[row].before > 1 && found[row].after > 0) members.emplace_back(row, entry);
  }
  std::sort(members.begin(), members.end());
  std::vector<FrameView> own, other;
  std::size_t best = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto [row, entry] = members[i];
    if (i == 0 || members[i - 1].first != row) {
      view.frames(view.refer(c.stack[row], c.side[row]), own);
      view.frames(view.refer(found[row].stack, 0), other);
      best = alike_at_ends(own, other);
    }
    const StackId stack = c.sides.front().stack[entry];
    const std::int64_t value = c.values[c.unit_of_entry.front()[entry]].value.baseline;
    view.frames(view.refer(stack, 0), other);
    const std::size_t alike = alike_at_ends(own, other);
    if (alike < best || (alike == best && value <= found[row].most)) continue;
    best = alike;
    found[row].most = value;
    found[row].stack = stack;
  }
}

}  // namespace

std::vector<Counterpart> counterparts_of(const Comparison& c, const Grouped& g, ComparisonView& view) {
  std::vector<Counterpart> out;
  if (c.row_of_unit.empty()) return out;
  std::vector<Found> found = find_largest(c);
  prefer_alike(c, view, found);
  for (std::uint32_t key = 0; key < g.unit.size(); ++key) {
    const Found& of_row = found[g.unit[key]];
    if (of_row.before == 0 || of_row.after == 0 || c.coarse_tier[g.unit[key]] == MatchTier::none) continue;
    out.push_back({key, view.refer(of_row.stack, 0), of_row.before, of_row.after});
  }
  return out;
}

}  // namespace snapdiff::diff
