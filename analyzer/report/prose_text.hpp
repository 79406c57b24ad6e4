#pragma once

#include <string>

#include "snapdiff/story.hpp"

namespace snapdiff::report {

/// A run of prose with its names made printable. Typographic signs of numbers become ASCII ones, so that a
/// pasted number parses; without `utf8` all others do too.
std::string plain_text(const Prose& prose, bool utf8 = true);
std::string plain_text(const Span& span, bool utf8 = true);

}  // namespace snapdiff::report
