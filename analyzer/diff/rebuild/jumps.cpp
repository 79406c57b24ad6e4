#include "analyzer/diff/rebuild/jumps.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "snapdiff/parallel.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// Per function what it calls and what calls it, ascending.
struct Neighbourhood {
  std::vector<std::vector<std::uint32_t>> callees, callers;

  Neighbourhood(const Positions& positions, std::size_t functions) : callees(functions), callers(functions) {
    for (const Position& position : positions.all) {
      for (const std::uint32_t callee : position.next) {
        if (callee != kAllocation) callees[position.function].push_back(callee);
      }
    }
    for (std::uint32_t f = 0; f < functions; ++f) {
      std::sort(callees[f].begin(), callees[f].end());
      callees[f].erase(std::unique(callees[f].begin(), callees[f].end()), callees[f].end());
      for (const std::uint32_t callee : callees[f]) callers[callee].push_back(f);
    }
  }
  bool calls(std::uint32_t caller, std::uint32_t callee) const {
    return std::binary_search(callees[caller].begin(), callees[caller].end(), callee);
  }
};

/// Whether `g` calls `h` here alone, and a caller of `g` calls `h` there.
bool jumps_there(const Neighbourhood& here, const Neighbourhood& there, std::uint32_t g, std::uint32_t h) {
  if (h == kAllocation || g == h || there.calls(g, h)) return false;
  return std::any_of(here.callers[g].begin(), here.callers[g].end(),
                     [&](std::uint32_t caller) { return caller != g && there.calls(caller, h); });
}

std::vector<std::uint8_t> find_for(const Positions& positions, const Neighbourhood& here, const Neighbourhood& there) {
  std::vector<std::uint8_t> out(positions.all.size(), 0);
  for (std::size_t p = 0; p < out.size(); ++p) {
    const Position& position = positions.all[p];
    const std::span<const std::uint32_t> next = position.next;
    const bool all = !next.empty() && std::all_of(next.begin(), next.end(), [&](std::uint32_t callee) {
      return jumps_there(here, there, position.function, callee);
    });
    out[p] = all ? 1 : 0;
  }
  return out;
}

}  // namespace

Jumps find_jumps(const Positions& before, const Positions& after, std::size_t functions) {
  const std::size_t positions = before.all.size() + after.all.size();
  std::optional<Neighbourhood> in_before, in_after;
  for_each_parallel(2, positions, [&](std::size_t side) {
    side == 0 ? in_before.emplace(before, functions) : in_after.emplace(after, functions);
  });
  Jumps out;
  for_each_parallel(2, positions, [&](std::size_t side) {
    side == 0 ? out.before = find_for(before, *in_before, *in_after)
              : out.after = find_for(after, *in_after, *in_before);
  });
  return out;
}

}  // namespace snapdiff::diff::rebuild
