#include "analyzer/diff/rebuild/stand_ins.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "snapdiff/parallel.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kMostPlaces = 0.75;      // of the places where a function stands, the other one stood as well
constexpr double kKept = 0.5;             // of a vote: a place where it stands as before, maybe with a new site
constexpr double kNextBest = 0.75;        // of these: no second function stood in as many
constexpr std::size_t kMostInPlace = 16;  // functions in one place: more say nothing
constexpr std::uint32_t kCallsNothing = kNone - 1;

/// The function above and the one below, as functions of the current side.
using Place = std::pair<std::uint32_t, std::uint32_t>;

/// One side as functions of the current side.
struct Numbered {
  const Code& code;
  std::vector<std::uint32_t> number;  ///< per own function; kNone for those of this side alone

  bool all_known() const { return std::find(number.begin(), number.end(), kNone) == number.end(); }

  /// visit(frame's function, its number, line, place) for each frame whose neighbours are functions of both sides.
  template <class Visit>
  void each_frame(Visit visit) const {
    std::vector<FrameId> scratch;
    const auto of = [&](FrameId frame) { return number[code.function[index_of(frame)]]; };
    for (std::size_t entry = 0; entry < code.side().stack.size(); ++entry) {
      const std::span<const FrameId> frames = code.frames(entry, scratch);
      std::uint32_t below = kCallsNothing, own = frames.empty() ? kNone : of(frames[0]);
      for (std::size_t k = 0; k + 1 < frames.size(); ++k) {
        const std::uint32_t above = of(frames[k + 1]);
        if (above != kNone && below != kNone)
          visit(code.function[index_of(frames[k])], own, code.line[index_of(frames[k])], Place(above, below));
        below = own;
        own = above;
      }
    }
  }
};

/// Where the functions stand that one side alone has.
std::unordered_map<std::uint32_t, std::set<Place>> places_of_unknown(const Numbered& side) {
  std::unordered_map<std::uint32_t, std::set<Place>> out;
  side.each_frame([&](std::uint32_t function, std::uint32_t number, std::int32_t, const Place& place) {
    if (number == kNone) out[function].insert(place);
  });
  return out;
}

/// Functions of both sides that are in these places.
std::map<Place, std::set<std::uint32_t>> standing_in(const Numbered& side, const std::set<Place>& places,
                                                     std::size_t functions) {
  std::vector<std::uint8_t> calls(functions, 0);
  for (const Place& place : places) calls[place.first] = 1;
  std::map<Place, std::set<std::uint32_t>> out;
  side.each_frame([&](std::uint32_t, std::uint32_t number, std::int32_t, const Place& place) {
    if (number == kNone || calls[place.first] == 0 || number == place.first || number == place.second) return;
    if (!places.contains(place)) return;
    std::set<std::uint32_t>& there = out[place];
    if (there.size() < kMostInPlace) there.insert(number);
  });
  return out;
}

/// How many lines of some functions call which function.
std::map<Place, std::set<std::int32_t>> lines_of(const Numbered& side, const std::set<std::uint32_t>& functions,
                                                 std::size_t all) {
  std::vector<std::uint8_t> wanted(all, 0);
  for (const std::uint32_t f : functions) wanted[f] = 1;
  std::map<Place, std::set<std::int32_t>> out;
  side.each_frame([&](std::uint32_t, std::uint32_t number, std::int32_t line, const Place& place) {
    if (number != kNone && wanted[number] != 0) out[{number, place.second}].insert(line);
  });
  return out;
}

/// The one that most vote for, `kNone` where a second one has nearly as many or the first not most of `all`.
std::uint32_t elected(const std::map<std::uint32_t, double>& votes, std::size_t all) {
  double best = 0, second = 0;
  std::uint32_t out = kNone;
  for (const auto& [function, count] : votes) {
    second = std::max(second, std::min(best, count));
    if (count <= best) continue;
    best = count;
    out = function;
  }
  return best >= kMostPlaces * static_cast<double>(all) && second <= kNextBest * best ? out : kNone;
}

/// `side` has the functions that are looked for, `other` has others in their places.
std::vector<std::uint32_t> find_for(const Numbered& side, const Numbered& other, std::size_t functions) {
  std::vector<std::uint32_t> out(side.number.size(), kNone);
  if (side.all_known()) return out;
  const auto unknown = places_of_unknown(side);
  std::set<Place> places;
  for (const auto& [function, of_function] : unknown) places.insert(of_function.begin(), of_function.end());
  if (places.empty()) return out;
  const auto there = standing_in(other, places, functions);
  std::set<std::uint32_t> candidates;
  for (const auto& [place, of_place] : there) candidates.insert(of_place.begin(), of_place.end());
  if (candidates.empty()) return out;
  const auto lines_here = lines_of(side, candidates, functions), lines_there = lines_of(other, candidates, functions);
  // What another function took over has fewer lines left that call the same, or is not called from there any more.
  const auto here = standing_in(side, places, functions);
  const auto lost = [&](std::uint32_t function, const Place& place) {
    const auto count = [&](const std::map<Place, std::set<std::int32_t>>& lines) {
      const auto found = lines.find({function, place.second});
      return found == lines.end() ? 0 : found->second.size();
    };
    const auto still = here.find(place);
    return count(lines_here) < count(lines_there) || still == here.end() || !still->second.contains(function);
  };
  for (const auto& [function, of_function] : unknown) {
    // Who allocates for one caller is anybody.
    if (of_function.size() == 1 && of_function.begin()->second == kCallsNothing) continue;
    std::map<std::uint32_t, double> votes;
    for (const Place& place : of_function) {
      const auto found = there.find(place);
      if (found == there.end()) continue;
      for (const std::uint32_t f : found->second) votes[f] += lost(f, place) ? 1 : kKept;
    }
    out[function] = elected(votes, of_function.size());
  }
  return out;
}

}  // namespace

StandIns find_stand_ins(const Code& before, const Code& after, const FunctionMap& map) {
  Numbered a{before, map.after}, b{after, map.before};
  for (std::uint32_t f = 0; f < b.number.size(); ++f) b.number[f] = b.number[f] == kNone ? kNone : f;
  const std::size_t functions = after.functions.size();
  StandIns out;
  for_each_parallel(2, before.side().stack.size() + after.side().stack.size(), [&](std::size_t side) {
    side == 0 ? out.before = find_for(a, b, functions) : out.after = find_for(b, a, functions);
  });
  return out;
}

}  // namespace snapdiff::diff::rebuild
