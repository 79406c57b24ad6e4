// Any bytes through the reader of torch.profiler's memory timelines.
#include "formats/torch_cuda/torch_cuda_importers.hpp"
#include "fuzz/heap_text_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kImporter = snapdiff::formats::make_torch_timeline_importer();
  snapdiff::test::fuzz_importer(*kImporter, data, size);
  return 0;
}
