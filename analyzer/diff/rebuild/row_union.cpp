#include "analyzer/diff/rebuild/row_union.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace snapdiff::diff::rebuild {

std::uint32_t RowUnion::find(std::uint32_t unit) const {
  if (c_.row_of_unit.empty()) return unit;
  while (c_.row_of_unit[unit] != unit) unit = c_.row_of_unit[unit] = c_.row_of_unit[c_.row_of_unit[unit]];
  return unit;
}

bool RowUnion::join(std::uint32_t a, std::uint32_t b, MatchTier tier) {
  if (c_.row_of_unit.empty()) {
    c_.row_of_unit.resize(c_.unit_count());
    for (std::size_t u = 0; u < c_.unit_count(); ++u) c_.row_of_unit[u] = static_cast<std::uint32_t>(u);
    c_.coarse_tier.assign(c_.unit_count(), MatchTier::none);
  }
  a = find(a);
  b = find(b);
  if (a == b) return false;
  const std::uint32_t row = std::min(a, b);
  for (const std::uint32_t other : {a, b}) {
    if (c_.coarse_tier[other] == MatchTier::none) continue;
    tier = std::max(tier, c_.coarse_tier[other]);
  }
  c_.row_of_unit[std::max(a, b)] = row;
  c_.coarse_tier[row] = tier;
  return true;
}

void RowUnion::flatten() {
  const std::size_t units = c_.row_of_unit.size();
  for (std::size_t u = 0; u < units; ++u) c_.row_of_unit[u] = find(static_cast<std::uint32_t>(u));
  std::vector<std::uint32_t> best(c_.row_of_unit);
  for (std::size_t u = 0; u < units; ++u) {
    std::uint32_t& of_row = best[c_.row_of_unit[u]];
    if (of_row != u && shows_better(u, of_row)) of_row = static_cast<std::uint32_t>(u);
  }
  std::vector<MatchTier> tier(units, MatchTier::none);
  for (std::size_t u = 0; u < units; ++u) {
    const std::uint32_t row = c_.row_of_unit[u];
    c_.row_of_unit[u] = best[row];
    if (row == u) tier[best[row]] = c_.coarse_tier[row];
  }
  c_.coarse_tier = std::move(tier);
}

bool RowUnion::shows_better(std::size_t a, std::size_t b) const {
  if (c_.side[a] != c_.side[b]) return c_.side[a] > c_.side[b];
  const auto size = [&](std::size_t u) {
    const Change& value = c_.values[u].value;
    return std::abs(static_cast<double>(c_.side[u] == 0 ? value.baseline : value.current));
  };
  if (size(a) != size(b)) return size(a) > size(b);
  const auto hash = [&](std::size_t u) {
    SequenceHasher hasher;
    for (const FrameId frame : c_.frames[u].frames())
      hasher.add(c_.dictionary_of(c_.frames[u]).frames.hash[index_of(frame)]);
    return hasher.finish();
  };
  return hash(a) < hash(b);
}

}  // namespace snapdiff::diff::rebuild
