#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/base/row_values.hpp"
#include "snapdiff/postmortem.hpp"

/// Which rows of a report matter most, and sums of all others. Sums are modulo 2^64: what fits is exact.
namespace snapdiff::html {

/// How much a row matters: the range of its values, or what grew and shrank in it where that is more;
/// never a signed sum.
std::vector<std::uint64_t> importance(const GrowthReport& report);

/// Rows of the report that a page holds, in the report's order, and sums of all others.
///   others   at each snapshot
///   grew, shrank, objects   of the others, first -> last
///   rest     per snapshot: its total less the sum of all rows ([unattributed], filtered)
struct Chosen {
  std::vector<std::uint32_t> rows;
  std::vector<std::int64_t> others;
  std::size_t others_count = 0;
  std::int64_t grew = 0, shrank = 0;
  Change objects;
};

/// The `count` most important rows; ties by the report's order.
Chosen choose(const GrowthReport& report, const std::vector<std::uint64_t>& importance, std::size_t count);

/// Per judged snapshot: its total less the sum of all rows.
std::vector<std::int64_t> remainder(const Postmortem& report);

/// True where sums or differences of the page may pass 2^53, beyond which the browser's ordinary numbers
/// are not exact.
bool needs_big_integers(const Postmortem& report);

/// A layer of the plot of totals: values at each judged snapshot, summed exactly.
///   kind  "rest", "grown", "shrunk" or "passing", as the script knows them; "role4" of a role by its number
///   name  printable   note  what to say beside it, may be empty
struct Layer {
  std::string kind;
  std::string name;
  std::string note;
  std::vector<std::int64_t> values;
};

/// From the bottom up: the rest, then the story's bands; they add up to the totals. Empty where values below zero would
/// make layers lie.
std::vector<Layer> layers_of(const Postmortem& report);

}  // namespace snapdiff::html
