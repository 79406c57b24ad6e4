#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {

/// Whether most of what two sides hold alone comes of other code: it goes through functions that lie in another file or
/// have another hash in their names, through lines that call one function before and another one after, or through
/// lines that call at once what they called through a third one. What one build does later it does from its lines.
/// `left_before`, `left_after`: entries of the side that the other one has not.
bool is_other_code(const Code& before, const Code& after, const std::vector<std::uint32_t>& left_before,
                   const std::vector<std::uint32_t>& left_after);

}  // namespace snapdiff::diff::rebuild
