#pragma once

#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/terminal.hpp"
#include "analyzer/session/recording.hpp"

namespace snapdiff::cli {

/// Waits for the commit and says on stderr what it did. Returns the exit code that the storing alone deserves.
int finish(session::Recording& recording, const Terminal& terminal);

/// Prints the answer, says what was noted and waits for the store: the end of a command that compares.
int answer_and_finish(const WriteAnswer& write, const report::Style& style, const session::Compared& compared,
                      const Options& options, session::Recording& recording, const Terminal& terminal);

}  // namespace snapdiff::cli
