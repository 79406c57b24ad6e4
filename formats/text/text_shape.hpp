#pragma once

#include <string>
#include <string_view>

namespace snapdiff::formats::text {

/// A guess at text of an unknown kind, and the formats of that kind: "a log with times; GC logs, … are read".
/// "" without a guess.
std::string shape_hint(std::string_view head);

/// The same of JSON: its first keys.
std::string keys_hint(std::string_view head);

}  // namespace snapdiff::formats::text
