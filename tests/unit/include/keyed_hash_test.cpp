#include "snapdiff/keyed_hash.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"

using namespace snapdiff;

namespace {

/// x with x * odd = 1 modulo 2^64.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}

/// mix64() backwards.
std::uint64_t unmix64(std::uint64_t x) {
  x ^= x >> 33;
  x *= inverse(0xc4ceb9fe1a85ec53ULL);
  x ^= x >> 33;
  x *= inverse(0xff51afd7ed558ccdULL);
  return x ^ x >> 33;
}

/// The i-th text of 16 bytes whose hash_bytes() has 0 as its lower half: the hash backwards.
std::string colliding(std::uint64_t i) {
  constexpr std::uint64_t kC1 = 0x87c37b91114253d5ULL;
  constexpr std::uint64_t kC2 = 0x4cf5ad432745937fULL;
  const std::uint64_t second = mix64(i + 1);
  const std::uint64_t first = 0 - 2 * second;  // low = first + 2 * second
  std::uint64_t h1 = unmix64(first);
  std::uint64_t h2 = unmix64(second);
  h2 -= h1;
  h1 -= h2;
  h1 ^= 16;
  h2 ^= 16;
  const std::uint64_t after_first = h1;
  h2 = std::rotr((h2 - 0x38495ab5) * inverse(5) - after_first, 31);
  h1 = std::rotr((h1 - 0x52dce729) * inverse(5), 27);
  const std::uint64_t words[2] = {std::rotr(h1 * inverse(kC2), 31) * inverse(kC1),
                                  std::rotr(h2 * inverse(kC1), 33) * inverse(kC2)};
  return std::string(reinterpret_cast<const char*>(words), sizeof words);
}

/// How many rows find() asks about for all that are in, where `hash_of` gives the i-th one's hash.
template <class HashOf>
std::uint64_t candidates(std::uint32_t rows, HashOf hash_of) {
  HashIndex index;
  std::uint64_t asked = 0;
  for (std::uint32_t i = 0; i < rows; ++i) {
    const auto is_same = [&](std::uint32_t row) {
      ++asked;
      return row == i;
    };
    CHECK(index.find(hash_of(i), is_same) == HashIndex::kAbsent);
    index.insert(hash_of(i), i);
  }
  return asked;
}

}  // namespace

TEST_CASE("keyed hash: texts made to agree in half of their stored hash do not in that of tables") {
  std::set<std::uint64_t> keyed;
  std::set<std::uint64_t> of_stored;
  constexpr std::uint64_t kTexts = 2000;
  for (std::uint64_t i = 0; i < kTexts; ++i) {
    const std::string text = colliding(i);
    REQUIRE(hash_bytes(text).low == 0);
    keyed.insert(keyed_hash(text));
    of_stored.insert(keyed_hash(hash_bytes(text)));
  }
  CHECK(keyed.size() == kTexts);
  CHECK(of_stored.size() == kTexts);
}

TEST_CASE("keyed hash: a table is not filled in one place by chosen numbers") {
  constexpr std::uint32_t kRows = 4000;
  // All alike in the lower 32 bits; and what a fixed mix would make alike.
  CHECK(candidates(kRows, [](std::uint32_t i) { return std::uint64_t{i} << 32; }) < 100);
  CHECK(candidates(kRows, [](std::uint32_t i) { return mix64(unmix64(std::uint64_t{i} << 32)); }) < 100);
}

TEST_CASE("keyed hash: every length and byte counts") {
  std::set<std::uint64_t> seen;
  std::string text;
  for (int length = 0; length < 70; ++length) {
    seen.insert(keyed_hash(text));
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string other = text;
      other[at] = 'x';
      seen.insert(keyed_hash(other));
    }
    text += '\0';
  }
  CHECK(seen.size() == 70 + 70 * 69 / 2);
  CHECK(KeyedHash{}(std::string("abc")) == KeyedHash{}(std::string_view("abc")));
}

TEST_CASE("keyed hash: names that collide in the stored hash are interned in the time of others") {
  SnapshotBuilder builder;
  constexpr std::uint64_t kTexts = 200'000;  // took minutes where tables were looked up by that half
  for (std::uint64_t i = 0; i < kTexts; ++i) (void)builder.string(colliding(i));
  CHECK(builder.dictionary().strings.size() == kTexts + 1);
}
