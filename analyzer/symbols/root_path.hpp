#pragma once

#include <string>
#include <string_view>

namespace snapdiff::symbols {

/// Where `path` leads for a process whose root is the folder `root`, as chroot has it: ".." ends at the root, and a
/// link with an absolute target is followed below it. Never a path outside; what is missing stays as it is written.
/// "" where more than 40 links are in the way.
std::string path_below(const std::string& root, std::string_view path);

}  // namespace snapdiff::symbols
