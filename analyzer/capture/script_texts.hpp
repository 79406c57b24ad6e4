#pragma once

#include <string_view>

namespace snapdiff::capture {

/// A file of scripts/, which the program finds in its environment. The build makes this of the files.
std::string_view script_text(std::string_view name);

}  // namespace snapdiff::capture
