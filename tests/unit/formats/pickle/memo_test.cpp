#include <catch2/catch.hpp>

#include <random>
#include <vector>

#include "formats/input/utf8.hpp"
#include "formats/pickle/memo.hpp"
#include "formats/pickle/run_cache.hpp"
#include "formats/pickle/text_pool.hpp"

using namespace snapdiff::formats;
using namespace snapdiff::formats::pickle;

TEST_CASE("memo: gives back what was put, packed or not") {
  std::minstd_rand engine(1);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  Memo memo;
  std::vector<std::uint32_t> truth;
  for (int i = 0; i < 400'000; ++i) {
    const unsigned kind = random() % 8;
    std::uint32_t code = Memo::kNothing;
    if (kind == 1) code = (7U << 3) | 1;
    if (kind == 2) code = (9U << 3) | 1;
    if (kind == 3) code = ((random() % 3000U) << 3) | 4;
    if (kind == 4 && i > 200'000) code = ((random() % (1U << 29)) << 3) | 3;
    truth.push_back(code);
    memo.append(code);
  }
  REQUIRE(memo.size() == truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (memo.get(i) != truth[i]) FAIL("slot " << i);
  }
  CHECK(memo.get(truth.size()) == Memo::kUnset);
}

TEST_CASE("memo: an open container can be completed after its chunk was packed") {
  Memo memo;
  memo.append(5);
  for (int i = 1; i < 200'000; ++i) memo.append(i == 140'000 ? (3U << 3) | 6 : Memo::kNothing);
  REQUIRE(memo.get(140'000) == ((3U << 3) | 6));
  memo.replace(140'000, (42U << 3) | 4);
  CHECK(memo.get(140'000) == ((42U << 3) | 4));
  memo.replace(140'000, Memo::kNothing);
  CHECK(memo.get(140'000) == Memo::kNothing);
  CHECK(memo.get(139'999) == Memo::kNothing);
}

TEST_CASE("memo: slots of records cost less than two bytes") {
  Memo memo;
  // As in a file of the newest layout: record, text, text, pair, list.
  for (std::uint32_t entry = 0; entry < 1'000'000; ++entry) {
    memo.append(Memo::kNothing);
    memo.append((60U << 3) | 1);
    memo.append((61U << 3) | 1);
    memo.append((0U << 3) | 2);
    memo.append((entry % 5000 << 3) | 4);
  }
  CHECK(memo.memory_bytes() < memo.size() * 3 / 2);
}

TEST_CASE("memo: slots far beyond the others are few or refused") {
  Memo memo;
  CHECK(memo.set_far(0xfffffffe, 9));
  CHECK(memo.get(0xfffffffe) == 9);
  CHECK(memo.has_far(0xfffffffe));
  std::uint64_t taken = 1;
  while (taken < 1'000'000 && memo.set_far(1'000'000 + taken, 1)) ++taken;
  CHECK(taken < 100'000);
}

TEST_CASE("text pool: one row for one text, in order of appearance") {
  TextPool pool;
  CHECK(pool.intern("a") == 0);
  CHECK(pool.intern("") == 1);
  CHECK(pool.intern("a text of more than eight bytes") == 2);
  CHECK(pool.intern("a text of more than eight bytez") == 3);
  CHECK(pool.intern("a") == 0);
  for (int i = 0; i < 5000; ++i) pool.intern(std::to_string(i));
  CHECK(pool.intern("a text of more than eight bytes") == 2);
  CHECK(pool[3] == "a text of more than eight bytez");
}

TEST_CASE("pair pool: row 0 is (0, 0)") {
  PairPool pool;
  CHECK(pool.intern({0, 0}) == 0);
  CHECK(pool.intern({0, 1}) == 1);
  CHECK(pool.intern({-1, 1}) == 2);
  CHECK(pool.intern({0, 1}) == 1);
  CHECK(pool.size() == 3);
}

TEST_CASE("utf-8: what is no character is replaced byte by byte") {
  CHECK(
      is_utf8("gr\xc3\xb6\xc3\x9f"
              "e \xe2\x82\xac \xf0\x9f\x98\x80"));
  CHECK_FALSE(is_utf8("\xed\xa0\x80"));      // a surrogate
  CHECK_FALSE(is_utf8("\xc0\xaf"));          // long form of a slash
  CHECK_FALSE(is_utf8("\xf4\x90\x80\x80"));  // beyond U+10FFFF
  CHECK_FALSE(is_utf8("a\xe2\x82"));
  CHECK(repaired_utf8("a\xff"
                      "b") ==
        "a\xef\xbf\xbd"
        "b");
}
