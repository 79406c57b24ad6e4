#pragma once

namespace snapdiff::cli {

/// Says in one line that memory ran out and ends the process, exit 2. Usable where nothing can be allocated.
[[noreturn]] void end_out_of_memory();

}  // namespace snapdiff::cli
