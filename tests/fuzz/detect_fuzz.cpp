// Whatever bytes: peeled, and taken by one importer or refused in one line; nothing is read beyond the head.
// Reading on is what import_fuzz and the readers' own targets do.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/input/open_input.hpp"
#include "formats/registry.hpp"
#include "fuzz/fuzz_targets.hpp"

using namespace snapdiff;

void snapdiff::test::fuzz_detect(const std::uint8_t* data, std::size_t size) {
  formats::InputOptions options;
  options.max_input_bytes = 4 << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto opened = formats::OpenedInput::open_bytes(bytes, "fuzz.0001.heap", options);
  if (!opened) {
    if (opened.error().code == ErrorCode::internal) std::abort();
    return;
  }
  const formats::OpenedInput& input = **opened;
  const auto importer = formats::detect(input.head(), input.head_is_all());
  if (importer) return;
  const Error& error = importer.error();
  if (error.code == ErrorCode::internal || error.message.empty() || error.message.find('\n') != std::string::npos)
    std::abort();
}
