#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace snapdiff::diff::rebuild {

inline constexpr double kEnough = 6;              ///< nats: of e^6 = 400 such answers one is wrong
inline constexpr double kAlike = 0.6;             ///< least similarity, 0 to 1, of two functions and of two stacks
inline constexpr std::size_t kMostCompared = 96;  ///< that are compared each with each: the heaviest

/// The best counterpart, by its similarity, and how much better it is than the best one of another row.
struct Best {
  std::size_t other = std::numeric_limits<std::size_t>::max(), row = other;
  double score = 0, second = 0;

  void offer(std::size_t candidate, std::size_t its_row, double like) {
    if (row != its_row) second = std::max(second, std::min(like, score));
    if (like <= score) return;
    score = like;
    row = its_row;
    other = candidate;
  }
  bool is_clear(double margin) const { return score >= kAlike && score - second >= margin; }
};

/// Bytes and objects that one side holds in a row; 0 where the side does not have the row.
struct Held {
  double bytes = 0, objects = 0;
  std::uint32_t stacks = 0;

  bool any() const { return objects > 0; }
  Held operator+(const Held& other) const {
    return {bytes + other.bytes, objects + other.objects, stacks + other.stacks};
  }
};

/// How much it says for one site that one build held the one and the next build the other: the logarithm of how many
/// times likelier that is than of two sites of one function. 0 where one of them holds nothing. `of_sites`: of several
/// sites together, so that their mean size says nothing.
double weight_of_objects(const Held& before, const Held& after, bool of_sites);

/// The same of numbers of objects alone; of none on one side, as few there.
double weight_of_number(double before, double after);
/// The same of the sizes of the objects of two sites, each ascending; 0 without one.
double weight_of_sizes(std::span<const std::int64_t> before, std::span<const std::int64_t> after);

/// How much it says for two lines of one function that they are the same, beside their objects.
struct SiteWeights {
  double none;    ///< two lines
  double calls;   ///< that call a function in common
  double next;    ///< times the share of the functions that they call
  double deep;    ///< the same, with what these call
  double stays;   ///< an equal line
  double beside;  ///< two neighbouring pairs that moved by as many lines
};
inline constexpr SiteWeights kSites{1.6, 2.4, 2.4, 1.2, 1, 1.6};
inline constexpr double kMostOfRuns = 8;  ///< nats: more runs of functions say no more

}  // namespace snapdiff::diff::rebuild
