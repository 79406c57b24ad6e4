#pragma once

#include <cstdlib>  // says whether this is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace snapdiff {

/// Gives freed memory back to the system. The pieces of it lie between what is kept; a larger table that comes next
/// would take other memory beside them.
inline void give_free_memory_back() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace snapdiff
