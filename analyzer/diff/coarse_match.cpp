#include "analyzer/diff/coarse_match.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyzer/diff/fuzzy_match.hpp"
#include "analyzer/diff/rebuild_evidence.hpp"

namespace snapdiff::diff {
namespace {

/// Stacks below this share of the larger total are not worth a guess.
constexpr std::int64_t kFuzzyFloorDivisor = 10'000;

/// Rows that stand for several units, while matching goes on.
class RowUnion {
 public:
  explicit RowUnion(Comparison& c) : c_(c) {}

  std::uint32_t find(std::uint32_t unit) {
    if (c_.row_of_unit.empty()) return unit;
    while (c_.row_of_unit[unit] != unit) unit = c_.row_of_unit[unit] = c_.row_of_unit[c_.row_of_unit[unit]];
    return unit;
  }

  void join(std::uint32_t a, std::uint32_t b, MatchTier tier) {
    if (c_.row_of_unit.empty()) {
      c_.row_of_unit.resize(c_.unit_count());
      for (std::size_t u = 0; u < c_.unit_count(); ++u) c_.row_of_unit[u] = static_cast<std::uint32_t>(u);
      c_.coarse_tier.assign(c_.unit_count(), MatchTier::none);
    }
    a = find(a);
    b = find(b);
    const std::uint32_t row = std::min(a, b);
    for (const std::uint32_t other : {a, b}) {
      if (c_.coarse_tier[other] == MatchTier::none) continue;
      tier = std::max(tier, c_.coarse_tier[other]);
    }
    c_.row_of_unit[std::max(a, b)] = row;
    c_.coarse_tier[row] = tier;
  }

  /// Lets each row be stood for by its newest unit, of these the largest, whatever came first.
  void flatten() {
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

 private:
  bool shows_better(std::size_t a, std::size_t b) const {
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

  Comparison& c_;
};

struct Keyed {
  Hash128 key;
  std::uint32_t index;
  bool after;
  bool touched;  ///< a frame was seen more coarsely
};

/// Two consecutive sides.
class Pair {
 public:
  Pair(Comparison& c, RowUnion& rows, std::size_t s) : c_(c), rows_(rows), s_(s) {}

  /// Fills the leftovers; false when a side has none.
  bool find_leftovers() {
    std::vector<std::uint8_t> present(c_.unit_count(), 0);
    for (const std::uint32_t u : c_.unit_of_entry[s_]) present[rows_.find(u)] |= 1U;
    for (const std::uint32_t u : c_.unit_of_entry[s_ + 1]) present[rows_.find(u)] |= 2U;
    collect(s_, 1, present, before_);
    collect(s_ + 1, 2, present, after_);
    return !before_.empty() && !after_.empty();
  }

  void match(const RebuildEvidence& evidence) {
    for (Leftover& stack : before_) stack.exact = sequence(stack.frames, evidence.before.exact);
    for (Leftover& stack : after_) stack.exact = sequence(stack.frames, evidence.after.exact);
    if (evidence.rebuilt || evidence.inlines_differ) match_without_inlines(evidence);
    if (!evidence.rebuilt) return;
    if (evidence.any_moved) {
      match_by(evidence.before, evidence.after, &FrameIdentities::file, FrameIdentities::kMoved,
               MatchTier::function_file);
    }
    if (evidence.any_renamed) {
      match_by(evidence.before, evidence.after, &FrameIdentities::normalised,
               FrameIdentities::kMoved | FrameIdentities::kRenamed, MatchTier::normalised);
    }
    if (before_.empty() || after_.empty()) return;
    const std::int64_t larger = std::max(c_.sides[s_].total, c_.sides[s_ + 1].total);
    const FuzzyPairs pairs = match_fuzzily(before_, evidence.before, after_, evidence.after,
                                           std::max<std::int64_t>(1, larger / kFuzzyFloorDivisor));
    for (const auto& [i, j] : pairs.same) rows_.join(before_[i].row, after_[j].row, MatchTier::fuzzy);
    c_.possible_pairs += pairs.possible;
  }

 private:
  void collect(std::size_t side, std::uint8_t only, const std::vector<std::uint8_t>& present,
               std::vector<Leftover>& out) {
    const Side& s = c_.sides[side];
    for (std::size_t entry = 0; entry < s.stack.size(); ++entry) {
      const std::uint32_t row = rows_.find(c_.unit_of_entry[side][entry]);
      if (present[row] == only) out.push_back({row, s.frames(entry), s.value[entry], {}});
    }
  }

  static Hash128 sequence(const VisibleFrames& frames, const std::vector<Hash128>& of_frame) {
    SequenceHasher hasher;
    for (const FrameId frame : frames.frames()) hasher.add(of_frame[index_of(frame)]);
    return hasher.finish();
  }

  void match_without_inlines(const RebuildEvidence& evidence) {
    std::vector<Keyed> keyed;
    const auto add = [&](const std::vector<Leftover>& stacks, const FrameIdentities& in, bool after) {
      for (std::size_t i = 0; i < stacks.size(); ++i) {
        SequenceHasher hasher;
        std::size_t kept = 0;
        for (const FrameId frame : stacks[i].frames.frames()) {
          if ((in.flags[index_of(frame)] & FrameIdentities::kInlined) != 0) continue;
          hasher.add(in.exact[index_of(frame)]);
          ++kept;
        }
        if (kept == 0) continue;
        keyed.push_back({hasher.finish(), static_cast<std::uint32_t>(i), after, kept < stacks[i].frames.size});
      }
    };
    add(before_, evidence.before, false);
    add(after_, evidence.after, true);
    join_equal(keyed, MatchTier::inline_free);
  }

  void match_by(const FrameIdentities& in_before, const FrameIdentities& in_after,
                std::vector<Hash128> FrameIdentities::*identity, std::uint8_t flags, MatchTier tier) {
    std::vector<Keyed> keyed;
    const auto add = [&](const std::vector<Leftover>& stacks, const FrameIdentities& in, bool after) {
      for (std::size_t i = 0; i < stacks.size(); ++i) {
        bool touched = false;
        for (const FrameId frame : stacks[i].frames.frames()) {
          touched = touched || (in.flags[index_of(frame)] & flags) != 0;
        }
        if (touched)
          keyed.push_back({sequence(stacks[i].frames, in.*identity), static_cast<std::uint32_t>(i), after, true});
      }
    };
    add(before_, in_before, false);
    add(after_, in_after, true);
    join_equal(keyed, tier);
  }

  /// Joins the stacks of equal key where both sides have some and one of them was seen more
  /// coarsely; what is joined is no leftover any more.
  void join_equal(std::vector<Keyed>& keyed, MatchTier tier) {
    std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
      if (a.key != b.key) return a.key < b.key;
      return a.after != b.after ? b.after : a.index < b.index;
    });
    std::vector<std::uint8_t> used_before(before_.size(), 0), used_after(after_.size(), 0);
    for (std::size_t begin = 0; begin < keyed.size();) {
      std::size_t end = begin;
      bool touched = false;
      for (; end < keyed.size() && keyed[end].key == keyed[begin].key; ++end) touched = touched || keyed[end].touched;
      if (touched && !keyed[begin].after && keyed[end - 1].after) {
        const std::uint32_t first = before_[keyed[begin].index].row;
        for (std::size_t i = begin; i < end; ++i) {
          const Leftover& stack = (keyed[i].after ? after_ : before_)[keyed[i].index];
          (keyed[i].after ? used_after : used_before)[keyed[i].index] = 1;
          if (i > begin) rows_.join(first, stack.row, tier);
        }
      }
      begin = end;
    }
    drop(before_, used_before);
    drop(after_, used_after);
  }

  static void drop(std::vector<Leftover>& stacks, const std::vector<std::uint8_t>& used) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      if (used[i] == 0) stacks[kept++] = stacks[i];
    }
    stacks.resize(kept);
  }

  Comparison& c_;
  RowUnion& rows_;
  std::size_t s_;
  std::vector<Leftover> before_, after_;
};

}  // namespace

void match_coarsely(Comparison& c, std::span<const BuildFacts> facts, std::span<const std::vector<std::uint8_t>> used) {
  RowUnion rows(c);
  for (std::size_t s = 0; s + 1 < c.sides.size(); ++s) {
    Pair pair(c, rows, s);
    if (!pair.find_leftovers()) continue;
    const RebuildEvidence evidence =
        find_rebuild(c.sides[s], c.sides[s + 1], facts[s], facts[s + 1], used[s], used[s + 1]);
    c.renamed.insert(c.renamed.end(), evidence.renamed.begin(), evidence.renamed.end());
    if (evidence.any()) pair.match(evidence);
  }
  rows.flatten();
  if (c.possible_pairs > 0) {
    c.notes.add(Severity::info, "stacks of two builds that may be the same, and are not taken for it", std::nullopt,
                c.possible_pairs);
  }
}

}  // namespace snapdiff::diff
