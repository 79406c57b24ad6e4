#pragma once

#include <cstdint>
#include <span>

namespace snapdiff::diff::rebuild {

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
/// The same of the sizes of the objects of two sites, each ascending and not empty.
double weight_of_sizes(std::span<const std::int64_t> before, std::span<const std::int64_t> after);

/// How much it says for two lines of one function that they are the same, beside their objects.
struct SiteWeights {
  double none;    ///< two lines
  double calls;   ///< that call a function in common
  double next;    ///< times the share of the functions that they call
  double deep;    ///< the same, with what these call and where the stacks end
  double way;     ///< both allocate, times the share of the functions through which they do
  double moved;   ///< by as many lines as the functions above and below
  double beside;  ///< two pairs that moved by as many lines
};
inline constexpr SiteWeights kSites{1.6, 2.4, 2.4, 1.2, 0.8, 4, 1.6};
inline constexpr double kMostOfRuns = 8;    ///< nats: more runs of functions say no more
inline constexpr double kOutOfOrder = 4.8;  ///< nats: lines that changed their order

}  // namespace snapdiff::diff::rebuild
