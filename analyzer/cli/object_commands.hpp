#pragma once

#include "analyzer/cli/commands.hpp"

/// Commands about object graphs.
namespace snapdiff::cli {

int run_retained(const Arguments& arguments);
int run_paths(const Arguments& arguments);

}  // namespace snapdiff::cli
