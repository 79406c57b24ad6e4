// Fills 64 MiB with blocks of 500 bytes and frees all but one in sixty-four: every second page is left with one block,
// so that malloc cannot return most of them. Before and after it writes status, smaps and malloc_info:
// g++ -O1 fragments.cc -o fragments && ./fragments
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

static void moment(const std::string& number) {
  std::ofstream("status." + number) << std::ifstream("/proc/self/status").rdbuf();
  std::ofstream("smaps." + number) << std::ifstream("/proc/self/smaps").rdbuf();
  std::FILE* file = std::fopen(("malloc_info." + number + ".xml").c_str(), "w");
  malloc_info(0, file);
  std::fclose(file);
}

int main() {
  std::vector<char*> blocks;
  blocks.reserve(std::size_t{64} << 11);
  moment("1");
  for (std::size_t i = 0; i < std::size_t{64} << 11; ++i) {
    blocks.push_back(static_cast<char*>(std::malloc(500)));
    std::memset(blocks.back(), 1, 500);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i % 64 != 0) std::free(blocks[i]);
  }
  moment("2");
  return blocks[0][0] - 1;
}
