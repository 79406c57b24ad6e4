#pragma once

#include "analyzer/base/snapshot_builder.hpp"

namespace snapdiff::formats::pickle {

/// What lists came out of, that were written as nothing but fetches from the memo. Slots never
/// change their meaning, so equal bytes are equal lists: one comparison instead of one step for
/// each item.
class RunCache {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{24} << 20;

  struct Entry {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::uint64_t bits = 0;
  };

  static std::uint64_t hash_of(std::string_view run) {
    std::uint64_t h = run.size() * 0x9e3779b97f4a7c15ULL;
    const char* p = run.data();
    std::size_t left = run.size();
    for (; left >= 8; left -= 8, p += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, p, 8);
      h = (h ^ word) * 0xd1342543de82ef95ULL;
      h ^= h >> 32;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, p, left);
    return mix64(h ^ word);
  }

  /// Null where the run is new.
  const Entry* find(std::string_view run, std::uint64_t hash) const {
    const std::uint32_t row = index_.find(hash, [&](std::uint32_t r) {
      const Entry& entry = entries_[r];
      return entry.size == run.size() && std::memcmp(bytes_.data() + entry.begin, run.data(), run.size()) == 0;
    });
    return row == HashIndex::kAbsent ? nullptr : &entries_[row];
  }

  void add(std::string_view run, std::uint64_t hash, std::uint64_t bits) {
    if (bytes_.size() + run.size() > kMostBytes || entries_.size() == kMostBytes / 32) return;
    index_.insert(hash, static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back({bytes_.size(), run.size(), bits});
    bytes_.append(run);
  }

 private:
  std::string bytes_;
  std::vector<Entry> entries_;
  HashIndex index_;
};

}  // namespace snapdiff::formats::pickle
