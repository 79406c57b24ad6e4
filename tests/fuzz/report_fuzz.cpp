// Made for one importer at a time: reports.cmake says which.
#include SNAPDIFF_FUZZ_HEADER

#include "fuzz/heap_text_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kImporter = snapdiff::formats::SNAPDIFF_FUZZ_MAKE();
  snapdiff::test::fuzz_importer(*kImporter, data, size);
  return 0;
}
