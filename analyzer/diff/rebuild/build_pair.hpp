#pragma once

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

  static constexpr double kCovered = 0.85;  ///< of the shorter stack's frames

  /// A stack as lines and functions that mean the same on both sides.
  struct Stack {
    std::uint32_t row = 0;
    std::uint32_t entry = 0;
    bool folded = false;
    bool renamed = false;  ///< a function of it has another name on the other side
    double value = 0;
    double objects = 0;  ///< 0: unknown
    Hash128 key;         ///< of `classes`; of a stack of the library alone, of its names; else 0
    std::vector<std::uint32_t> classes, functions;  ///< leaf first; functions of the current side
  };
  using Stacks = std::vector<Stack>;
  /// Entries of one side, each with its row and frames.
  Stacks stacks_of(const std::vector<Left>& entries, bool after) const {
    Stacks out = read(entries, after);
    read_frames(out, after);
    return out;
  }

  /// How alike two of their sites are: 1 the same line, 0.5 lines of one function of which none contradicts, else 0.
  double weight(const Stack& a, std::size_t i, const Stack& b, std::size_t j) const;
  /// Objects of quite another size and another number of them.
  static bool contradict(const Stack& a, const Stack& b);
  /// A frame of a stack's site.
  FrameId frame_of(const Stack& stack, std::size_t site, bool after) const {
    const Positions& positions = after ? in_b_ : in_a_;
    return positions.all[positions.stack(stack.entry)[site]].frame;
  }

  /// Functions under another name, and how many of the joined stacks hold each.
  struct Renamed {
    std::string first, second;
    std::uint64_t stacks = 0;
  };
  std::vector<Renamed> renamed() const;

  std::uint64_t possible() const { return possible_; }

 private:
  Stacks read(const std::vector<Left>& entries, bool after) const;  ///< without classes and functions
  void read_frames(Stacks& stacks, bool after) const;
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
  bool half_ = true;  ///< lines of one function count half; in the first round of join() none do
};

}  // namespace snapdiff::diff::rebuild
