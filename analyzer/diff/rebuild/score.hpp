#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace snapdiff::diff::rebuild {

inline constexpr double kEnough = 6;              ///< nats: of e^6 = 400 such answers one is wrong
inline constexpr double kAlike = 0.6;             ///< least similarity, 0 to 1, of two functions and of two stacks
inline constexpr double kClearlyBest = 0.04;      ///< by which the best counterpart beats the second
inline constexpr std::size_t kMostCompared = 64;  ///< that are compared each with each: the heaviest

inline constexpr std::size_t kManyStacks = 8192;  ///< of a side: as many show what all show

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
  bool is_clear() const { return score >= kAlike && score - second >= kClearlyBest; }
};

/// Bytes and objects that one side holds in a row; 0 where the side does not have the row.
struct Held {
  double bytes = 0, objects = 0;

  bool any() const { return objects > 0; }
  Held operator+(const Held& other) const { return {bytes + other.bytes, objects + other.objects}; }
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
inline constexpr double kSameCall = 4.8;    ///< that they call a function in common
inline constexpr double kSameDeep = 2.4;    ///< times the share of the functions that they, and what they call, call
inline constexpr double kMovedAlike = 1.6;  ///< that they moved by as many lines as the pair before

}  // namespace snapdiff::diff::rebuild
