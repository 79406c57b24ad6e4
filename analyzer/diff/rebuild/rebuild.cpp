#include "analyzer/diff/rebuild/rebuild.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/rebuild/build_pair.hpp"
#include "analyzer/diff/rebuild/by_objects.hpp"
#include "analyzer/diff/rebuild/evidence.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// Which entries of two consecutive sides are looked at.
enum class Which : std::uint8_t {
  all,
  one_sided,          ///< of rows that only one of the two has
  one_sided_for_good  ///< a stack that the side after them has is not gone, and one that the side before has is not new
};
using Entries = std::array<std::vector<BuildPair::Left>, 2>;

/// Entries of sides `s` and `s` + 1. `present`: zeros for each unit, and zeros again afterwards: of many sides each has
/// few.
Entries entries_of(const Comparison& c, const RowUnion& rows, std::size_t s, Which which,
                   std::vector<std::uint8_t>& present) {
  constexpr std::array<unsigned, 2> kOthers{0b1100, 0b0011};  // bits of the sides s - 1 to s + 2
  const std::size_t around = which == Which::one_sided_for_good ? 1 : 0;
  const auto each_side = [&](auto body) {
    for (std::size_t side = s - std::min(s, around); side < std::min(s + 2 + around, c.sides.size()); ++side) {
      for (const std::uint32_t unit : c.unit_of_entry[side]) body(present[rows.find(unit)], 1U << (side + 1 - s));
    }
  };
  each_side([](std::uint8_t& of_row, unsigned bit) { of_row |= static_cast<std::uint8_t>(bit); });
  Entries out;
  for (std::size_t at = 0; at < 2; ++at) {
    const std::vector<std::uint32_t>& units = c.unit_of_entry[s + at];
    for (std::uint32_t entry = 0; entry < units.size(); ++entry) {
      const std::uint32_t row = rows.find(units[entry]);
      if (which == Which::all || (present[row] & kOthers.at(at)) == 0) out.at(at).push_back({row, entry});
    }
  }
  each_side([](std::uint8_t& of_row, unsigned) { of_row = 0; });
  return out;
}

/// Changes the identity of stacks that hold one of the frames. `of_frame`: zeros, and zeros again afterwards: of many
/// sides that share a dictionary each uses little of it.
void salt(Side& side, const UsedFrames& used, const std::unordered_map<Hash128, std::uint64_t>& frames,
          std::vector<std::uint64_t>& of_frame) {
  const Dictionary& d = *side.ref.snapshot->dictionary;
  if (of_frame.size() < d.frames.size()) of_frame.resize(d.frames.size(), 0);
  for (std::size_t k = 0; k < used.size(); ++k) {
    const std::size_t i = used[k];
    const auto found = frames.find(d.frames.hash[i]);
    if (found != frames.end()) of_frame[i] = mix64(found->second * 0x9e3779b97f4a7c15ULL + d.frames.hash[i].low);
  }
  std::vector<Hash128> salted(side.stack.size());
  for (std::size_t entry = 0; entry < salted.size(); ++entry) {
    salted[entry] = side.identity(entry);
    std::uint64_t sum = 0;
    for (const FrameId frame : side.frames(entry).frames()) sum += of_frame[index_of(frame)];
    if (sum == 0) continue;
    salted[entry].high ^= mix64(sum + 2);
    salted[entry].low ^= mix64(sum + 3);
  }
  side.salted = std::move(salted);
  for (std::size_t k = 0; k < used.size(); ++k) of_frame[used[k]] = 0;
}

/// Two consecutive sides: the earlier one `s`, the one that comes first in their BuildPair, and the other one: an
/// order by what they hold. Which of them is the newer one has no part in what is matched, so that diff(b, a) mirrors
/// diff(a, b).
std::array<std::size_t, 2> in_order(const Comparison& c, std::size_t s) {
  if (comes_first(c.sides[s], c.sides[s + 1])) return {s, s + 1};
  return {s + 1, s};
}

/// For each side but the last: the Evidence that the next one is of another build.
std::vector<std::uint8_t> find_rebuilt(const Comparison& c, const RowUnion& rows, std::span<const BuildFacts> facts) {
  const std::size_t pairs = c.sides.size() - 1;
  std::vector<std::uint8_t> rebuilt(pairs, 0);
  constexpr std::size_t kShares = 4;  // each marks what is present in a memory of its own
  std::size_t entries = 0;
  for (const Side& side : c.sides) entries += side.stack.size();
  for_each_parallel(kShares, entries, [&](std::size_t share) {
    std::vector<std::uint8_t> present(c.unit_count(), 0);
    for (std::size_t s = pairs * share / kShares; s < pairs * (share + 1) / kShares; ++s) {
      LeftOver left;
      const Entries apart = entries_of(c, rows, s, Which::one_sided_for_good, present);
      for (const BuildPair::Left& one : apart[0]) left.before.push_back(one.entry);
      for (const BuildPair::Left& one : apart[1]) left.after.push_back(one.entry);
      rebuilt[s] = static_cast<std::uint8_t>(estimate(c.sides[s], c.sides[s + 1], facts[s], facts[s + 1], left).kind());
    }
  });
  return rebuilt;
}

}  // namespace

Rebuilds::Rebuilds() = default;
Rebuilds::~Rebuilds() = default;

bool Rebuilds::find(Comparison& c, std::span<const BuildFacts> facts, std::span<const UsedFrames> used) {
  pairs_.resize(c.sides.size());
  c.other_build.assign(c.sides.size(), 0);
  const RowUnion rows(c);
  const std::vector<std::uint8_t> rebuilt = find_rebuilt(c, rows, facts);
  std::unordered_map<Hash128, std::uint64_t> moved;
  bool any = false;
  std::vector<std::uint64_t> salts;
  for (std::size_t s = 0; s + 1 < c.sides.size(); ++s) {
    if (rebuilt[s] != 0) {
      pairs_[s].sides = in_order(c, s);
      pairs_[s].pair = std::make_unique<BuildPair>(c.sides[pairs_[s].sides[0]], c.sides[pairs_[s].sides[1]]);
      for (const Hash128& frame : pairs_[s].pair->coincidences()) moved[frame] = s + 1;
      c.other_build[s + 1] = rebuilt[s];
    }
    if (moved.empty()) continue;
    any = true;
    salt(c.sides[s + 1], used[s + 1], moved, salts);
  }
  return any;
}

void Rebuilds::match(Comparison& c) {
  RowUnion rows(c);
  std::vector<std::uint8_t> present(c.unit_count(), 0);
  for (std::size_t s = 0; s + 1 < c.sides.size(); ++s) {
    if (!pairs_[s].pair) continue;
    const std::array<std::size_t, 2>& sides = pairs_[s].sides;
    BuildPair& pair = *pairs_[s].pair;
    const std::size_t first = sides[0] - s, second = sides[1] - s;
    if (!pair.lines_tell()) {
      const Entries all = entries_of(c, rows, s, Which::all, present);
      pair.join_again(all.at(first), all.at(second), rows);
    }
    const Entries apart = entries_of(c, rows, s, Which::one_sided, present);
    pair.join(apart.at(first), apart.at(second), rows);
    merge_by_objects(c, sides, pair, rows);
    c.possible_pairs += pair.possible();
    for (BuildPair::Renamed& one : pair.renamed()) {
      if (sides[0] > sides[1]) std::swap(one.first, one.second);
      c.renamed.push_back({std::move(one.first), std::move(one.second), one.stacks});
    }
    pairs_[s].pair.reset();
  }
  rows.flatten();
  if (c.possible_pairs > 0) {
    c.notes.add(Severity::info, "stacks of two builds that may be the same, and are not taken for it", std::nullopt,
                c.possible_pairs);
  }
}

}  // namespace snapdiff::diff::rebuild
