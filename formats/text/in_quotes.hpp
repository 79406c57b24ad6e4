#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace snapdiff::formats::text {

/// `text` for a message: in quotes, at most 60 bytes of it, what is not printable ASCII as \xNN.
std::string in_quotes(std::string_view text);

/// Throws Failure: malformed, "WHAT: found "FOUND", expected EXPECTED".
[[noreturn]] void fail_found(std::string_view what, std::string_view found, std::string_view expected,
                             std::uint64_t offset);

}  // namespace snapdiff::formats::text
