#include "formats/input/all_formats.hpp"
#include "fuzz/fuzz_format.hpp"
#include "fuzz/fuzz_targets.hpp"

void snapdiff::test::fuzz_dhat(const std::uint8_t* data, std::size_t size) {
  snapdiff::test::fuzz_format(snapdiff::formats::kDhat, data, size);
  snapdiff::test::MemoryInput in(std::string_view(reinterpret_cast<const char*>(data), size));
  snapdiff::SnapshotList list;
  const snapdiff::Status status = snapdiff::formats::kDhat.read(in, list, {.point = "peak"});
  if (!status && status.error().code == snapdiff::ErrorCode::internal) std::abort();
}
