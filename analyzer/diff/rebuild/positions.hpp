#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/diff/rebuild/code.hpp"
#include "analyzer/diff/rebuild/per_position.hpp"

namespace snapdiff::diff::rebuild {

/// What is called from a position, as functions of the current side; the allocation itself is kAllocation.
inline constexpr std::uint32_t kAllocation = kNone - 1;

/// How many objects a run of functions holds whose stacks go through a position.
struct Use {
  std::uint64_t run = 0;
  double objects = 0;
};

/// A place in a function that both sides have: its line, and below it the lines of functions that
/// only this side has (inlined there, split out here), which are held to be part of it.
/// The sets are ascending, and filled by Positions::gather() and gather_uses().
struct Position {
  std::uint32_t function = kNone;  ///< of the current side
  std::uint32_t above = kNone;     ///< the position that this one is a part of
  std::int32_t line = 0;
  FrameId frame{};         ///< one that it was made from
  bool stands_in = false;  ///< a line of another function, which replaces this one
  std::uint32_t stacks = 0;
  bool final = false;                   ///< a stack goes through it and not on into a part of it
  std::span<const std::uint32_t> next;  ///< functions that are called from here
  std::span<const std::uint32_t> deep;  ///< these, what they call, and where the stacks end
  std::span<const std::uint32_t> ways;  ///< how memory is asked for here
  std::span<const std::int64_t> sizes;  ///< mean sizes of objects that are allocated here
  /// By run, of many the ones of least hash; none without numbers of objects.
  std::span<const Use> uses;
};

/// The positions of one side and the stacks as sequences of them.
class Positions {
 public:
  /// `counterpart`: per function its number on the current side, kNone where only this side has it. `stands_in`: for
  /// those the function of the current side in whose place they are where that one does not call them, or kNone.
  Positions(const Code& code, const std::vector<std::uint32_t>& counterpart,
            const std::vector<std::uint32_t>& stands_in);

  std::vector<Position> all;

  /// Lines of functions that one side knows no line of are ignored on both: call before gather().
  /// Per function of the current side 1 where this side knows one.
  std::vector<std::uint8_t> functions_with_lines(std::size_t functions) const;
  void ignore_lines(const std::vector<std::uint8_t>& of_function);

  /// Whether lines say which call it is: some agents give the line of the function whatever it calls. Without,
  /// functions that one side alone has are no part of a position but left out: call before gather().
  bool lines_tell() const;
  void leave_out_unknown() { leaves_out_ = true; }

  /// Walks all stacks once and fills what is called from where, of the first stacks through each position.
  void gather();

  /// Fills uses, of a part of the stacks where `entries`, the most of both sides, are many. Runs are those of `names`,
  /// what stands for each function of the current side. Call after gather().
  void gather_uses(std::size_t entries, const std::vector<std::uint64_t>& names);

  /// Positions of an entry, leaf first, once gather() was called.
  std::span<const std::uint32_t> stack(std::size_t entry) const {
    const std::size_t begin = entry == 0 ? 0 : end_of_stack_[entry - 1];
    return std::span<const std::uint32_t>(stacks_).subspan(begin, end_of_stack_[entry] - begin);
  }
  /// How the entry asks for memory: Code::way().
  std::uint32_t way(std::size_t entry) const { return way_[entry]; }
  /// Whether it has frames of functions that only this side has.
  bool folded(std::size_t entry) const { return folded_[entry] != 0; }

  /// Position of a frame by itself; kNone where its function is only on this side.
  std::uint32_t of_frame(FrameId frame) const { return base_[index_of(frame)]; }

  /// all[position].function, from less memory.
  std::uint32_t function_of(std::uint32_t position) const { return function_[position]; }

  static constexpr std::size_t kMostUses = 24;

  /// Lines from the function's own down to the part.
  std::vector<std::int32_t> path(std::uint32_t position) const;
  /// The first of them.
  std::int32_t own_line(std::uint32_t position) const;

  const Code& code() const { return code_; }

 private:
  class Gathering;

  void walk_all();
  bool walk(std::span<const FrameId> frames);
  std::uint32_t part_of(std::uint32_t above, FrameId frame);
  std::uint32_t base(FrameId frame);
  std::uint32_t line_of(std::uint32_t function, FrameId frame, bool stands_in);
  std::uint32_t position_of(std::uint64_t hash, const Position& made);

  const Code& code_;
  const std::vector<std::uint32_t>& counterpart_;
  const std::vector<std::uint32_t>& stands_in_;
  std::vector<std::uint8_t> ignored_;
  bool leaves_out_ = false;
  std::vector<std::uint32_t> function_;  ///< per position, as in `all`: read far more often than the rest
  std::vector<std::uint32_t> base_;
  HashIndex index_;  ///< of `all`
  PerPosition<std::uint32_t> next_, deep_, ways_;
  PerPosition<std::int64_t> sizes_;
  PerPosition<Use> uses_;
  std::vector<std::uint32_t> stacks_;  ///< positions of all entries, one after the other
  std::vector<std::size_t> end_of_stack_;
  std::vector<std::uint8_t> folded_;
  std::vector<std::uint32_t> way_;
};

}  // namespace snapdiff::diff::rebuild
