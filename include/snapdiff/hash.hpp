#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace snapdiff {

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

/// Spreads all bits of x over all bits of the result (the finaliser of MurmurHash3).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

/// MurmurHash3_x64_128 (Austin Appleby, public domain), little-endian machines. Not keyed: an
/// enemy can make two strings collide; what that costs is two frames no longer distinguished, never
/// a wrong total. Tables are looked up by keyed_hash().
inline Hash128 hash_bytes(std::string_view bytes, std::uint64_t seed = 0) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kC1 = 0x87c37b91114253d5ULL;
  constexpr std::uint64_t kC2 = 0x4cf5ad432745937fULL;
  std::uint64_t h1 = seed;
  std::uint64_t h2 = seed;
  const char* data = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 16; left -= 16, data += 16) {
    std::uint64_t k1 = 0;
    std::uint64_t k2 = 0;
    std::memcpy(&k1, data, 8);
    std::memcpy(&k2, data + 8, 8);
    h1 ^= std::rotl(k1 * kC1, 31) * kC2;
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= std::rotl(k2 * kC2, 33) * kC1;
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  std::uint64_t k1 = 0;
  std::uint64_t k2 = 0;
  if (left > 8) std::memcpy(&k2, data + 8, left - 8);
  if (left > 0) std::memcpy(&k1, data, left > 8 ? 8 : left);
  h2 ^= std::rotl(k2 * kC2, 33) * kC1;
  h1 ^= std::rotl(k1 * kC1, 31) * kC2;
  h1 ^= bytes.size();
  h2 ^= bytes.size();
  h1 += h2;
  h2 += h1;
  h1 = mix64(h1);
  h2 = mix64(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

/// Order-sensitive combination of already well mixed 128-bit hashes, e.g. of the frames of a
/// stack. Two polynomials modulo 2^64, one per half, closed by a mix with the length. The same
/// frames in the same order give the same hash on every machine.
class SequenceHasher {
 public:
  void add(const Hash128& item) {
    high_ = high_ * kHighStep + item.high;
    low_ = low_ * kLowStep + item.low;
    ++length_;
  }
  Hash128 finish() const {
    const std::uint64_t high = mix64(high_ ^ (length_ * kLowStep));
    const std::uint64_t low = mix64(low_ + high);
    return {high, low};
  }

 private:
  static constexpr std::uint64_t kHighStep = 0x9e3779b97f4a7c15ULL;
  static constexpr std::uint64_t kLowStep = 0xd1342543de82ef95ULL;
  std::uint64_t high_ = 0x2545f4914f6cdd1dULL;
  std::uint64_t low_ = 0x9fb21c651e98df25ULL;
  std::uint64_t length_ = 0;
};

}  // namespace snapdiff
