/* What libstdc++ of g++ 12 asks of a newer glibc, for programs that are linked with an older one (link_for_root.py). */
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

/* glibc 2.32: whether the process has one thread. "No" is always right; reference counts are atomic then. */
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

/* glibc 2.36: std::random_device. */
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
  }
  return value;
}
