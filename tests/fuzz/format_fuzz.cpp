// Any bytes through one format, whole and in windows; CMakeLists.txt says which.
#include "formats/registry.hpp"
#include "fuzz/fuzz_format.hpp"

using namespace snapdiff;

extern const char* const kFuzzedFormat;  // of the program this is linked into

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const formats::Format& kFormat = **formats::called(kFuzzedFormat);
  test::fuzz_format(kFormat, data, size);
  return 0;
}
