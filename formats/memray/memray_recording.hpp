#pragma once

#include <array>
#include <unordered_map>

#include "formats/input/number_rows.hpp"
#include "snapdiff/snapshot.hpp"

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

/// As file versions 12 and 13 number them; 0 is none.
inline constexpr std::array<std::string_view, 16> kAllocators{
    "",        "PYMALLOC_FREE", "PYMALLOC_MALLOC", "PYMALLOC_CALLOC", "PYMALLOC_REALLOC", "FREE",   "MALLOC",
    "REALLOC", "CALLOC",        "POSIX_MEMALIGN",  "ALIGNED_ALLOC",   "MEMALIGN",         "VALLOC", "PVALLOC",
    "MMAP",    "MUNMAP"};
inline constexpr std::uint8_t kPymallocFree = 1, kFree = 5, kMmap = 14, kMunmap = 15;
constexpr bool frees_a_block(std::uint8_t allocator) { return allocator == kPymallocFree || allocator == kFree; }

struct Code {
  StringId function{}, file{};
  std::string line_table;
  std::int32_t first_line = 0;
};

/// The number of the row that a table of this size gets next. Throws Failure: limit.
std::uint32_t new_row(std::size_t rows);

/// A Python frame. Before file version 12 it has its names and line itself, since then a code object and a place in it.
struct PythonFrame {
  std::uint32_t code = kNoRow;
  std::int32_t instruction = -1;
  StringId function{}, file{};
  std::int32_t line = 0;
};

/// A node of a tree of stacks: `what` is a row of the frames or an address. Parents come first; node 0 is the root.
template <class What>
struct Node {
  What what{};
  std::uint32_t parent = 0;
};

/// Allocations by one allocator in one thread at one stack.
struct Site {
  std::uint32_t python = 0, native = 0, thread = 0;  ///< nodes; the row of the thread's id
  std::uint8_t allocator = 0;
  std::uint64_t kept_peak = 0;  ///< the peak for which peak_count and peak_bytes were kept
  std::int64_t count = 0, bytes = 0;
  std::int64_t peak_count = 0, peak_bytes = 0;
  std::int64_t made_count = 0, made_bytes = 0;
};

struct Image {
  std::uint64_t end = 0, base = 0;  ///< of a loaded segment; base: where address 0 of its file lies
  std::uint32_t file = 0;           ///< row of Recording::files
  friend bool operator==(const Image&, const Image&) = default;
};

/// Everything that was read so far, but the events themselves, which are counted only.
struct Recording {
  // Of the header.
  std::uint32_t version = 0, python_version = 0;
  bool native = false, aggregated = false;
  std::uint64_t records = 0;  ///< allocations and frees; 0: the writer was killed
  std::int64_t start_ms = 0, end_ms = 0;
  std::uint64_t main_thread = 0, skipped_frames = 0;
  SnapshotFacts facts;

  StringTable strings;
  NumberRows code_ids, frame_ids, threads;
  std::vector<Code> codes;
  std::vector<PythonFrame> frames;
  std::vector<Node<std::uint32_t>> python{{}};
  std::vector<Node<std::uint64_t>> addresses{{}};
  std::unordered_map<std::uint64_t, std::string> thread_names;
  std::vector<std::string> files;
  std::map<std::uint64_t, Image> images;  ///< by start; a later one replaces what it overlaps
  std::vector<Site> sites;

  // Sums.
  std::array<std::int64_t, kAllocators.size()> allocations{};  ///< over the whole run
  std::int64_t allocated_bytes = 0;
  std::int64_t heap = 0, peak_heap = 0;
  std::uint64_t peaks = 1;  ///< events so far after which the heap was as large as never before
  std::int64_t time_ms = 0, peak_time_ms = 0;
  std::int64_t rss = 0, rss_peak = 0;

  /// Blocks come or go. Throws Failure: limit.
  void change(Site& site, std::int64_t count, std::int64_t bytes) {
    if (site.kept_peak != peaks) {
      site.kept_peak = peaks;
      site.peak_count = site.count;
      site.peak_bytes = site.bytes;
    }
    if (!checked_add(heap, bytes, heap)) too_many_bytes();
    site.count += count;
    site.bytes += bytes;
  }

  /// After each event: memray takes the last of equal peaks.
  void look_for_peak() {
    if (heap < peak_heap) return;
    peak_heap = heap;
    peak_time_ms = time_ms;
    ++peaks;
  }

  void add_image(std::uint64_t start, const Image& image);

 private:
  [[noreturn]] static void too_many_bytes();
};

/// The blocks that were live at the end or at the peak. Throws Failure: limit.
Snapshot make_snapshot(const Recording& recording, bool at_peak);

/// The line of the instructions in front of `end`, in bytes of the code.
struct LineRange {
  std::int64_t end = 0;
  std::int64_t line = 0;
};
std::vector<LineRange> lines_of(std::uint32_t python_version, const Code& code);
/// 0 where the table does not say it.
std::int64_t line_at(std::uint32_t python_version, const std::vector<LineRange>& lines, std::int32_t instruction);

}  // namespace snapdiff::formats::memray
