#include "formats/heap_text/heap_text_importers.hpp"
#include "fuzz/heap_text_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kImporter = snapdiff::formats::make_symbolized_importer();
  snapdiff::test::fuzz_importer(*kImporter, data, size);
  return 0;
}
