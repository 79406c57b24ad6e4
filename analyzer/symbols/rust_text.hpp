#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace snapdiff::symbols {

void append_utf8(std::string& out, std::uint32_t code);

/// RFC 3492 with '_' as its delimiter; false when the text is no Punycode.
bool append_punycode(std::string& out, std::string_view text);

}  // namespace snapdiff::symbols
