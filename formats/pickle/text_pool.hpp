#pragma once

#include <array>

#include "analyzer/base/snapshot_builder.hpp"

namespace snapdiff::formats::pickle {

/// Texts, each once. Row numbers are given in order of first appearance, so that texts added first
/// can be recognised by number.
class TextPool {
 public:
  TextPool() { recent_.fill(HashIndex::kAbsent); }

  std::uint32_t intern(std::string_view text) {
    // The same few texts come again and again ("N/A", "alloc"): most are found by their first bytes.
    std::uint64_t start = text.size();
    std::memcpy(&start, text.data(), text.size() < 8 ? text.size() : 8);
    std::uint32_t& recent = recent_[mix(start ^ (std::uint64_t{text.size()} << 56)) % recent_.size()];
    if (recent != HashIndex::kAbsent && (*this)[recent] == text) return recent;
    const auto [row, is_new] =
        index_.intern(keyed_hash(text), size(), [&](std::uint32_t r) { return (*this)[r] == text; });
    if (is_new) {
      bytes_.append(text);
      end_.push_back(bytes_.size());
    }
    return recent = row;
  }

  std::string_view operator[](std::uint32_t row) const {
    return std::string_view(bytes_).substr(end_[row], end_[row + 1] - end_[row]);
  }
  std::size_t size() const { return end_.size() - 1; }
  std::size_t bytes() const { return bytes_.size(); }

 private:
  static std::uint64_t mix(std::uint64_t x) { return (x * 0x9e3779b97f4a7c15ULL) >> 40; }

  std::string bytes_;
  std::vector<std::size_t> end_{0};
  HashIndex index_;
  std::array<std::uint32_t, 1024> recent_{};
};

/// Pairs of integers, each once. Row 0 is (0, 0).
class PairPool {
 public:
  static constexpr std::size_t kMostPairs = 1 << 20;
  using Pair = std::pair<std::int64_t, std::int64_t>;

  PairPool() { intern({0, 0}); }
  /// kAbsent when there are too many.
  std::uint32_t intern(const Pair& pair) {
    if (pair == last_ && !pairs_.empty()) return last_row_;
    const std::uint64_t hash =
        mix64(static_cast<std::uint64_t>(pair.first) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(pair.second));
    std::uint32_t row = index_.find(hash, [&](std::uint32_t r) { return pairs_[r] == pair; });
    if (row == HashIndex::kAbsent) {
      if (pairs_.size() == kMostPairs) return row;
      row = static_cast<std::uint32_t>(pairs_.size());
      pairs_.push_back(pair);
      index_.insert(hash, row);
    }
    last_ = pair;
    last_row_ = row;
    return row;
  }
  const Pair& operator[](std::size_t row) const { return pairs_[row]; }
  std::size_t size() const { return pairs_.size(); }

 private:
  std::vector<Pair> pairs_;
  HashIndex index_;
  Pair last_{0, 0};
  std::uint32_t last_row_ = 0;
};

/// What values refer to by number.
struct Pools {
  TextPool texts;
  PairPool pairs;
};

}  // namespace snapdiff::formats::pickle
