#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "snapdiff/hash.hpp"

namespace snapdiff::diff::rebuild {

inline constexpr double kEnough = 6;              ///< nats: of e^6 = 400 such answers one is wrong
inline constexpr double kAlike = 0.6;             ///< least similarity, 0 to 1, of two functions and of two stacks
inline constexpr double kClearlyBest = 0.04;      ///< by which the best counterpart beats the second
inline constexpr std::size_t kMostCompared = 64;  ///< that are compared each with each: the heaviest

inline constexpr std::uint64_t kHashStep = 0x9e3779b97f4a7c15ULL;  ///< of a sequence, as a number to this base
inline constexpr std::size_t kManyStacks = 8192;                   ///< of a side: as many show what all show

/// Adds an item to the hash of a sequence.
inline std::uint64_t add_to(std::uint64_t hash, std::uint32_t item) { return hash * kHashStep + mix64(item + 1ULL); }

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

/// How much it says for two lines of one function that they are the same, beside their objects. By tests/builds/fit.py,
/// each with its standard error.
inline constexpr double kSameCall = 4.78;    ///< 0.07: they call the same
inline constexpr double kMovedAlike = 3.67;  ///< 0.06: they moved by as many lines as the pair before

}  // namespace snapdiff::diff::rebuild
