#pragma once

#include "analyzer/cli/terminal.hpp"
#include "analyzer/session/recording.hpp"

namespace snapdiff::cli {

/// Waits for the commit and says on stderr what it did. Returns the exit code that the storing alone deserves.
int finish(session::Recording& recording, const Terminal& terminal);

}  // namespace snapdiff::cli
