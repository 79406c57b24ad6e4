#pragma once

namespace snapdiff::cli {

/// Has what is allocated from here on come out of one heap in large pages, from which nothing goes back to the system
/// before the end: most of the memory of a command is columns, made once and given up once, and a page fault for each
/// 4 KiB of them takes as long as the work on them. The threads of up to four cores share it: they wait for each other
/// less than heaps of their own would cost. Call it once, before there are threads. Does nothing where the memory of
/// the process is limited, and under a sanitizer.
void keep_heap_together();

/// Says in one line that memory ran out and ends the process, exit 2. Usable where nothing can be allocated.
[[noreturn]] void end_out_of_memory();

}  // namespace snapdiff::cli
