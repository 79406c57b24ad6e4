#include "formats/heap_text/raw_stacks.hpp"

#include <algorithm>
#include <chrono>

#include "snapdiff/checked.hpp"

namespace snapdiff::formats::heap_text {

std::uint64_t hash_seed() {
  static const int kAnchor = 0;  // its address moves with the process
  static const std::uint64_t kSeed =
      mix64(reinterpret_cast<std::uintptr_t>(&kAnchor)) ^
      mix64(static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  return kSeed;
}

void AddressTable::grow() {
  std::vector<Slot> old(std::max<std::size_t>(1024, slots_.size() * 2));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.row == kEmpty) continue;
    std::size_t i = slot_of(slot.address);
    while (slots_[i].row != kEmpty) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }
}

bool checked_add(Values& a, const Values& b) {
  return snapdiff::checked_add(a.inuse_objects, b.inuse_objects, a.inuse_objects) &&
         snapdiff::checked_add(a.inuse_space, b.inuse_space, a.inuse_space) &&
         snapdiff::checked_add(a.alloc_objects, b.alloc_objects, a.alloc_objects) &&
         snapdiff::checked_add(a.alloc_space, b.alloc_space, a.alloc_space);
}

std::uint64_t RawStacks::hash_of(std::span<const std::uint32_t> frames) const {
  std::uint64_t hash = seed_ ^ frames.size();
  for (const std::uint32_t frame : frames) hash = (hash ^ frame) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
  return mix64(hash);
}

bool RawStacks::add(std::span<const std::uint32_t> frames, const Values& values) {
  const std::uint64_t hash = hash_of(frames);
  const std::uint32_t row = index_.find(hash, [&](std::uint32_t r) {
    const auto other = this->frames(r);
    return hash_[r] == hash && std::equal(frames.begin(), frames.end(), other.begin(), other.end());
  });
  if (row != HashIndex::kAbsent) return checked_add(values_[row], values);
  index_.insert(hash, static_cast<std::uint32_t>(size()));
  frame_.insert(frame_.end(), frames.begin(), frames.end());
  begin_.push_back(frame_.size());
  hash_.push_back(hash);
  values_.push_back(values);
  return true;
}

}  // namespace snapdiff::formats::heap_text
