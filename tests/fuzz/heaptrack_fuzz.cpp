// Any bytes as a recording: the end, the peak and cuts in between must hold together.
#include "formats/input/all_formats.hpp"
#include "fuzz/fuzz_format.hpp"
#include "fuzz/fuzz_targets.hpp"

using namespace snapdiff;

namespace {

std::int64_t total(const Snapshot& snapshot) {
  std::int64_t sum = 0;
  for (const std::int64_t value : snapshot.column("inuse_space")->value) sum += value;
  return sum;
}

}  // namespace

void snapdiff::test::fuzz_heaptrack(const std::uint8_t* data, std::size_t size) {
  test::fuzz_format(formats::kHeaptrack, data, size);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::int64_t end = -1;
  for (const char* const point : {"end", "peak", "every:3", "every:10ms"}) {
    test::MemoryInput in(bytes, 1 + size % 61);
    SnapshotList list;
    const Status status = formats::kHeaptrack.read(in, list, {.point = point});
    if (!status) {
      if (status.error().code == ErrorCode::internal) std::abort();
      continue;
    }
    if (list.snapshots.empty()) std::abort();
    const Snapshot& last = list.snapshots.back();
    const bool is_peak = point[0] == 'p';
    if (end < 0) end = total(last);
    // The same end whichever way it is reached; a peak holds what its counter says.
    if (!is_peak && total(last) != end) std::abort();
    if (is_peak && total(last) != last.facts.counters.front().value) std::abort();
  }
}
