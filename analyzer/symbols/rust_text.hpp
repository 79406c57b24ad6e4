#pragma once

#include <string>
#include <string_view>

#include "analyzer/base/printable.hpp"

namespace snapdiff::symbols {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/// RFC 3492 with '_' as its delimiter; false for invalid Punycode.
bool append_punycode(std::string& out, std::string_view text);

}  // namespace snapdiff::symbols
