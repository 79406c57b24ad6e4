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

/// Units of the rows that only one of two consecutive sides has.
class OneSided {
 public:
  enum class Look : std::uint8_t {
    at_both,    ///< at the two sides
    around_too  ///< a stack that the side after them has is not gone, and one that the side before them has is not new
  };

  /// `present`: zeros for each unit, and zeros again when this ends: of many sides each has few.
  OneSided(const Comparison& c, const RowUnion& rows, std::size_t s, Look look, std::vector<std::uint8_t>& present)
      : c_(c), rows_(rows), s_(s), present_(present) {
    mark(s, kBefore);
    mark(s + 1, kAfter);
    if (look == Look::at_both) return;
    if (s > 0) mark(s - 1, kEarlier);
    if (s + 2 < c.sides.size()) mark(s + 2, kLater);
  }
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;
  ~OneSided() {
    for (const std::size_t side : marked_) {
      for (const std::uint32_t u : c_.unit_of_entry[side]) present_[rows_.find(u)] = 0;
    }
  }

  /// Of one of the two sides.
  std::vector<BuildPair::Left> entries(std::size_t side) const {
    std::vector<BuildPair::Left> out;
    for (std::uint32_t entry = 0; entry < c_.sides[side].stack.size(); ++entry) {
      const std::uint32_t row = row_of(side, entry);
      if (is_one_sided(row, side != s_)) out.push_back({row, entry});
    }
    return out;
  }

  std::vector<BuildPair::Left> all(std::size_t side) const {
    std::vector<BuildPair::Left> out;
    for (std::uint32_t entry = 0; entry < c_.sides[side].stack.size(); ++entry)
      out.push_back({row_of(side, entry), entry});
    return out;
  }

  LeftOver left() const {
    LeftOver left;
    for (const BuildPair::Left& one : entries(s_)) left.before.push_back(one.entry);
    for (const BuildPair::Left& one : entries(s_ + 1)) left.after.push_back(one.entry);
    return left;
  }

 private:
  static constexpr unsigned kBefore = 1, kAfter = 2, kEarlier = 4, kLater = 8;

  void mark(std::size_t side, unsigned as) {
    marked_.push_back(side);
    for (const std::uint32_t u : c_.unit_of_entry[side]) present_[rows_.find(u)] |= static_cast<std::uint8_t>(as);
  }
  std::uint32_t row_of(std::size_t side, std::uint32_t entry) const {
    return rows_.find(c_.unit_of_entry[side][entry]);
  }
  bool is_one_sided(std::uint32_t row, bool after) const {
    return after ? (present_[row] & (kBefore | kAfter | kEarlier)) == kAfter
                 : (present_[row] & (kBefore | kAfter | kLater)) == kBefore;
  }

  const Comparison& c_;
  const RowUnion& rows_;
  std::size_t s_;
  std::vector<std::uint8_t>& present_;
  std::vector<std::size_t> marked_;
};

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
      const OneSided one_sided(c, rows, s, OneSided::Look::around_too, present);
      rebuilt[s] = static_cast<std::uint8_t>(
          estimate(c.sides[s], c.sides[s + 1], facts[s], facts[s + 1], one_sided.left()).kind());
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
    if (!pair.lines_tell()) {
      const OneSided all(c, rows, s, OneSided::Look::at_both, present);
      pair.join_again(all.all(sides[0]), all.all(sides[1]), rows);
    }
    const OneSided apart(c, rows, s, OneSided::Look::at_both, present);
    pair.join(apart.entries(sides[0]), apart.entries(sides[1]), rows);
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
