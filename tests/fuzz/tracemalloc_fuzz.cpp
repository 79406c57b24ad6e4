// Any bytes through the importers of tracemalloc's dumps and printed lists: the same in every window.
#include "formats/tracemalloc/tracemalloc_importers.hpp"
#include "fuzz/heap_text_fuzz.hpp"

using namespace snapdiff;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kDump = formats::make_tracemalloc_importer();
  static const auto kText = formats::make_tracemalloc_text_importer();
  test::fuzz_importer(size > 0 && (data[0] == 0x80 || data[0] == 'c') ? *kDump : *kText, data, size);
  return 0;
}
