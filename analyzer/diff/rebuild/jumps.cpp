#include "analyzer/diff/rebuild/jumps.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "analyzer/base/parallel.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// Per function what it calls and what calls it, ascending.
class Neighbourhood {
 public:
  Neighbourhood(const Positions& positions, std::size_t functions) : callers_(gather(positions, functions)) {}

  std::span<const std::uint32_t> callers(std::uint32_t function) const { return callers_[function]; }
  bool calls(std::uint32_t caller, std::uint32_t callee) const {
    return std::binary_search(callees_[caller].begin(), callees_[caller].end(), callee);
  }

 private:
  /// Fills the callees; the callers of each function.
  ByPosition<std::uint32_t> gather(const Positions& positions, std::size_t functions) {
    std::vector<std::uint32_t> counts(functions, 0);
    for (const Position& position : positions.all)
      counts[position.function] += static_cast<std::uint32_t>(position.next.size());
    ByPosition<std::uint32_t> called(counts);
    for (const Position& position : positions.all) {
      for (const std::uint32_t callee : position.next) called.add(position.function, callee);
    }
    std::fill(counts.begin(), counts.end(), 0U);
    std::vector<std::uint32_t> own;
    for (std::uint32_t f = 0; f < functions; ++f) {
      own.assign(called[f].begin(), called[f].end());
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      if (!own.empty() && own.back() == kAllocation) own.pop_back();
      for (const std::uint32_t callee : own) ++counts[callee];
      callees_.add(own);
    }
    ByPosition<std::uint32_t> callers(counts);
    for (std::uint32_t f = 0; f < functions; ++f) {
      for (const std::uint32_t callee : callees_[f]) callers.add(callee, f);
    }
    return callers;
  }

  PerPosition<std::uint32_t> callees_;
  ByPosition<std::uint32_t> callers_;  // after the callees, which come first
};

/// Whether `g` calls `h` here alone, and a caller of `g` calls `h` there.
bool jumps_there(const Neighbourhood& here, const Neighbourhood& there, std::uint32_t g, std::uint32_t h) {
  if (h == kAllocation || g == h || there.calls(g, h)) return false;
  const std::span<const std::uint32_t> callers = here.callers(g);
  return std::any_of(callers.begin(), callers.end(),
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
