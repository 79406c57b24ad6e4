#pragma once

#include <string>
#include <string_view>

namespace snapdiff::report {

/// One gzip member without name and time: equal input, equal bytes.
std::string gzip(std::string_view bytes);

}  // namespace snapdiff::report
