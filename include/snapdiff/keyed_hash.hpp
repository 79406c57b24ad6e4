#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

#include "snapdiff/api.hpp"
#include "snapdiff/hash.hpp"

/// Hashes for tables in memory. They differ from one process to the next, so that no input can be made whose
/// names or addresses all fall into one place of a table, which would cost the square of its size. Never stored, and
/// nothing that is put out depends on them: a table that uses them must not be walked in its own order.
namespace snapdiff {

namespace keyed {

struct Seed {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};
SNAPDIFF_API Seed draw();
inline const Seed kSeed = draw();

/// Both halves of the product, so that every bit of it depends on every bit of the factors.
inline std::uint64_t fold(std::uint64_t x, std::uint64_t y) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(x) * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace keyed

inline std::uint64_t keyed_hash(std::uint64_t value) { return keyed::fold(value ^ keyed::kSeed.a, keyed::kSeed.b); }

/// Of both halves: inputs can be made whose hashes agree in one.
inline std::uint64_t keyed_hash(const Hash128& hash) {
  return keyed::fold(hash.low ^ keyed::kSeed.a, hash.high ^ keyed::kSeed.b);
}

/// Sixteen bytes a step, each multiplied with a factor that depends on the seed and on all before.
inline std::uint64_t keyed_hash(std::string_view bytes) {
  std::uint64_t state = keyed::kSeed.a;
  const char* data = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t words[2] = {};
  for (; left >= sizeof words; left -= sizeof words, data += sizeof words) {
    std::memcpy(words, data, sizeof words);
    state = keyed::fold(words[0] ^ keyed::kSeed.b, words[1] ^ state);
  }
  if (left > 0) {
    words[0] = words[1] = 0;
    std::memcpy(words, data, left);
    state = keyed::fold(words[0] ^ keyed::kSeed.b, words[1] ^ state);
  }
  return keyed::fold(state ^ keyed::kSeed.b, (keyed::kSeed.a | 1U) + 2 * std::uint64_t{bytes.size()});
}

/// For std::unordered_map and its kin, by number or by text.
struct KeyedHash {
  using is_transparent = void;
  std::size_t operator()(std::uint64_t value) const { return static_cast<std::size_t>(keyed_hash(value)); }
  std::size_t operator()(std::string_view text) const { return static_cast<std::size_t>(keyed_hash(text)); }
};

}  // namespace snapdiff

template <>
struct std::hash<snapdiff::Hash128> {
  std::size_t operator()(const snapdiff::Hash128& value) const noexcept {
    return static_cast<std::size_t>(snapdiff::keyed_hash(value));
  }
};
