#pragma once

#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::tracemalloc {

Match sniff_dump(std::string_view head);
Match sniff_text(std::string_view head);

}  // namespace snapdiff::formats::tracemalloc
