#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/html/series.hpp"
#include "snapdiff/postmortem.hpp"

namespace snapdiff::html {

/// A layer of the plot of totals: values at each judged snapshot, summed exactly.
///   name  printable   note  what to say beside it, may be empty
struct Band {
  enum class Kind : std::uint8_t { rest, grown, shrunk, passing };
  Kind kind = Kind::rest;
  std::string name;
  std::string note;
  std::vector<std::int64_t> values;
};

/// From the bottom up: the rest, the suspects, what came and went. Empty where values below zero would
/// make layers lie.
std::vector<Band> bands(const Postmortem& report, const Series& series);

}  // namespace snapdiff::html
