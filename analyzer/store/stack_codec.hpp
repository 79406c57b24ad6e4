#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/store/bytes.hpp"
#include "analyzer/store/column_chunk.hpp"
#include "snapdiff/ids.hpp"

/// Stack chunks: runs of stacks as frame ids of the store (README.md, "Stack chunks"). A chunk
/// holds consecutive stack ids in root-first order, so that a stack shares its beginning with the
/// one before.
namespace snapdiff::store {

/// A chunk is closed before it would hold more frames than this, prefixes written out; only a
/// chunk of a single stack may. Bounds what a small damaged chunk can expand to.
inline constexpr std::size_t kChunkFrames = 4 * 1024 * 1024;

/// Frame ids, root first. An empty stack is a hole: an id that is no longer in use.
class StackChunkWriter {
 public:
  bool has_room(std::size_t depth) const {
    return stacks_ == 0 || (stacks_ < kChunkRows && frames_ + depth <= kChunkFrames);
  }
  /// A stack of `shared` frames of the last one other than a hole, then `own`. Needs has_room().
  void add(std::size_t shared, std::span<const std::uint32_t> own);
  std::size_t stacks() const { return stacks_; }
  /// The blob; ready for the next chunk afterwards, where nothing is shared yet.
  std::string finish(int level);

 private:
  std::string columns_[3];  // shared, own, frames
  std::size_t stacks_ = 0;
  std::size_t frames_ = 0;
};

/// The frames that two runs have in common at their beginning.
std::size_t common_prefix(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

/// Walks the stacks of one chunk.
class StackChunkReader {
 public:
  /// Throws malformed.
  StackChunkReader(std::string_view blob, std::size_t stacks);
  std::size_t stacks() const { return stacks_; }

  /// Moves to the next stack; false at the end. Throws malformed.
  bool next();
  /// The current stack's frame ids, root first; empty for a hole.
  std::span<const std::uint32_t> root_first() const { return std::span(frames_).first(depth_); }
  /// How many of them, from the root, are those of the last stack that was not a hole.
  std::size_t shared() const { return shared_; }

 private:
  std::string buffer_;
  ByteReader shared_column_{{}};
  ByteReader own_column_{{}};
  ByteReader frame_column_{{}};
  std::vector<std::uint32_t> frames_;
  std::size_t last_depth_ = 0;
  std::size_t depth_ = 0;
  std::size_t shared_ = 0;
  std::size_t stacks_ = 0;
  std::size_t done_ = 0;
  std::size_t total_frames_ = 0;
};

/// Calls `visit(id, reader)` for each stack of a stored chunk, holes too. Failures name the chunk.
template <class Visit>
void for_each_stack(std::string_view blob, std::uint32_t first_id, std::size_t stacks, Visit visit) {
  naming("stack chunk " + std::to_string(first_id), [&] {
    StackChunkReader in(blob, stacks);
    if (first_id == 0 || first_id > 0xffffffffU - stacks) fail(ErrorCode::malformed, "stack ids out of range");
    for (std::uint32_t id = first_id; in.next(); ++id) visit(id, in);
  });
}

/// Puts `stacks` (rows of begin/frame, which is leaf first) in root-first order of key[frame]; keys
/// are greater than 0. Stacks that are the beginning of others come before them. Returns for each
/// in the new order how many frames, from the root, it shares with the one before.
std::vector<std::uint32_t> sort_root_first(std::vector<std::uint32_t>& stacks, std::span<const std::uint64_t> begin,
                                           std::span<const FrameId> frame, std::span<const std::uint32_t> key,
                                           std::uint32_t max_key);

}  // namespace snapdiff::store
