#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "snapdiff/checked.hpp"
#include "snapdiff/hash_index.hpp"

/// Rows as they come, before the memory map at the end of the file says what their addresses
/// mean. Memory is bounded by the distinct stacks: four bytes per frame and forty per stack.
namespace snapdiff::formats::heap_text {

/// Most frames that one stack may have.
inline constexpr std::size_t kMaxFrames = 1'000'000;

/// A number that differs from process to process, so that no input can be made whose addresses
/// or stacks all fall into one hash slot. It never shows in a result.
std::uint64_t hash_seed();

/// Numbers distinct addresses 0, 1, 2, … in order of first appearance.
class AddressTable {
 public:
  std::uint32_t intern(std::uint64_t address) {
    if ((addresses_.size() + 1) * 2 > slots_.size()) grow();
    for (std::size_t i = slot_of(address);; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (slot.row == kEmpty) {
        slot = {address, static_cast<std::uint32_t>(addresses_.size())};
        addresses_.push_back(address);
        return slot.row;
      }
      if (slot.address == address) return slot.row;
    }
  }
  /// Hint: intern(address) follows soon.
  void prefetch(std::uint64_t address) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[slot_of(address)]);
  }
  /// kEmpty when it was never interned.
  std::uint32_t find(std::uint64_t address) const {
    if (slots_.empty()) return kEmpty;
    for (std::size_t i = slot_of(address);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      if (slot.row == kEmpty || slot.address == address) return slot.row;
    }
  }
  const std::vector<std::uint64_t>& addresses() const { return addresses_; }

  static constexpr std::uint32_t kEmpty = HashIndex::kAbsent;

 private:
  struct Slot {
    std::uint64_t address = 0;
    std::uint32_t row = kEmpty;
  };
  std::size_t slot_of(std::uint64_t address) const { return mix64(address ^ seed_) & (slots_.size() - 1); }
  void grow();

  std::uint64_t seed_ = hash_seed();
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> addresses_;
};

/// The four numbers of a row, in file order.
struct Values {
  std::int64_t inuse_objects = 0;
  std::int64_t inuse_space = 0;
  std::int64_t alloc_objects = 0;
  std::int64_t alloc_space = 0;
  friend bool operator==(const Values&, const Values&) = default;
};

/// a += b; false when a sum leaves 64 bits (a is then half changed).
[[nodiscard]] bool checked_add(Values& a, const Values& b);

/// Distinct stacks with the sums of their rows, in order of first appearance.
class RawStacks {
 public:
  /// @param frames  row numbers of AddressTable, leaf first; may be empty
  /// Returns false when a sum leaves 64 bits.
  [[nodiscard]] bool add(std::span<const std::uint32_t> frames, const Values& values);

  /// Hint: so many frames may come. Reserved pages cost nothing until they are used; growing by
  /// doubling would touch each of them three times.
  void reserve_frames(std::size_t frames) { frame_.reserve(frames); }

  std::size_t size() const { return values_.size(); }
  std::size_t frame_count() const { return frame_.size(); }
  std::span<const std::uint32_t> frames(std::size_t stack) const {
    return std::span(frame_).subspan(begin_[stack], begin_[stack + 1] - begin_[stack]);
  }
  const Values& values(std::size_t stack) const { return values_[stack]; }

 private:
  std::uint64_t hash_of(std::span<const std::uint32_t> frames) const;

  std::uint64_t seed_ = hash_seed();
  std::vector<std::uint32_t> frame_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint64_t> hash_;
  std::vector<Values> values_;
  HashIndex index_;
};

}  // namespace snapdiff::formats::heap_text
