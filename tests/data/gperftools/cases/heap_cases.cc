// A known heap, told in every way that gperftools can tell it. Writes into the current folder:
//   cases.0001.heap  before the first free: both pairs of numbers are equal, so the file is two-valued
//   cases.0002.heap  after it: four-valued
//   growth.heap      the stacks that made the heap grow
//   sampled.heap     the sampler's estimate (TCMALLOC_SAMPLE_PARAMETER=65536)
#include <gperftools/heap-profiler.h>
#include <gperftools/malloc_extension.h>

#include <cstdio>
#include <cstdlib>
#include <string>

static char* kept[4096];
static int count = 0;

static inline __attribute__((always_inline)) void keep_block(std::size_t size) {
  char* block = new char[size];
  block[0] = 1;
  kept[count++] = block;
}
__attribute__((noinline)) void load_table() {
  for (int i = 0; i < 32; ++i) keep_block(1 << 20);
}
__attribute__((noinline)) void fill_cache() {
  for (int i = 0; i < 2000; ++i) keep_block(256);
}
__attribute__((noinline)) void drop_half() {
  for (int i = 32; i < count; i += 2) delete[] kept[i];
}
static void save(const char* path, const std::string& text) {
  std::FILE* file = std::fopen(path, "w");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

int main(int argc, char**) {
  if (argc > 1) {
    load_table();
    fill_cache();
    std::string text;
    MallocExtension::instance()->GetHeapGrowthStacks(&text);
    save("growth.heap", text);
    text.clear();
    MallocExtension::instance()->GetHeapSample(&text);
    save("sampled.heap", text);
    return 0;
  }
  HeapProfilerStart("cases");
  load_table();
  fill_cache();
  HeapProfilerDump("before the first free");
  drop_half();
  HeapProfilerDump("after it");
  std::_Exit(0);
}
