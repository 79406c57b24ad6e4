#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/base/large_pages.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::formats::memray {

inline constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

struct Block {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::uint32_t row = kNoRow;  ///< of the recording; kNoRow: no block
};

/// Live blocks by address: open addressing without marks for what is gone, since most blocks go soon.
class LiveBlocks {
 public:
  /// Puts a block; returns the one that was at its address.
  Block put(const Block& block) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow();
    Block& slot = slots_[place(block.address)];
    if (slot.row == kNoRow) ++used_;
    return std::exchange(slot, block);
  }

  /// Takes the block at this address away; its row is kNoRow where there is none.
  Block take(std::uint64_t address) {
    if (slots_.empty()) return {};
    std::size_t hole = place(address);
    const Block taken = slots_[hole];
    if (taken.row == kNoRow) return taken;
    --used_;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = (hole + 1) & mask; slots_[i].row != kNoRow; i = (i + 1) & mask) {
      // A block may move to the hole unless its own place lies behind it.
      const std::size_t home = keyed_hash(slots_[i].address) & mask;
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
    return taken;
  }

 private:
  using Slots = std::vector<Block, LargePages<Block>>;

  std::size_t place(std::uint64_t address) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = keyed_hash(address) & mask;
    while (slots_[i].row != kNoRow && slots_[i].address != address) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    const Slots old = std::exchange(slots_, Slots(std::max<std::size_t>(1024, slots_.size() * 2)));
    for (const Block& block : old) {
      if (block.row != kNoRow) slots_[place(block.address)] = block;
    }
  }

  Slots slots_;
  std::size_t used_ = 0;
};

/// Live mappings by range. One over another hides it, and both count: memray never sees that the kernel replaced the
/// older one. Each layer holds ranges that do not overlap.
class LiveRanges {
 public:
  static constexpr std::size_t kMostLayers = 64;

  /// `changed(row, ranges, bytes)` gets what an older mapping loses where more than kMostLayers lie over each other.
  template <class Changed>
  void add(std::uint64_t begin, std::uint64_t end, std::uint32_t row, Changed changed) {
    std::size_t layer = 0;
    while (layer < layers_.size() && overlaps(layers_[layer], begin, end)) ++layer;
    if (layer == kMostLayers) remove_from(layers_[--layer], begin, end, changed);
    if (layer == layers_.size()) layers_.emplace_back();
    layers_[layer].emplace(begin, Range{end, row});
  }

  /// Unmaps a part of every mapping there; a mapping that is cut in two becomes two.
  template <class Changed>
  void remove(std::uint64_t begin, std::uint64_t end, Changed changed) {
    for (Layer& layer : layers_) remove_from(layer, begin, end, changed);
  }

 private:
  struct Range {
    std::uint64_t end;
    std::uint32_t row;
  };
  using Layer = std::map<std::uint64_t, Range>;

  /// The first range that ends behind `begin`.
  static Layer::iterator first_behind(Layer& layer, std::uint64_t begin) {
    auto at = layer.upper_bound(begin);
    if (at != layer.begin() && std::prev(at)->second.end > begin) --at;
    return at;
  }
  static bool overlaps(Layer& layer, std::uint64_t begin, std::uint64_t end) {
    const auto at = first_behind(layer, begin);
    return at != layer.end() && at->first < end;
  }
  template <class Changed>
  static void remove_from(Layer& layer, std::uint64_t begin, std::uint64_t end, Changed changed) {
    for (auto at = first_behind(layer, begin); at != layer.end() && at->first < end;) {
      const auto [start, range] = *at;
      at = layer.erase(at);
      std::int64_t ranges = -1;
      if (start < begin) ++ranges, layer.emplace(start, Range{begin, range.row});
      if (range.end > end) ++ranges, at = layer.emplace(end, range).first;
      changed(range.row, ranges, static_cast<std::int64_t>(std::min(end, range.end) - std::max(begin, start)));
    }
  }

  std::vector<Layer> layers_;
};

}  // namespace snapdiff::formats::memray
