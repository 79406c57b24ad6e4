#include "formats/valgrind/valgrind_importers.hpp"
#include "fuzz/heap_text_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kImporter = snapdiff::formats::make_massif_importer();
  snapdiff::test::fuzz_importer(*kImporter, data, size);
  return 0;
}
