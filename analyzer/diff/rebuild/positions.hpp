#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {

/// What is called from a position, as functions of the current side; the allocation itself is kAllocation.
inline constexpr std::uint32_t kAllocation = kNone - 1;

/// How many objects the stacks of one run of functions hold that go through a position.
struct Use {
  std::uint64_t run = 0;
  double objects = 0;
  auto operator<=>(const Use&) const = default;
};

/// A line of a function that both sides have, with the lines below it of functions that only this side has (inlined
/// there, split out here). The sets are ascending, and filled by Positions::gather().
struct Position {
  std::uint32_t function = kNone;  ///< of the current side
  std::int32_t line = 0;
  std::vector<std::int32_t> below;      ///< lines of one-sided functions
  std::uint64_t key = 0;                ///< of all of this
  FrameId frame{};                      ///< one that it was made from
  bool stands_in = false;               ///< a line of another function, which replaces this one
  std::span<const std::uint32_t> next;  ///< functions that are called from here; none where no stack goes through it
  std::span<const std::uint32_t> deep;  ///< these and what they call; of a part of the stacks
  std::span<const std::int64_t> sizes;  ///< mean sizes of objects that are allocated here
  std::span<const Use> uses;            ///< by run that both sides have
};

/// For each function of a side what stands for it.
struct Counterparts {
  std::vector<std::uint32_t> number;     ///< its number on the current side, kNone where only this side has it
  std::vector<std::uint32_t> stands_in;  ///< for those the function in whose place they are where it does not call them
};

/// The positions of one side and the stacks as sequences of them.
class Positions {
 public:
  explicit Positions(const Code& code) : code_(code) {}

  std::vector<Position> all;

  /// Fills `all`, the stacks, what is called from where, and runs(). `lines_tell`: as Code::lines_tell() of both sides;
  /// if not, functions that this side alone has are left out. `names`: what stands for each function of the current
  /// side. `entries`: the most of both sides.
  void walk_all(const Counterparts& functions, bool lines_tell, const std::vector<std::uint64_t>& names,
                std::size_t entries);

  /// Per stack the hash of its run, or 0. Both sides read the same part of many stacks.
  const std::vector<std::uint64_t>& runs() const { return runs_; }
  /// Fills what is held where, and what is called below. `both`: the runs that both sides have, ascending; one that a
  /// frame came into or left says nothing of lines.
  void gather(const std::vector<std::uint64_t>& both);

  /// Positions of an entry, leaf first.
  std::span<const std::uint32_t> stack(std::size_t entry) const {
    const std::size_t begin = entry == 0 ? 0 : end_of_stack_[entry - 1];
    return std::span(stacks_).subspan(begin, end_of_stack_[entry] - begin);
  }
  /// Whether it has frames of functions that only this side has.
  bool folded(std::size_t entry) const { return folded_[entry] != 0; }

  /// Position of a frame by itself; kNone where its function is only on this side.
  std::uint32_t of_frame(FrameId frame) const { return base_[index_of(frame)]; }

  /// As all[position].function, from less memory.
  const std::uint32_t* functions() const { return function_.data(); }

  const Code& code() const { return code_; }

 private:
  bool walk(std::span<const FrameId> frames, const Counterparts& functions, bool lines_tell);
  std::uint32_t position_of(std::uint32_t function, FrameId frame, bool stands_in);
  std::uint32_t with_line_below(std::uint32_t position, FrameId frame);
  std::uint32_t add(Position made);

  const Code& code_;
  std::vector<std::uint32_t> base_;      ///< per FrameId
  std::vector<std::uint32_t> function_;  ///< per position
  HashIndex index_;                      ///< of `all`
  std::vector<std::uint32_t> stacks_;    ///< positions of all entries, one after the other
  std::vector<std::size_t> end_of_stack_;
  std::vector<std::uint8_t> folded_;
  std::vector<std::uint64_t> runs_;
  std::vector<std::uint32_t> next_, deep_;  ///< of all positions, which look into these
  std::vector<std::int64_t> sizes_;
  std::vector<Use> uses_;
};

}  // namespace snapdiff::diff::rebuild
