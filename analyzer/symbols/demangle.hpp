#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/symbols/symbols.hpp"

namespace snapdiff::symbols {

/// demangle() of symbols.hpp; adds to `written` the characters that decoding made, which hostile names
/// make many.
std::string demangle(std::string_view linker_name, Demangle how, std::uint64_t& written);

}  // namespace snapdiff::symbols
