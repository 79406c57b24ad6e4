#pragma once

#include <cstdlib>  // says whether this is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace snapdiff {

/// Memory that was freed in pieces between what is kept goes back to the system: what is made next is larger than the
/// pieces, and takes other memory.
inline void give_free_memory_back() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace snapdiff
