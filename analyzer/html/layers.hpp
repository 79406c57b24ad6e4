#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/html/series.hpp"
#include "snapdiff/postmortem.hpp"

namespace snapdiff::html {

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
