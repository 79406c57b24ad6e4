#include "formats/pickle/memo.hpp"

namespace snapdiff::formats::pickle {
namespace {

/// The two codes that more than a third of the candidates have, if there are such.
class Commonest {
 public:
  void add(std::uint32_t code) {
    if (code == first_) {
      ++first_votes_;
    } else if (code == second_) {
      ++second_votes_;
    } else if (first_votes_ == 0) {
      first_ = code;
      first_votes_ = 1;
    } else if (second_votes_ == 0) {
      second_ = code;
      second_votes_ = 1;
    } else {
      --first_votes_;
      --second_votes_;
    }
  }
  std::uint32_t first() const { return first_; }
  std::uint32_t second() const { return second_; }

 private:
  std::uint32_t first_ = Memo::kUnset;
  std::uint32_t second_ = Memo::kUnset;
  int first_votes_ = 0;
  int second_votes_ = 0;
};

}  // namespace

void Memo::begin_chunk() {
  if (chunks_.size() >= kPlain + kRecent) pack(chunks_.size() - kRecent);
  Chunk chunk;
  chunk.plain = std::make_unique_for_overwrite<std::uint32_t[]>(kChunk);
  newest_ = chunk.plain.get();
  used_ = 0;
  chunks_.push_back(std::move(chunk));
  memory_bytes_ += kChunk * sizeof(std::uint32_t) + sizeof(Chunk);
}

void Memo::pack(std::size_t number) {
  Chunk& chunk = chunks_[number];
  Commonest common;
  for (std::size_t i = 0; i < kChunk; ++i) {
    std::uint32_t& code = chunk.plain[i];
    if (is_open(code)) {
      late_[number * kChunk + i] = code;
      code = kNothing;
    }
    if (code != kNothing) common.add(code);
  }
  auto packed = std::make_unique<Packed>();
  packed->first = common.first();
  packed->second = common.second();
  std::uint32_t listed = 0;
  std::uint32_t all_bits = 0;
  for (std::size_t i = 0; i < kChunk; ++i) {
    Word& word = packed->words[i / 64];
    if (i % 64 == 0) word.rank = listed;
    const std::uint32_t code = chunk.plain[i];
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    if (code == kNothing) continue;
    if (code == packed->first) {
      word.listed_or_first |= bit;
    } else if (code == packed->second) {
      word.listed_or_second |= bit;
    } else {
      word.listed_or_first |= bit;
      word.listed_or_second |= bit;
      all_bits |= code;
      chunk.plain[listed++] = code;  // listed <= i: what is overwritten has been read
    }
  }
  packed->width = static_cast<std::uint8_t>((std::bit_width(all_bits) + 7) / 8);
  packed->list = std::make_unique_for_overwrite<std::uint8_t[]>(listed * packed->width + 4);
  for (std::uint32_t i = 0; i < listed; ++i)
    std::memcpy(packed->list.get() + i * packed->width, &chunk.plain[i], packed->width);
  memory_bytes_ += sizeof(Packed) + listed * packed->width + 4;
  memory_bytes_ -= kChunk * sizeof(std::uint32_t);
  chunk.plain.reset();
  chunk.packed = std::move(packed);
}

std::uint32_t Memo::unpack(const Packed& packed, std::size_t at) {
  const Word& word = packed.words[at / 64];
  const std::uint64_t bit = std::uint64_t{1} << (at % 64);
  const bool first = (word.listed_or_first & bit) != 0;
  const bool second = (word.listed_or_second & bit) != 0;
  if (!first) return second ? packed.second : kNothing;
  if (!second) return packed.first;
  const std::uint64_t listed = word.listed_or_first & word.listed_or_second & (bit - 1);
  const std::size_t row = word.rank + static_cast<std::size_t>(std::popcount(listed));
  std::uint32_t code = 0;
  std::memcpy(&code, packed.list.get() + row * packed.width, packed.width);
  return code;
}

std::uint32_t Memo::get_later(std::uint64_t slot) const {
  if (slot >= size_) {
    const auto found = far_.find(slot);
    return found == far_.end() ? kUnset : found->second;
  }
  const Chunk& chunk = chunks_[static_cast<std::size_t>(slot / kChunk)];
  const std::size_t at = static_cast<std::size_t>(slot % kChunk);
  if (chunk.plain != nullptr) return chunk.plain[at];
  const std::uint32_t code = unpack(*chunk.packed, at);
  if (code == kNothing && !late_.empty()) {
    const auto found = late_.find(slot);
    if (found != late_.end()) return found->second;
  }
  return code;
}

void Memo::replace(std::uint64_t slot, std::uint32_t code) {
  if (slot >= size_) {
    far_[slot] = code;
    return;
  }
  Chunk& chunk = chunks_[static_cast<std::size_t>(slot / kChunk)];
  if (chunk.plain != nullptr) {
    chunk.plain[slot % kChunk] = code;
  } else if (code == kNothing) {
    late_.erase(slot);
  } else {
    late_[slot] = code;
  }
}

bool Memo::set_far(std::uint64_t slot, std::uint32_t code) {
  if (far_.size() >= kMostFar) return false;
  far_[slot] = code;
  return true;
}

}  // namespace snapdiff::formats::pickle
