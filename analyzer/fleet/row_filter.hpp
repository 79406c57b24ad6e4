#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "analyzer/fleet/fleet.hpp"

namespace snapdiff::fleet {

/// Which rows of `sample` are those of some snapshots. What the engine looks up rows by (service, metric, hour) is
/// apart from what it checks of every row: a push has rows of one service and few hours, so that only the push and the
/// metric are read.
class RowFilter {
 public:
  void add(const Committed& one);

  /// " PREWHERE ... WHERE ...", with `more` conditions (each begins with " AND ").
  std::string text(const std::string& more = {}) const;
  /// The conditions after WHERE.
  std::string where() const;

  /// The snapshots are few of those in their hours: rows are distinguished by their time, four bytes that repeat,
  /// before anything else of them is read.
  bool at_few_moments = false;

 private:
  std::set<std::string> services_, metrics_;
  std::set<std::uint64_t> hours_, times_, pushes_;
};

/// A condition, " AND ..." or "": the stacks of one of `count` ranges of equal size, by their first two bytes.
std::string stack_range(std::uint64_t number, std::uint64_t count);

}  // namespace snapdiff::fleet
