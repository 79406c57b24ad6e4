#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diff/side.hpp"

namespace snapdiff::diff {

struct Comparison;

/// A stack whose growth nobody knows: at the first or at the last side it is not listed by a source that leaves
/// rows out, or its value is unknown.
struct ListedOnceUnit {
  VisibleFrames frames;
  std::uint32_t side = 0;  ///< of `stack`
  StackId stack{};
  std::uint32_t first = 0, last = 0;  ///< sides between which its value is known at both ends
  Change value;                       ///< at `first` and `last`
  Change objects;
};

/// Takes the stacks out of the sides whose growth cannot be known, so that what is left adds up; most
/// value first. In a series of eight and more, by stack or frame, what is listed at the last side and at eight and a
/// third of all others stays: hold_beginnings(). Totals of the sides lose them too. Call before equal stacks are
/// joined. Errors: limit.
Status set_aside_listed_once(Comparison& comparison);

/// Gives the first side what it does not list and later sides do, with the value that these first have: the row grew
/// since then, by this much at least. They come after the entries of the side, as those of bridge_gaps(). Call after
/// equal stacks were joined, before anything is asked of rows.
/// Errors: limit.
Status hold_beginnings(Comparison& comparison);

/// Fills points of a series that are unknown between two known ones: as the straight line between
/// those has them. They come after the entries of each side (Side::value, unit_of_entry). Call
/// after equal stacks were joined.
void bridge_gaps(Comparison& comparison);

}  // namespace snapdiff::diff
