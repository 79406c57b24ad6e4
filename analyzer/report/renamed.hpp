#pragma once

#include <string>
#include <vector>

#include "snapdiff/growth.hpp"

namespace snapdiff::report {

/// "renamed: Cache::put → Store::insert, 41 stacks": the functions under another name that most matched stacks hold.
std::string renamed_note(const std::vector<RenamedFunction>& renamed, bool utf8);

}  // namespace snapdiff::report
