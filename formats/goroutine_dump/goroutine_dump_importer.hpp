#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Stacks of all goroutines as Go prints them: /debug/pprof/goroutine?debug=2, SIGQUIT.
extern const Format kGoroutineDump;

}  // namespace snapdiff::formats
