#include "snapdiff/hash.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

using snapdiff::Hash128;
using snapdiff::hash_bytes;
using snapdiff::SequenceHasher;

// Published values of MurmurHash3_x64_128 with seed 0.
TEST_CASE("hash: known texts have their published values") {
  CHECK(hash_bytes("") == Hash128{0, 0});
  CHECK(hash_bytes("hello") == Hash128{0xcbd8a7b341bd9b02ULL, 0x5b1e906a48ae1d19ULL});
  CHECK(hash_bytes("The quick brown fox jumps over the lazy dog") ==
        Hash128{0xe34bbc7bbc071b6cULL, 0x7a433ca9c49a9347ULL});
}

// The verification procedure of SMHasher: keys 00, 00 01, ... of every length 0..255 with seed
// 256 - length; the hash of all hashes begins with a number that belongs to each algorithm.
TEST_CASE("hash: SMHasher's verification number of MurmurHash3_x64_128") {
  std::string hashes;
  std::string key;
  for (unsigned length = 0; length < 256; ++length) {
    const Hash128 hash = hash_bytes(key, 256 - length);
    hashes.append(reinterpret_cast<const char*>(&hash.high), 8);
    hashes.append(reinterpret_cast<const char*>(&hash.low), 8);
    key.push_back(static_cast<char>(length));
  }
  CHECK(static_cast<std::uint32_t>(hash_bytes(hashes).high) == 0x6384BA69U);
}

TEST_CASE("hash: a sequence depends on items, order and length") {
  const Hash128 a = hash_bytes("a");
  const Hash128 b = hash_bytes("b");
  const auto sequence = [](std::initializer_list<Hash128> items) {
    SequenceHasher hasher;
    for (const Hash128& item : items) hasher.add(item);
    return hasher.finish();
  };
  const std::set<Hash128> different = {sequence({}),     sequence({a}),    sequence({b}),       sequence({a, b}),
                                       sequence({b, a}), sequence({a, a}), sequence({a, a, a}), sequence({Hash128{}})};
  CHECK(different.size() == 8);
  CHECK(sequence({a, b}) == sequence({a, b}));
}
