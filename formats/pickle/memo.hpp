#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::formats::pickle {

/// The memo: what each slot holds, as a code of 32 bits that Machine gives meaning to.
///
/// A file of 1 GB has some 30 million slots, most of which are never fetched. Slots come in chunks
/// of 4096. The first chunks (keys and most frames) and the newest ones are plain arrays; the others
/// are packed: two bits a slot say "nothing", one of the chunk's two commonest codes, or "see the
/// list", where codes have as many bytes as the largest of the chunk needs. Measured: 0.6 to 1.3
/// bytes a slot, where plain codes are 4 and Python's pickle needs a pointer of 8.
class Memo {
 public:
  static constexpr std::uint32_t kNothing = 0;  ///< the code of slots that are not worth their bytes
  static constexpr std::uint32_t kUnset = 7;

  std::uint64_t size() const { return size_; }

  void append(std::uint32_t code) {
    if (used_ == kChunk) begin_chunk();
    newest_[used_++] = code;
    ++size_;
  }

  /// kUnset where there is none. Open containers have codes too, see replace().
  std::uint32_t get(std::uint64_t slot) const {
    const std::size_t chunk = static_cast<std::size_t>(slot / kChunk);
    if (chunk < kPlain && chunk < chunks_.size() && slot < size_) return chunks_[chunk].plain[slot % kChunk];
    return get_later(slot);
  }

  /// Another code for a slot that exists.
  void replace(std::uint64_t slot, std::uint32_t code);

  /// A slot beyond size(): writers number their slots in order, so this is for foreign ones. False
  /// when there are too many of them: an index is 5 bytes, and must not cost an array up to there.
  bool set_far(std::uint64_t slot, std::uint32_t code);
  bool has_far(std::uint64_t slot) const { return !far_.empty() && far_.count(slot) != 0; }

  /// Codes for which this holds must stay replaceable when their chunk is packed.
  static bool is_open(std::uint32_t code) { return (code & 7) == 6; }

  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  static constexpr std::size_t kChunk = 4096;
  static constexpr std::size_t kPlain = 32;  // first chunks, 512 KiB: never packed
  static constexpr std::size_t kRecent = 8;  // newest chunks: not yet packed
  static constexpr std::size_t kMostFar = 1 << 16;

  /// 64 slots: two bit planes and the number of listed codes before them.
  struct Word {
    std::uint64_t listed_or_second = 0;
    std::uint64_t listed_or_first = 0;
    std::uint32_t rank = 0;
  };
  struct Packed {
    Word words[kChunk / 64];
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::uint8_t width = 0;
    std::unique_ptr<std::uint8_t[]> list;
  };
  struct Chunk {
    std::unique_ptr<std::uint32_t[]> plain;
    std::unique_ptr<Packed> packed;
  };

  void begin_chunk();
  void pack(std::size_t chunk);
  std::uint32_t get_later(std::uint64_t slot) const;
  static std::uint32_t unpack(const Packed& packed, std::size_t at);

  std::vector<Chunk> chunks_;
  std::uint32_t* newest_ = nullptr;
  std::size_t used_ = kChunk;
  std::uint64_t size_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> late_;  // of packed chunks: open when they were packed
  std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> far_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace snapdiff::formats::pickle
