#include "formats/heap_text/raw_stacks.hpp"

#include <algorithm>

#include "snapdiff/checked.hpp"

namespace snapdiff::formats::heap_text {

bool checked_add(Values& a, const Values& b) {
  return snapdiff::checked_add(a.inuse_objects, b.inuse_objects, a.inuse_objects) &&
         snapdiff::checked_add(a.inuse_space, b.inuse_space, a.inuse_space) &&
         snapdiff::checked_add(a.alloc_objects, b.alloc_objects, a.alloc_objects) &&
         snapdiff::checked_add(a.alloc_space, b.alloc_space, a.alloc_space);
}

bool RawStacks::add(std::span<const std::uint32_t> frames, const Values& values) {
  // Keyed, so that no input can be made whose stacks all fall into one slot.
  std::uint64_t hash = keyed_hash(frames.size());
  for (const std::uint32_t frame : frames) hash = (hash ^ frame) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
  hash = mix64(hash);
  const std::uint32_t row = index_.find(hash, [&](std::uint32_t r) {
    const auto other = this->frames(r);
    return std::equal(frames.begin(), frames.end(), other.begin(), other.end());
  });
  if (row != HashIndex::kAbsent) return checked_add(values_[row], values);
  index_.insert(hash, static_cast<std::uint32_t>(size()));
  frame_.insert(frame_.end(), frames.begin(), frames.end());
  begin_.push_back(frame_.size());
  values_.push_back(values);
  return true;
}

}  // namespace snapdiff::formats::heap_text
