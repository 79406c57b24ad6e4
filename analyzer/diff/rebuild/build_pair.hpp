#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/diff/rebuild/functions.hpp"
#include "analyzer/diff/rebuild/lines.hpp"
#include "analyzer/diff/rebuild/positions.hpp"
#include "analyzer/diff/rebuild/row_union.hpp"
#include "analyzer/diff/rebuild/score.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::diff::rebuild {

/// Whether a side comes first in a BuildPair, by the stacks that it holds and how much of each. The order of these
/// does not matter.
bool comes_first(const Side& side, const Side& other);

/// Two consecutive sides that ran different builds of one program: which function and line of one is which of
/// the other, and the joining of their stacks by that. "Before" is the one that comes first and "after" the second one,
/// whichever is newer.
class BuildPair {
 public:
  BuildPair(const Side& before, const Side& after);

  /// Frames that look the same on both sides, and are not: other lines are there now.
  std::vector<Hash128> coincidences() const;

  /// A row that a side has, with one of its entries.
  struct Left {
    std::uint32_t row;
    std::uint32_t entry;
  };
  /// Joins what is left on one side only: by lines that moved, without frames that come and go, and last with gaps.
  void join(const std::vector<Left>& before, const std::vector<Left>& after, RowUnion& rows);
  /// The same of every row, by lines alone. Where lines do not distinguish one call from another, a row that was found
  /// may go on under frames that were put between or split out.
  void join_again(const std::vector<Left>& before, const std::vector<Left>& after, RowUnion& rows);
  bool lines_tell() const { return lines_tell_; }

  /// A stack as lines and functions that mean the same on both sides.
  struct Stack {
    std::uint32_t row = 0;
    std::uint32_t entry = 0;
    bool folded = false;
    bool renamed = false;  ///< a function of it has another name on the other side
    double value = 0;
    double objects = 0;                        ///< 0: unknown
    std::uint64_t key = 0;                     ///< of its lines; of a stack of the library alone, of its names; else 0
    std::span<const std::uint32_t> positions;  ///< leaf first
    const std::uint32_t *class_of = nullptr, *function_of = nullptr;  ///< of all positions of its side

    std::size_t size() const { return positions.size(); }
    std::uint32_t line(std::size_t site) const { return class_of[positions[site]]; }
    std::uint32_t function(std::size_t site) const { return function_of[positions[site]]; }  ///< of the current side
  };
  using Stacks = std::vector<Stack>;
  /// Entries of one side, each with its row.
  Stacks stacks_of(const std::vector<Left>& entries, bool after) const;

  /// How alike two of their sites are: 1 the same line, 0.5 lines of one function of which none contradicts, else 0.
  double weight(const Stack& a, std::size_t i, const Stack& b, std::size_t j) const;
  static constexpr double kCovered = 0.85;             ///< of the shorter stack's frames
  static constexpr double kMargin = kClearlyBest / 2;  ///< half of the score is the share of both stacks

  /// How alike two stacks of n and m sites are that have `common` of them in common: a mean of the share of both, and
  /// of the shorter one. Frames that one side alone has come and go; where both have some, it is another way.
  static double likeness(double common, std::size_t n, std::size_t m) {
    return n == 0 || m == 0 ? 0
                            : common / static_cast<double>(n + m) + common / 2 / static_cast<double>(std::min(n, m));
  }
  /// Whether enough of the shorter stack is equal: where both sides have frames that the other has not, it is another
  /// way.
  static bool is_covered(const Stack& a, const Stack& b, double alike);
  /// Objects of quite another size and another number of them.
  static bool contradict(const Stack& a, const Stack& b);
  /// A frame of a stack's site.
  FrameId frame_of(const Stack& stack, std::size_t site, bool after) const {
    return (after ? in_b_ : in_a_).all[stack.positions[site]].frame;
  }

  /// Functions under another name, and how many of the joined stacks hold each.
  struct Renamed {
    std::string first, second;
    std::uint64_t stacks = 0;
  };
  std::vector<Renamed> renamed() const;

  std::uint64_t possible() const { return possible_; }

 private:
  void read_both(const std::vector<Left>& before, const std::vector<Left>& after);
  void join_equal(RowUnion& rows);
  /// Joins stacks that are alike but for some frames, each the other's clearly best. Whether there were any.
  bool join_with_gaps(RowUnion& rows);
  double alike(const Stack& a, const Stack& b) const;
  MatchTier tier_of(const Stack& a, const Stack& b) const;
  void count_renamed(const Stack& joined);  ///< of the current side

  std::pair<Code, Code> code_;
  const Code& a_ = code_.first;
  const Code& b_ = code_.second;
  bool lines_tell_ = false;
  Positions in_a_{a_}, in_b_{b_};
  LineMap lines_;
  std::vector<std::string_view> old_names_;   ///< per function of the current side
  std::vector<std::uint8_t> has_other_name_;  ///< per function of the current side
  std::vector<std::uint64_t> stacks_with_;    ///< joined, per function of the current side
  Stacks before_, after_;
  std::uint64_t possible_ = 0;
};

}  // namespace snapdiff::diff::rebuild
