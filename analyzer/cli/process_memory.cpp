#include "analyzer/cli/process_memory.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <thread>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/spill.hpp"
#include "analyzer/cli/exit_codes.hpp"

// A sanitizer has an allocator of its own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SNAPDIFF_GLIBC_HEAP 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef SNAPDIFF_GLIBC_HEAP
#endif
#endif
// A static program draws nothing.
#if defined(SNAPDIFF_GLIBC_HEAP) && !defined(SNAPDIFF_STATIC)
#define SNAPDIFF_OWN_MALLOC 1
#endif

namespace snapdiff::cli {

void keep_heap_together() {
#ifdef SNAPDIFF_GLIBC_HEAP
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return;
  }
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return;
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
  // What a thread takes from a heap of its own is paid for page by page. A few threads do not wait for each other.
  ::mallopt(M_ARENA_MAX, static_cast<int>(1 + std::thread::hardware_concurrency() / 5));
  // Addresses alone: what is never written to takes no memory. Freed, it is what every later allocation is cut from.
  const std::size_t quarter = static_cast<std::size_t>(pages) / 4 * static_cast<std::size_t>(page);
  void* const heap = std::aligned_alloc(kHugePage, quarter / kHugePage * kHugePage);
  if (heap == nullptr) return;
  // The first ones stay small: a tiny input would pay for a large page of which it needs a part.
  constexpr std::size_t kSmall = 2 * kHugePage;
  if (quarter > kSmall) prefer_large_pages(static_cast<const char*>(heap) + kSmall, quarter - kSmall);
  std::free(heap);
#endif
}

void end_out_of_memory() {
  // Threads may run out of it at once: the first one says so and ends all of them.
  static std::atomic_flag told = ATOMIC_FLAG_INIT;
  while (told.test_and_set()) ::pause();
  constexpr char kText[] = "error: limit: out of memory; try fewer snapshots at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  ::_exit(kExitBadInput);
}

}  // namespace snapdiff::cli

#ifdef SNAPDIFF_GLIBC_HEAP

// Columns beyond --memory lie in a file.
void* operator new(std::size_t size) {
  if (size >= snapdiff::spill::kLarge) return snapdiff::spill::take(size);
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  if (!snapdiff::spill::give_back(memory)) std::free(memory);
}
void operator delete(void* memory, std::size_t size) noexcept {
  if (size < snapdiff::spill::kLarge || !snapdiff::spill::give_back(memory)) std::free(memory);
}

#endif

#ifdef SNAPDIFF_OWN_MALLOC

// Libraries of pictures and text do not look at what malloc gives them: without memory they write to address 0 or trap.
// What no machine has is left to whoever asks for it.
namespace {

constexpr std::size_t kNobodyHas = std::size_t{1} << 46;

void* checked(void* memory, std::size_t size) {
  if (memory == nullptr && size != 0 && size < kNobodyHas) snapdiff::cli::end_out_of_memory();
  return memory;
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);

__attribute__((visibility("default"))) void* malloc(std::size_t size) { return checked(__libc_malloc(size), size); }
__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = 0;  // refused by calloc itself
  return checked(__libc_calloc(count, size), bytes);
}
__attribute__((visibility("default"))) void* realloc(void* memory, std::size_t size) {
  return checked(__libc_realloc(memory, size), size);
}
/// GLib traps where a thread cannot be had; what is missing is nearly always the memory of its stack.
__attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                          void* (*run)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  const int code = create(thread, attributes, run, argument);
  if (code == EAGAIN || code == ENOMEM) snapdiff::cli::end_out_of_memory();
  return code;
}
}

#endif
