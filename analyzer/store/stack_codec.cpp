#include "analyzer/store/stack_codec.hpp"

#include <algorithm>
#include <bit>

#include "analyzer/store/radix_sort.hpp"

namespace snapdiff::store {

void StackChunkWriter::add(std::size_t shared, std::span<const std::uint32_t> own) {
  ++stacks_;
  frames_ += shared + own.size();
  put_varint(columns_[0], shared);
  put_varint(columns_[1], own.size());
  std::string& frames = columns_[2];
  for (const std::uint32_t frame : own) put_varint(frames, frame);
}

std::size_t common_prefix(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

std::string StackChunkWriter::finish(int level) {
  std::string blob = pack_columns(columns_, level);
  for (std::string& column : columns_) column.clear();
  stacks_ = 0;
  frames_ = 0;
  return blob;
}

StackChunkReader::StackChunkReader(std::string_view blob, std::size_t stacks) : stacks_(stacks) {
  const std::vector<std::string_view> columns = unpack_columns(blob, 3, buffer_);
  shared_column_ = ByteReader(columns[0]);
  own_column_ = ByteReader(columns[1]);
  frame_column_ = ByteReader(columns[2]);
  if (stacks_ == 0 || stacks_ > kChunkRows)
    fail(ErrorCode::malformed, std::to_string(stacks_) + " stacks, expected 1 to " + std::to_string(kChunkRows));
}

bool StackChunkReader::next() {
  if (done_ == stacks_) {
    shared_column_.expect_end();
    own_column_.expect_end();
    frame_column_.expect_end();
    return false;
  }
  ++done_;
  const std::size_t shared = shared_column_.below(last_depth_ + 1, "shared frames");
  const std::size_t own = own_column_.below(frame_column_.left() + 1, "frames of a stack");
  total_frames_ += shared + own;
  if (total_frames_ > kChunkFrames && stacks_ > 1)
    fail(ErrorCode::malformed, "more than " + std::to_string(kChunkFrames) + " frames");
  if (shared + own == 0) {
    depth_ = 0;
    shared_ = 0;
    return true;
  }
  shared_ = shared;
  depth_ = shared + own;
  last_depth_ = depth_;
  if (frames_.size() < depth_) frames_.resize(depth_);
  for (std::size_t i = shared; i < depth_; ++i) frames_[i] = frame_column_.below(0xffffffffU, "frame id");
  return true;
}

namespace {

constexpr std::size_t kAhead = 32;  // stacks to fetch from memory before their turn

struct Range {
  std::size_t begin;
  std::size_t end;
  std::size_t depth;
};

/// Keys hold the next frames of a stack, `count` of `bits` bits each, the root's on top; 0 after
/// the leaf.
struct Digits {
  unsigned bits = 1;
  unsigned count = 64;

  explicit Digits(std::uint32_t max_key) {
    while (bits < 32 && (max_key >> bits) != 0) ++bits;
    count = 64 / bits;
  }
  bool at_leaf(std::uint64_t key) const { return (key & ((std::uint64_t{1} << bits) - 1)) == 0; }
  /// How many digits two different keys share.
  std::uint32_t common(std::uint64_t a, std::uint64_t b) const {
    return count - 1 - static_cast<unsigned>(std::bit_width(a ^ b) - 1) / bits;
  }
};

}  // namespace

// Comparing whole stacks would follow two random pointers per comparison. Instead each round
// fetches the next frames of every stack that is still tied, sorts by them, and continues with the
// ties only.
std::vector<std::uint32_t> sort_root_first(std::vector<std::uint32_t>& stacks, std::span<const std::uint64_t> begin,
                                           std::span<const FrameId> frame, std::span<const std::uint32_t> key,
                                           std::uint32_t max_key) {
  const Digits digits(max_key);
  std::vector<Keyed> items(stacks.size());
  for (std::size_t i = 0; i < stacks.size(); ++i) items[i].row = stacks[i];
  std::vector<std::uint32_t> shared(stacks.size());
  std::vector<Keyed> spare;
  std::vector<Range> open{{0, items.size(), 0}};
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    const std::span<Keyed> tied = std::span(items).subspan(range.begin, range.end - range.begin);
    for (std::size_t i = 0; i < tied.size(); ++i) {
      // The stacks lie scattered over memory: ask for them some turns ahead.
      if (i + 2 * kAhead < tied.size()) __builtin_prefetch(&begin[tied[i + 2 * kAhead].row + 1]);
      if (i + kAhead < tied.size())
        __builtin_prefetch(frame.data() + begin[tied[i + kAhead].row + 1] - 1 - range.depth);
      const std::uint64_t leaf = begin[tied[i].row];
      std::uint64_t next = begin[tied[i].row + 1];
      next = next - leaf > range.depth ? next - range.depth : leaf;
      std::uint64_t packed = 0;
      for (unsigned digit = 0; digit < digits.count; ++digit) {
        packed <<= digits.bits;
        if (next != leaf) packed |= key[index_of(frame[--next])];
      }
      tied[i].key = packed;
    }
    sort_by_key(tied, spare);
    for (std::size_t i = 0; i < tied.size();) {
      if (i > 0)
        shared[range.begin + i] = static_cast<std::uint32_t>(range.depth) + digits.common(tied[i - 1].key, tied[i].key);
      std::size_t j = i + 1;
      while (j < tied.size() && tied[j].key == tied[i].key) ++j;
      if (j - i > 1 && !digits.at_leaf(tied[i].key))
        open.push_back({range.begin + i, range.begin + j, range.depth + digits.count});
      i = j;
    }
  }
  for (std::size_t i = 0; i < stacks.size(); ++i) stacks[i] = items[i].row;
  return shared;
}

}  // namespace snapdiff::store
