#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/postmortem/make_postmortem.hpp"

namespace snapdiff::postmortem {

/// One rule of the file. Exactly one of rows, counter and device is asked; all conditions that are given must hold.
struct Rule {
  std::string id, title, usually, suggestion;
  bool harmless = false;

  /// Of rows.
  bool of_rows = false;
  std::vector<std::shared_ptr<const RE2>> frames;      ///< each is found in some frame of the stack
  std::vector<std::shared_ptr<const RE2>> not_frames;  ///< none is
  std::shared_ptr<const RE2> leaf;                     ///< found in the frame that allocated
  std::shared_ptr<const RE2> not_leaf;                 ///< not found there
  std::vector<std::string> verdicts;                   ///< empty: GROWING, RISING, NEW, or too few snapshots to say
  std::shared_ptr<const RE2> reason;                   ///< found in the verdict's reason
  double share = 0.05;                                 ///< of all growth, for the rows together
  bool steady = false;                                 ///< the same number of objects more in every step
  bool once = false;                                   ///< one rise, level before and after
  std::int64_t block = 0;                              ///< bytes of each object
  bool last = false;                                   ///< only rows that no other rule explains

  /// Of counters.
  std::shared_ptr<const RE2> counter;  ///< a level that grew, by its name without tags
  std::vector<std::string> equals;     ///< and as much as the sum of these, "-name" taken off, in the same tags
  std::string beyond;                  ///< or more than this one did, by twice as much; "in-use": than the heap

  /// Of CUDA's allocator: "fragmentation", "pinned", "private pools".
  std::string device;
};

/// Rows are looked at from the one that grew most down, kRowsOfRules at most.
std::vector<Hint> find_hints(const Postmortem& report, const std::vector<Rule>& rules);

inline constexpr std::size_t kRowsOfRules = 20000;

}  // namespace snapdiff::postmortem
