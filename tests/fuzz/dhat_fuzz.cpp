#include "formats/valgrind/valgrind_importers.hpp"
#include "fuzz/heap_text_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kImporter = snapdiff::formats::make_dhat_importer();
  snapdiff::test::fuzz_importer(*kImporter, data, size);
  snapdiff::test::MemoryInput in(std::string_view(reinterpret_cast<const char*>(data), size));
  snapdiff::SnapshotList list;
  const snapdiff::Status status = kImporter->read_at(in, list, "peak");
  if (!status && status.error().code == snapdiff::ErrorCode::internal) std::abort();
  return 0;
}
