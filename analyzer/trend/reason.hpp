#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/trend/rule.hpp"

/// The sentence that is beside a verdict.
namespace snapdiff::trend {

std::string reason_growing(const Findings& found, std::string_view unit);
std::string reason_rising(const Findings& found);
std::string reason_saturating(const Findings& found);
std::string reason_step(const Findings& found, std::string_view unit);
std::string reason_shrinking(const Findings& found, std::string_view unit);
std::string reason_noisy(const Findings& found, std::string_view unit);
std::string reason_flat(const Findings& found);

/// Jumps that each about double the value: how a growing hash table or vector looks. 0 when other
/// rises are among them.
std::size_t doublings(std::span<const double> values);

}  // namespace snapdiff::trend
