#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "analyzer/store/bytes.hpp"
#include "analyzer/store/column_chunk.hpp"
#include "analyzer/store/sample_codec.hpp"
#include "analyzer/store/stack_codec.hpp"

// The column chunks by themselves, with inputs that whole snapshots rarely have.

using namespace snapdiff;
using namespace snapdiff::store;

namespace {

template <class Body>
std::string failure(Body body) {
  try {
    body();
  } catch (const Failure& f) {
    CHECK(f.error.code == ErrorCode::malformed);
    return f.error.message;
  }
  return "";
}

std::string with_checksum(std::string body) {
  const auto sum = static_cast<std::uint32_t>(hash_bytes(body).low);
  for (unsigned i = 0; i < 4; ++i) body.push_back(static_cast<char>(sum >> (8 * i)));
  return body;
}

}  // namespace

TEST_CASE("store codec: variable-length integers are LEB128") {
  const auto written = [](std::uint64_t value) {
    std::string out;
    put_varint(out, value);
    ByteReader in(out);
    CHECK(in.varint() == value);
    in.expect_end();
    return out;
  };
  CHECK(written(0) == std::string(1, '\0'));
  CHECK(written(127) == "\x7f");
  CHECK(written(300) == "\xac\x02");  // the example of the protobuf documentation
  CHECK(written(~std::uint64_t{0}) == "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{0},
                                   std::numeric_limits<std::int64_t>::max()})
    CHECK(unzigzag(zigzag(static_cast<std::uint64_t>(value))) == static_cast<std::uint64_t>(value));
  CHECK(zigzag(static_cast<std::uint64_t>(-1)) == 1);
  CHECK(zigzag(1) == 2);
}

TEST_CASE("store codec: integers that end early or are too long are malformed") {
  const std::vector<std::string> all = {"", "\x80", std::string(9, '\xff'), std::string(10, '\xff'),
                                        std::string(9, '\x80') + "\x02"};
  for (const std::string& bytes : all) CHECK_FALSE(failure([&] { ByteReader(bytes).varint(); }).empty());
}

TEST_CASE("store codec: columns of any size come back") {
  std::mt19937 random(3);
  for (const std::size_t size : {0U, 1U, 15U, 100U, 5'000U, 9'000U, 300'000U}) {
    std::vector<std::string> columns(3);
    for (std::size_t i = 0; i < size; ++i) {
      columns[0].push_back(static_cast<char>(random()));
      columns[2].push_back('x');
    }
    const std::string blob = pack_columns(columns, 3);
    std::string buffer;
    const auto back = unpack_columns(blob, 3, buffer);
    REQUIRE(back.size() == 3);
    for (std::size_t c = 0; c < 3; ++c) CHECK(back[c] == columns[c]);
    CHECK(unpack_bytes(pack_bytes(columns[2], 3), size) == columns[2]);
  }
}

TEST_CASE("store codec: a chunk that declares more than it may is refused before memory is taken") {
  std::string body(1, '\1');
  for (int i = 0; i < 3; ++i) put_varint(body, kMaxChunkBytes);
  put_varint(body, 4);
  body += "abcd";
  std::string buffer;
  CHECK(failure([&] { unpack_columns(with_checksum(body), 3, buffer); }) == "chunk declares 201326592 bytes");
  CHECK(buffer.capacity() < 1000);

  std::string lying(1, '\1');
  put_varint(lying, 1'000'000);
  put_varint(lying, 4);
  lying += "abcd";
  CHECK(failure([&] { unpack_columns(with_checksum(lying), 1, buffer); }) ==
        "compressed column and its header disagree on the size");
  CHECK(buffer.capacity() < 1000);

  const std::string bomb = pack_bytes(std::string(1'000'000, 'x'), 3);
  CHECK(failure([&] { unpack_bytes(bomb, 999'999); }) == "1000000 bytes declared, expected at most 999999");
}

TEST_CASE("store codec: every shortened or changed chunk is noticed") {
  const std::vector<std::string> columns = {"one", std::string(300, 'y'), "three"};
  const std::string blob = pack_columns(columns, 3);
  std::string buffer;
  for (std::size_t size = 0; size < blob.size(); ++size)
    CHECK_FALSE(failure([&] { unpack_columns(blob.substr(0, size), 3, buffer); }).empty());
  for (std::size_t at = 0; at < blob.size(); ++at) {
    std::string changed = blob;
    changed[at] ^= 0x10;
    CHECK_FALSE(failure([&] { unpack_columns(changed, 3, buffer); }).empty());
  }
}

TEST_CASE("store codec: stacks are sorted root first, with what each shares with the one before") {
  std::mt19937 random(9);
  const std::uint32_t max_key = GENERATE(3U, 200U, 70'000U, 4'000'000'000U);
  std::vector<std::uint32_t> key(50);
  for (std::uint32_t& k : key) k = 1 + static_cast<std::uint32_t>(random() % max_key);
  key[7] = max_key;
  std::vector<std::uint64_t> begin{0};
  std::vector<FrameId> frame;
  std::vector<std::uint32_t> stacks;
  for (std::uint32_t s = 0; s < 6000; ++s) {
    stacks.push_back(s);
    for (std::size_t depth = 1 + random() % 40; depth > 0; --depth)
      frame.push_back(FrameId{static_cast<std::uint32_t>(random() % (depth < 5 ? 50 : 2))});
    begin.push_back(frame.size());
  }
  const auto root_first = [&](std::uint32_t s) {
    std::vector<std::uint32_t> keys;
    for (std::uint64_t i = begin[s + 1]; i-- > begin[s];) keys.push_back(key[index_of(frame[i])]);
    return keys;
  };
  const std::vector<std::uint32_t> shared = sort_root_first(stacks, begin, frame, key, max_key);
  std::vector<bool> seen(stacks.size());
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    CHECK_FALSE(seen[stacks[i]]);
    seen[stacks[i]] = true;
    if (i == 0) continue;
    const auto before = root_first(stacks[i - 1]);
    const auto here = root_first(stacks[i]);
    REQUIRE(before <= here);
    if (before != here) REQUIRE(shared[i] == common_prefix(before, here));
  }
}

TEST_CASE("store codec: a stack chunk cannot expand without bound") {
  // One stack of 5000 frames, then 16383 that share all of it: 82 million frames in a few bytes.
  StackChunkWriter writer;
  const std::vector<std::uint32_t> frames(5000, 1);
  writer.add(0, frames);
  for (int i = 1; i < 16384; ++i) writer.add(5000, {});
  CHECK_FALSE(writer.has_room(1));
  const std::string blob = writer.finish(3);
  CHECK(blob.size() < 300);
  CHECK(failure([&] {
          StackChunkReader in(blob, 16384);
          while (in.next()) {
          }
        }) == "more than 4194304 frames");
}

TEST_CASE("store codec: any table comes back from any other") {
  std::mt19937_64 random(21);
  const auto table = [&](std::size_t columns, bool labels) {
    SampleTable t;
    for (std::uint32_t stack = 0; stack < 200; ++stack) {
      for (std::uint32_t set = 0; set < (labels ? 3U : 1U); ++set) {
        if (random() % 3 == 0) continue;
        t.stack.push_back(StackId{stack * (stack > 190 ? 20'000'000U : 1U)});
        t.labels.push_back(LabelSetId{set == 2 ? 0xfffffff0U : set});
      }
    }
    for (std::size_t c = 0; c < columns; ++c) {
      Column column{{c % 2 == 0 ? "count" : "bytes", c % 2 == 0 ? "count" : "bytes"}, {}, {}, 0};
      for (std::size_t row = 0; row < t.size(); ++row) {
        column.value.push_back(random() % 4 == 0 ? static_cast<std::int64_t>(random())
                                                 : 1 + static_cast<std::int64_t>(random() % 9));
        if (c == 1) column.known.push_back(random() % 3 != 0 ? 1 : 0);
        if (c == 1 && column.known.back() == 0) column.value.back() = 0;
      }
      t.columns.push_back(std::move(column));
    }
    return t;
  };
  for (int round = 0; round < 30; ++round) {
    const std::size_t columns = 1 + static_cast<std::size_t>(round) % 9;
    const SampleTable before =
        round % 5 == 0 ? SampleTable{{}, {}, table(columns, false).columns} : table(columns, round % 2 == 0);
    SampleTable start = before;
    if (round % 5 == 0) {
      for (Column& c : start.columns) c.value.clear(), c.known.clear();
    }
    const SampleTable after = table(columns, round % 3 == 0);
    SampleDecoder decoder(start);
    for (const std::string& blob : encode_samples(start, after, changed_rows(start, after))) decoder.add_chunk(blob);
    const SampleTable back = decoder.finish();
    CHECK(back.stack == after.stack);
    CHECK(back.labels == after.labels);
    for (std::size_t c = 0; c < columns; ++c) {
      CHECK(back.columns[c].value == after.columns[c].value);
      for (std::size_t row = 0; row < after.size(); ++row)
        REQUIRE(back.columns[c].is_known(row) == after.columns[c].is_known(row));
    }
  }
}

TEST_CASE("store codec: bytes belong to the objects of the same name, else to the count before them") {
  const auto column = [](const char* name, const char* unit) { return Column{{name, unit}, {}, {}, 0}; };
  CHECK(count_column_of({column("alloc_objects", "count"), column("inuse_objects", "count"),
                         column("alloc_space", "bytes"), column("inuse_space", "bytes"), column("x", "count"),
                         column("size", "bytes"), column("y", "bytes")}) == std::vector<int>{-1, -1, 0, 1, -1, 4, -1});
  CHECK(count_column_of({column("inuse_space", "bytes"), column("inuse_objects", "count")}) ==
        std::vector<int>{-1, -1});
}
