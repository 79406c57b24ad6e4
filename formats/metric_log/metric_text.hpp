#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/base/contains.hpp"
#include "formats/text/quantity.hpp"
#include "formats/text/scan.hpp"

/// Small texts. Everything here is bounded by the view.
namespace snapdiff::formats::metric_log {

using namespace text;

/// Where `word`, given in lower case, is in `text` whatever its case; npos when nowhere.
std::size_t find_ignoring_case(std::string_view text, std::string_view word, std::size_t from = 0);

/// A whole number: an optional sign, decimal digits, nothing else. False beyond 64 bits, too.
bool parse_integer(std::string_view text, std::int64_t& out);

/// "name{key=value,...}" of a name that may have tags already; keys in order.
std::string with_tag(std::string_view name, std::string_view key, std::string_view value);
std::string with_tags(std::string_view name, std::initializer_list<std::pair<std::string_view, std::string_view>> tags);

}  // namespace snapdiff::formats::metric_log
