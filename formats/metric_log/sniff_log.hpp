#pragma once

#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::metric_log {

/// Whether these first bytes of a log hold metric lines. Certain when a tracker's own line, table or
/// dictionary is there, or two lines that people write; only possible when signs of a text format with
/// rows stand among them, since that says more.
Match sniff_log(std::string_view head);

}  // namespace snapdiff::formats::metric_log
