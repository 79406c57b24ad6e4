#include "formats/v8/allocation_traces.hpp"

namespace snapdiff::formats::v8 {
namespace {

/// The root, 64 frames of an allocation and their empty list: v8/src/profiler/allocation-tracker.h,
/// kMaxAllocationTraceLength. Each level is one call of the reader.
constexpr std::size_t kMostLevels = 64 + 2;

}  // namespace

void AllocationTraces::add(std::uint32_t kind, std::uint64_t trace, std::int64_t bytes) {
  if (trace == 0) return;
  const std::uint64_t hash = mix64(trace ^ mix64(kind));
  std::uint32_t row =
      index_.find(hash, [&](std::uint32_t r) { return sums_[r].kind == kind && sums_[r].trace == trace; });
  if (row == HashIndex::kAbsent) {
    row = static_cast<std::uint32_t>(sums_.size());
    sums_.push_back({kind, trace, 0, 0});
    index_.insert(hash, row);
  }
  ++sums_[row].count;
  sums_[row].bytes += bytes;  // a part of a sum that fits
}

std::int32_t AllocationTraces::position(std::uint64_t value) {
  return value <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(value) : 0;
}

/// [id, function_info_index, count, size, [children...], id, ...]
void AllocationTraces::read_children(json::JsonScanner& json, std::uint32_t parent, std::size_t depth) {
  constexpr std::size_t kFields = 5, kId = 0, kFunction = 1, kChildren = 4;
  json.check_depth(depth, kMostLevels);
  std::uint64_t id = 0, function = 0;
  json.each_item([&](std::size_t i) {
    const std::size_t field = i % kFields;
    if (field != kChildren) {
      const std::uint64_t value = json.number();
      if (field == kId) id = value;
      if (field == kFunction) function = value;
      return;
    }
    const std::uint64_t offset = json.offset();
    const std::uint32_t row = ids_.intern(id);
    if (row < nodes_.size()) fail_malformed("trace_tree: id " + std::to_string(id) + " is there twice", offset);
    nodes_.push_back({function, parent});
    read_children(json, row, depth + 1);
  });
}

}  // namespace snapdiff::formats::v8
