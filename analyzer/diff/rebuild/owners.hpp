#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {

struct FunctionMap;

/// A closure without a name of its own ("(anonymous)", "<lambda>") is known by the function that it is written in: its
/// owner, the next one of its file above it in the stacks that has a name. The only closure of a file is another one
/// where its function moved away and one with a closure came.
class Owners {
 public:
  explicit Owners(const Code& code);

  bool any() const { return !of_.empty(); }
  bool is_anonymous(std::uint32_t function) const { return !of_.empty() && anonymous_[function] != 0; }
  /// Ascending; empty where none is on a stack with it, as of what an event loop calls.
  const std::vector<std::uint32_t>& of(std::uint32_t function) const { return of_[function]; }

 private:
  std::vector<std::uint8_t> anonymous_;         ///< per function
  std::vector<std::vector<std::uint32_t>> of_;  ///< per function; empty where no function is anonymous
};

/// The owners of both sides.
struct BothOwners {
  Owners before, after;

  /// Whether the owners do not contradict that `a` and `b` are one function. Owners that are not mapped on either side
  /// may be each other where `unmapped` says so.
  bool may_be_same(std::uint32_t a, std::uint32_t b, const FunctionMap& map, bool unmapped) const;

  /// Of each two functions that are each other's, the only closure of both is one, too, where they have one.
  void match_only_ones(FunctionMap& map) const;
};

}  // namespace snapdiff::diff::rebuild
