#include "analyzer/store/stack_codec.hpp"

#include <algorithm>

#include "analyzer/store/column_chunk.hpp"

namespace snapdiff::store {

bool StackChunkWriter::add(std::span<const std::uint32_t> root_first) {
  if (stacks_ == kChunkRows || (stacks_ > 0 && frames_ + root_first.size() > kChunkFrames)) return false;
  ++stacks_;
  frames_ += root_first.size();
  if (root_first.empty()) {
    columns_[0].push_back('\0');
    columns_[1].push_back('\0');
    return true;
  }
  const std::size_t most = std::min(root_first.size(), last_.size());
  std::size_t shared = 0;
  while (shared < most && root_first[shared] == last_[shared]) ++shared;
  put_varint(columns_[0], shared);
  put_varint(columns_[1], root_first.size() - shared);
  std::string& frames = columns_[2];
  for (const std::uint32_t frame : root_first.subspan(shared)) put_varint(frames, frame);
  last_.resize(shared);
  last_.insert(last_.end(), root_first.begin() + static_cast<std::ptrdiff_t>(shared), root_first.end());
  return true;
}

std::string StackChunkWriter::finish(int level) {
  std::string blob = pack_columns(columns_, level);
  for (std::string& column : columns_) column.clear();
  last_.clear();
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

/// The next few frames of a stack, as many as fit, in one integer.
struct Keyed {
  std::uint64_t key;
  std::uint32_t stack;
};

struct Range {
  std::size_t begin;
  std::size_t end;
  std::size_t depth;
};

constexpr std::size_t kRadixFrom = 2048;

/// Stable least-significant-digit sort; skips digits in which all keys agree.
void radix_sort(std::span<Keyed> items, std::vector<Keyed>& spare) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  spare.resize(std::max(spare.size(), items.size()));
  std::uint64_t any = 0;
  for (const Keyed& item : items) any |= item.key ^ items[0].key;
  std::span<Keyed> from = items;
  std::span<Keyed> to = std::span(spare).first(items.size());
  for (unsigned shift = 0; shift < 64; shift += kBits) {
    if (((any >> shift) & (kBuckets - 1)) == 0) continue;
    std::size_t start[kBuckets] = {};
    for (const Keyed& item : from) ++start[(item.key >> shift) & (kBuckets - 1)];
    std::size_t sum = 0;
    for (std::size_t& bucket : start) sum += std::exchange(bucket, sum);
    for (const Keyed& item : from) to[start[(item.key >> shift) & (kBuckets - 1)]++] = item;
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::copy(from.begin(), from.end(), items.begin());
}

}  // namespace

// Comparing whole stacks would follow two random pointers per comparison. Instead each round
// fetches the next frames of every stack that is still tied, sorts by them, and goes on with the
// ties only.
void sort_root_first(std::vector<std::uint32_t>& stacks, std::span<const std::uint64_t> begin,
                     std::span<const FrameId> frame, std::span<const std::uint32_t> key, std::uint32_t max_key) {
  unsigned bits = 1;
  while (bits < 32 && (max_key >> bits) != 0) ++bits;
  const unsigned per_round = 64 / bits;
  std::vector<Keyed> items(stacks.size());
  for (std::size_t i = 0; i < stacks.size(); ++i) items[i].stack = stacks[i];
  std::vector<Keyed> spare;
  std::vector<Range> open{{0, items.size(), 0}};
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    const std::span<Keyed> tied = std::span(items).subspan(range.begin, range.end - range.begin);
    for (Keyed& item : tied) {
      const std::uint64_t first = begin[item.stack];
      std::uint64_t next = begin[item.stack + 1];
      next = next - first > range.depth ? next - range.depth : first;
      std::uint64_t packed = 0;
      for (unsigned i = 0; i < per_round; ++i) {
        packed <<= bits;
        if (next != first) packed |= key[index_of(frame[--next])];
      }
      item.key = packed;
    }
    if (tied.size() >= kRadixFrom) {
      radix_sort(tied, spare);
    } else {
      std::sort(tied.begin(), tied.end(),
                [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.stack < b.stack; });
    }
    const std::uint64_t last_digit = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    for (std::size_t i = 0; i < tied.size();) {
      std::size_t j = i + 1;
      while (j < tied.size() && tied[j].key == tied[i].key) ++j;
      const bool ended = (tied[i].key & last_digit) == 0;
      if (j - i > 1 && !ended) open.push_back({range.begin + i, range.begin + j, range.depth + per_round});
      i = j;
    }
  }
  for (std::size_t i = 0; i < stacks.size(); ++i) stacks[i] = items[i].stack;
}

}  // namespace snapdiff::store
