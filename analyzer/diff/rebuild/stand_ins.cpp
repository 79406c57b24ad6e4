#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/rebuild/functions.hpp"
#include "analyzer/diff/rebuild/score.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kMostPlaces = 0.75;  // of the places of a function another one has
constexpr std::uint32_t kCallsNothing = kNone - 1;

/// The function above and the one below, as functions of the current side.
using Place = std::pair<std::uint32_t, std::uint32_t>;

/// visit(function, its number, line, place) for each frame whose neighbours are functions of both sides. `numbers`: of
/// the side's functions, kNone for those of this side alone.
template <class Visit>
void each_frame(const Code& code, const std::vector<std::uint32_t>& numbers, Visit visit) {
  std::vector<FrameId> scratch;
  for (std::size_t entry = 0; entry < code.side().stack.size(); ++entry) {
    const std::span<const FrameId> frames = code.frames(entry, scratch);
    std::uint32_t below = kCallsNothing;
    for (std::size_t k = 0; k + 1 < frames.size(); ++k) {
      const std::uint32_t own = code.function[index_of(frames[k])];
      const std::uint32_t above = numbers[code.function[index_of(frames[k + 1])]];
      if (above != kNone && below != kNone)
        visit(own, numbers[own], code.line[index_of(frames[k])], Place(above, below));
      below = numbers[own];
    }
  }
}

/// How many lines of some functions call which function.
std::map<Place, std::size_t> lines_of(const Code& code, const std::vector<std::uint32_t>& numbers,
                                      const std::set<std::uint32_t>& functions) {
  std::map<Place, std::size_t> out;
  std::unordered_set<std::uint64_t> seen;
  std::vector<std::uint64_t> recent(1U << 12U);  // most frames repeat one of the last thousands
  each_frame(code, numbers, [&](std::uint32_t, std::uint32_t number, std::int32_t line, const Place& place) {
    const std::uint64_t of_line = mix64(std::uint64_t{number} << 32U | static_cast<std::uint32_t>(line));
    const std::uint64_t call = mix64(of_line + place.second);
    if (std::exchange(recent[call % recent.size()], call) == call || !functions.contains(number)) return;
    if (seen.insert(call).second) ++out[{number, place.second}];
  });
  return out;
}

/// `code` has the functions that are looked for, `other` has others in their places.
std::vector<std::uint32_t> find_for(const Code& code, const std::vector<std::uint32_t>& numbers, const Code& other,
                                    const std::vector<std::uint32_t>& other_numbers) {
  std::vector<std::uint32_t> out(numbers.size(), kNone);
  if (std::find(numbers.begin(), numbers.end(), kNone) == numbers.end()) return out;
  std::map<std::uint32_t, std::set<Place>> unknown;
  std::map<Place, std::set<std::uint32_t>> there;  // of these places the functions that the other side has in them
  std::set<std::uint32_t> callers, candidates;
  each_frame(code, numbers, [&](std::uint32_t function, std::uint32_t number, std::int32_t, const Place& place) {
    if (number != kNone || !unknown[function].insert(place).second) return;
    there[place];
    callers.insert(place.first);
  });
  each_frame(other, other_numbers, [&](std::uint32_t, std::uint32_t number, std::int32_t, const Place& place) {
    if (number == kNone || number == place.first || number == place.second || !callers.contains(place.first)) return;
    const auto of_place = there.find(place);
    if (of_place == there.end() || of_place->second.size() >= kMostCompared) return;
    of_place->second.insert(number);
    candidates.insert(number);
  });
  if (candidates.empty()) return out;
  std::map<Place, std::size_t> lines_here = lines_of(code, numbers, candidates);
  std::map<Place, std::size_t> lines_there = lines_of(other, other_numbers, candidates);
  for (const auto& [function, places] : unknown) {
    // Who allocates for one caller is anybody.
    if (places.size() == 1 && places.begin()->second == kCallsNothing) continue;
    std::map<std::uint32_t, double> votes;
    for (const Place& place : places) {
      // A function of which another one took a part over has fewer lines left that call the same, or a new site there.
      for (const std::uint32_t f : there[place])
        votes[f] += lines_here[{f, place.second}] < lines_there[{f, place.second}] ? 1 : 0.5;
    }
    double most = 0;
    for (const auto& [f, count] : votes) {
      if (count >= most) out[function] = count > most ? f : kNone;
      most = std::max(most, count);
    }
    if (most < kMostPlaces * static_cast<double>(places.size())) out[function] = kNone;
  }
  return out;
}

}  // namespace

void find_stand_ins(const Code& before, const Code& after, FunctionMap& map) {
  for_each_parallel(2, before.side().stack.size() + after.side().stack.size(), [&](std::size_t side) {
    map.stands_in[side] =
        side == 0 ? find_for(before, map.after, after, map.itself) : find_for(after, map.itself, before, map.after);
  });
}

}  // namespace snapdiff::diff::rebuild
