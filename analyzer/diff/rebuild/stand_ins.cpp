#include "analyzer/diff/rebuild/stand_ins.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/base/parallel.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kMostPlaces =
    0.75;                      // of the places of a function another one has; a second one has fewer than of these
constexpr double kKept = 0.5;  // of a vote: a place where it stands as before, maybe with a new site
constexpr std::size_t kMostInPlace = 16;  // functions in one place: more say nothing
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

/// How many lines of some functions call which function. Most frames repeat one of the last thousands.
class LinesOf {
 public:
  LinesOf(const Code& code, const std::vector<std::uint32_t>& numbers, const std::set<std::uint32_t>& functions) {
    std::vector<std::uint8_t> wanted(functions.empty() ? 0 : *functions.rbegin() + 1);
    for (const std::uint32_t function : functions) wanted[function] = 1;
    constexpr std::size_t kRecent = 4096;
    std::vector<std::pair<Place, std::int32_t>> recent(kRecent, {{kNone, kNone}, 0});
    each_frame(code, numbers, [&](std::uint32_t, std::uint32_t number, std::int32_t line, const Place& place) {
      if (number >= wanted.size() || wanted[number] == 0) return;
      const std::pair<Place, std::int32_t> call{{number, place.second}, line};
      const std::uint64_t hash =
          mix64((std::uint64_t{number} << 32U | place.second) ^ static_cast<std::uint32_t>(line));
      if (std::exchange(recent[hash % kRecent], call) != call) found_[call.first].insert(line);
    });
  }
  std::size_t count(std::uint32_t function, std::uint32_t callee) const {
    const auto found = found_.find({function, callee});
    return found == found_.end() ? 0 : found->second.size();
  }

 private:
  std::map<Place, std::set<std::int32_t>> found_;
};

/// The one that most places have, kNone where nearly as many have a second one.
std::uint32_t elected(const std::map<std::uint32_t, double>& votes, std::size_t places) {
  double best = 0, second = 0;
  std::uint32_t out = kNone;
  for (const auto& [function, count] : votes) {
    second = std::max(second, std::min(best, count));
    if (count <= best) continue;
    best = count;
    out = function;
  }
  return best >= kMostPlaces * static_cast<double>(places) && second <= kMostPlaces * best ? out : kNone;
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
    if (of_place == there.end() || of_place->second.size() >= kMostInPlace) return;
    of_place->second.insert(number);
    candidates.insert(number);
  });
  if (candidates.empty()) return out;
  const LinesOf lines_here(code, numbers, candidates), lines_there(other, other_numbers, candidates);
  for (const auto& [function, places] : unknown) {
    // Who allocates for one caller is anybody.
    if (places.size() == 1 && places.begin()->second == kCallsNothing) continue;
    std::map<std::uint32_t, double> votes;
    for (const Place& place : places) {
      // A function of which another one took a part over has fewer lines left that call the same.
      for (const std::uint32_t f : there[place])
        votes[f] += lines_here.count(f, place.second) < lines_there.count(f, place.second) ? 1 : kKept;
    }
    out[function] = elected(votes, places.size());
  }
  return out;
}

}  // namespace

StandIns find_stand_ins(const Code& before, const Code& after, const FunctionMap& map) {
  std::vector<std::uint32_t> itself(map.before.size());
  for (std::uint32_t f = 0; f < itself.size(); ++f) itself[f] = map.before[f] == kNone ? kNone : f;
  StandIns out;
  for_each_parallel(2, before.side().stack.size() + after.side().stack.size(), [&](std::size_t side) {
    side == 0 ? out.before = find_for(before, map.after, after, itself)
              : out.after = find_for(after, itself, before, map.after);
  });
  return out;
}

}  // namespace snapdiff::diff::rebuild
