#include "formats/pprof/id_map.hpp"

#include <algorithm>
#include <chrono>

#include "snapdiff/hash.hpp"

namespace snapdiff::formats::pprof {

namespace {

/// Differs from run to run, so that a file cannot choose ids that all fall into one slot; nothing
/// that is put out depends on it.
std::uint64_t fresh_seed() {
  const int here = 0;
  const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return mix64(now ^ mix64(reinterpret_cast<std::uintptr_t>(&here)));
}

}  // namespace

IdMap::IdMap(std::size_t expected) : dense_(expected * 2 + 64, kAbsent), seed_(fresh_seed()) {}

bool IdMap::insert(std::uint64_t id, std::uint32_t row) {
  if (id < dense_.size()) {
    std::uint32_t& place = dense_[static_cast<std::size_t>(id)];
    if (place != kAbsent) return false;
    place = row;
    return true;
  }
  if ((used_ + 1) * 2 > slots_.size()) grow();
  Slot& slot = slots_[slot_of(id)];
  if (slot.row != kAbsent) return false;
  slot = {id, row};
  ++used_;
  return true;
}

std::uint32_t IdMap::find_sparse(std::uint64_t id) const { return slots_[slot_of(id)].row; }

/// The slot of `id`, or the empty one where it belongs.
std::size_t IdMap::slot_of(std::uint64_t id) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = mix64(id ^ seed_) & mask;
  while (slots_[i].row != kAbsent && slots_[i].id != id) i = (i + 1) & mask;
  return i;
}

void IdMap::grow() {
  std::vector<Slot> old(std::max<std::size_t>(64, slots_.size() * 2));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.row != kAbsent) slots_[slot_of(slot.id)] = slot;
  }
}

}  // namespace snapdiff::formats::pprof
