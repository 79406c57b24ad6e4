// A program for test_naming.py: prints the stacks of two allocation sites as return addresses, and
// where its modules lie. What is at the addresses is left to addr2line.
#include <execinfo.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

namespace service {

__attribute__((noinline)) int print_stack(const char* site) {
  void* frames[32];
  const int count = backtrace(frames, 32);
  std::printf("stack %s", site);
  for (int i = 1; i < count; ++i) std::printf(" %p", frames[i]);
  std::printf("\n");
  return count;
}

// Two calls deep in the code of whoever calls it.
__attribute__((always_inline)) inline int allocate_body(const char* site) { return print_stack(site) + 1; }
__attribute__((always_inline)) inline int make_session(const char* site) { return allocate_body(site) + 1; }

template <class Key>
struct Cache {
  __attribute__((noinline)) int insert(Key key) { return make_session("insert") + static_cast<int>(key); }
};

__attribute__((noinline)) int log_line(int level) { return print_stack("log") + level; }

__attribute__((noinline)) int handle_request(int number) {
  Cache<long> cache;
  const int kept = cache.insert(number);
  return kept + log_line(number) + 1;
}

}  // namespace service

int main() {
  const int sum = service::handle_request(1) + 1;
  std::fflush(stdout);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) std::cout << line << '\n';
  return sum > 0 ? 0 : 1;
}
