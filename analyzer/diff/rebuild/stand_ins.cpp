#include "analyzer/diff/rebuild/stand_ins.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/base/parallel.hpp"

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

/// Functions of both sides that are in some places.
class StandingIn {
 public:
  StandingIn(const std::set<Place>& places, std::size_t functions) : places_(places), calls_(functions, 0) {
    for (const Place& place : places) calls_[place.first] = 1;
  }
  void see(std::uint32_t number, const Place& place) {
    if (number == kNone || calls_[place.first] == 0 || number == place.first || number == place.second) return;
    if (!places_.contains(place)) return;
    std::set<std::uint32_t>& there = found[place];
    if (there.size() < kMostInPlace) there.insert(number);
  }
  std::map<Place, std::set<std::uint32_t>> found;

 private:
  const std::set<Place>& places_;
  std::vector<std::uint8_t> calls_;  ///< per function
};

/// How many lines of some functions call which function.
class LinesOf {
 public:
  LinesOf(const std::set<std::uint32_t>& functions, std::size_t all) : wanted_(all, 0) {
    for (const std::uint32_t f : functions) wanted_[f] = 1;
  }
  void see(std::uint32_t number, std::int32_t line, const Place& place) {
    if (number != kNone && wanted_[number] != 0) found_[{number, place.second}].insert(line);
  }
  std::size_t count(std::uint32_t function, std::uint32_t callee) const {
    const auto found = found_.find({function, callee});
    return found == found_.end() ? 0 : found->second.size();
  }

 private:
  std::vector<std::uint8_t> wanted_;  ///< per function
  std::map<Place, std::set<std::int32_t>> found_;
};

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
  StandingIn there(places, functions);
  other.each_frame(
      [&](std::uint32_t, std::uint32_t number, std::int32_t, const Place& place) { there.see(number, place); });
  std::set<std::uint32_t> candidates;
  for (const auto& [place, of_place] : there.found) candidates.insert(of_place.begin(), of_place.end());
  if (candidates.empty()) return out;
  LinesOf lines_here(candidates, functions), lines_there(candidates, functions);
  StandingIn here(places, functions);
  side.each_frame([&](std::uint32_t, std::uint32_t number, std::int32_t line, const Place& place) {
    lines_here.see(number, line, place);
    here.see(number, place);
  });
  other.each_frame([&](std::uint32_t, std::uint32_t number, std::int32_t line, const Place& place) {
    lines_there.see(number, line, place);
  });
  // What another function took over has fewer lines left that call the same, or is not called from there any more.
  const auto lost = [&](std::uint32_t function, const Place& place) {
    const auto still = here.found.find(place);
    return lines_here.count(function, place.second) < lines_there.count(function, place.second) ||
           still == here.found.end() || !still->second.contains(function);
  };
  for (const auto& [function, of_function] : unknown) {
    // Who allocates for one caller is anybody.
    if (of_function.size() == 1 && of_function.begin()->second == kCallsNothing) continue;
    std::map<std::uint32_t, double> votes;
    for (const Place& place : of_function) {
      const auto found = there.found.find(place);
      if (found == there.found.end()) continue;
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
