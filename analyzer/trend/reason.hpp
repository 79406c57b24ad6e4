#pragma once

#include <string>
#include <string_view>

#include "analyzer/trend/rule.hpp"

/// The sentence that stands beside a verdict.
namespace snapdiff::trend {

std::string reason_growing(const Findings& found, std::string_view unit);
std::string reason_rising(const Findings& found);
std::string reason_saturating(const Findings& found);
std::string reason_step(const Findings& found, std::string_view unit);
std::string reason_shrinking(const Findings& found, std::string_view unit);
std::string reason_noisy(const Findings& found, std::string_view unit);
std::string reason_flat(const Findings& found);

/// A slope or change in the unit of the values, rounded to a whole one: "2.92 MiB".
std::string amount(double value, std::string_view unit);

}  // namespace snapdiff::trend
