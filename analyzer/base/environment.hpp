#pragma once

#include <string>
#include <string_view>

namespace snapdiff {

/// The value of a variable of the environment; "" where it is not set.
std::string_view environment(const char* name);

/// The file that a shell starts for `program`, a path or a name that is looked up in PATH; "" where there is none.
std::string program_file(std::string_view program);

}  // namespace snapdiff
