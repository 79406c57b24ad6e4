#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "snapdiff/hash.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::fleet {

/// A stack with one label set, or with one value of the pivot.
struct Place {
  Hash128 stack;
  std::uint64_t label = 0;
};

/// Values of a place at a step: a row of the engine, or a sum of them.
///   unknown  1 the value is, 2 the count is
struct RowSum {
  std::int64_t value = 0, objects = 0;
  std::uint32_t place = 0;
  std::uint16_t metric = 0;
  std::uint8_t unknown = 0;
};

/// What is left of the stacks that were taken out, at a step.
struct Below {
  std::int64_t value = 0, objects = 0;
  std::uint64_t rows = 0;
};

/// Rows by step, 24 bytes each; a place is written once.
class StackSums {
 public:
  explicit StackSums(std::size_t steps) : cells_(steps) {}

  /// Number of a place.
  std::uint32_t place(const Hash128& stack, std::uint64_t label);
  void add(std::uint32_t step, const RowSum& cell) { cells_[step].push_back(cell); }

  /// Takes out the stacks whose sums range over less than `floor` at the steps, as one that is not there at a step is
  /// 0 there, and adds what they have to `below` (one a step).
  void take_below(std::int64_t floor, std::vector<Below>& below);

  /// Adds the rows of other stacks.
  void append(StackSums&& other);

  const std::vector<Place>& places() const { return places_; }
  const std::vector<std::vector<RowSum>>& cells() const { return cells_; }
  /// The rows of a step, which has none then.
  std::vector<RowSum> take(std::size_t step) { return std::move(cells_[step]); }

 private:
  /// Which stacks stay, by number.
  std::vector<bool> stacks_above(std::int64_t floor) const;

  std::vector<Place> places_;
  std::vector<std::uint32_t> stack_of_place_, first_of_stack_;
  std::unordered_map<Hash128, std::uint32_t> stacks_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> more_;  ///< places beside the first of a stack
  std::vector<std::vector<RowSum>> cells_;
};

}  // namespace snapdiff::fleet
