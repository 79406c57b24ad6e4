// libFuzzer's entry. SNAPDIFF_FUZZ_TARGET names the target: libFuzzer has the command line for itself.
#include <cstdlib>

#include "fuzz/fuzz_targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const kTarget = std::getenv("SNAPDIFF_FUZZ_TARGET");
  snapdiff::test::run_target(kTarget == nullptr ? "" : kTarget, data, size);
  return 0;
}
