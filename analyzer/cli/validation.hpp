#pragma once

#include "analyzer/cli/options.hpp"

namespace snapdiff::cli {

/// Reads each operand, which must be a file, and prints what breaks the rules of its format: "FILE:LINE: RULE: TEXT".
/// Returns the exit code: 2 when a file is not valid or could not be read.
int validate_files(const Options& options);

}  // namespace snapdiff::cli
