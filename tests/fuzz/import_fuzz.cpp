// Whatever bytes, the whole way: peeled, detected and imported, or refused.
#include <cstdint>
#include <string_view>

#include "formats/registry.hpp"
#include "fuzz/fuzz_targets.hpp"

void snapdiff::test::fuzz_import(const std::uint8_t* data, std::size_t size) {
  snapdiff::formats::ReadOptions options;
  options.max_input_bytes = 4 << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = snapdiff::formats::read_bytes(bytes, "fuzz.0001.heap", options);
  if (!read && read.error().code == snapdiff::ErrorCode::internal) __builtin_trap();
}
