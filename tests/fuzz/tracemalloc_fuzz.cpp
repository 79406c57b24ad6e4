// Any bytes through the importers of tracemalloc's dumps and printed lists: the same in every window.
#include "formats/input/all_formats.hpp"
#include "fuzz/fuzz_format.hpp"
#include "fuzz/fuzz_targets.hpp"

using namespace snapdiff;

void snapdiff::test::fuzz_tracemalloc(const std::uint8_t* data, std::size_t size) {
  test::fuzz_format(size > 0 && (data[0] == 0x80 || data[0] == 'c') ? formats::kTracemalloc : formats::kTracemallocText,
                    data, size);
}
