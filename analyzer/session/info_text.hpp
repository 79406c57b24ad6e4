#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "snapdiff/opened.hpp"

/// The content of a file, as people read it.
namespace snapdiff::session {

/// Counts of what the samples of a snapshot refer to.
struct Shape {
  std::size_t stacks = 0;
  std::size_t live_stacks = 0;  // with bytes in use
  std::size_t frames = 0;       // distinct
  std::size_t symbolized = 0;   // of them, with a function
  std::size_t shallowest = 0, deepest = 0;
  std::set<std::pair<std::string, std::string>> modules;  // base name, build id
};

/// Measures snapshots one after the other. Each costs what it holds itself, however much is in a dictionary that it
/// shares with the others.
class ShapeMeter {
 public:
  Shape measure(const Snapshot& snapshot);

 private:
  std::vector<std::uint32_t> seen_stack_, live_stack_, seen_frame_;  // the last round in which each was seen
  std::uint32_t round_ = 0;
};

/// Format, totals, stacks, sampling, symbols, counters, and what was dropped: a line each. Printable.
std::string info_text(const LoadedSnapshot& item, ShapeMeter& meter);

}  // namespace snapdiff::session
