#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "snapdiff/growth.hpp"
#include "snapdiff/series_values.hpp"

/// A cell of a table: a value of some kind, never text made for a form. The writer of each form decides units, signs,
/// rounding, colours and the unknown value. Cells refer to the result that they were made from.
namespace snapdiff::document {

/// Why a cell has no value.
///   blank    there is nothing to say: a sum has no class
///   unknown  there is a value, but the input does not hold it
///   absent   the field is left out of forms whose rows may differ in their fields
enum class Missing : std::uint8_t { blank, unknown, absent };

/// A value in the unit of the metric.
struct Amount {
  std::int64_t value;
};
/// The same with its sign.
struct Growth {
  std::int64_t value;
};
struct Count {
  std::int64_t value;
  bool with_sign = false, at_least = false;
};
/// One standard deviation in the unit of the metric; NaN where it is unknown.
struct Deviation {
  double value;
};
/// In the unit of the metric, for each snapshot or hour.
struct Rate {
  double value;
  bool with_sign = true;
};
struct Share {
  std::int64_t part, whole;
};
/// 0 to 1.
struct Odds {
  double value;
};
/// A number of no unit; NaN where it is unknown.
struct Number {
  double value;
};
struct Flag {
  bool value;
};
/// A word of the program, which any form may show as it is.
struct Word {
  std::string_view text;
};
/// Text of unknown origin.
struct Text {
  std::string_view text;
};
/// A value at each snapshot. `known` is null where all are known.
struct Series {
  std::span<const std::int64_t> values;
  const SeriesValues* known = nullptr;
  std::size_t row = 0;
  bool is_known(std::size_t i) const { return known == nullptr || known->known(row, i); }
};
/// Leaf first.
struct Stack {
  std::span<const FrameView> frames;
};
/// Where the leaf of a stack stands.
struct Site {
  std::span<const FrameView> frames;
};
/// Before, after and growth.
struct Sides {
  Change value;
};
/// How many stacks of each side a row stands for.
struct Stacks {
  std::uint32_t before, after;
};

using Cell = std::variant<Missing, Amount, Growth, Count, Deviation, Rate, Share, Odds, Number, Flag, Word, Text,
                          Series, Stack, Site, Sides, Stacks, InstanceCount>;

/// One visitor of cells out of a function for each kind.
template <class... Visits>
struct Overloaded : Visits... {
  using Visits::operator()...;
};
template <class... Visits>
Overloaded(Visits...) -> Overloaded<Visits...>;

}  // namespace snapdiff::document
