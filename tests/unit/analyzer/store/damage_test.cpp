#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>

#include "analyzer/store/store.hpp"
#include "support/rounds.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/made_series.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// Damaged stores: an error that names the place, never a crash, never wrong values.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::TemporaryFolder;

namespace {

void make_store(const std::string& path) {
  auto store = Store::open(path, Access::create);
  REQUIRE(store);
  test::MadeSeries::Shape shape;
  shape.stacks = 150;
  shape.functions = 60;
  test::MadeSeries series(shape);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(store->add(series.snapshot(), "s"));
    series.step();
  }
  REQUIRE(store->add(test::wild(3, 60, 3), "wild", "its bytes"));
}

void change(const std::string& path, const std::string& sql) {
  auto store = Store::open(path, Access::write);
  REQUIRE(store);
  const Status done = store->sql(sql, {}, true);
  if (!done) FAIL(done.error().text());
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

const std::vector<SnapshotId> kAll = {SnapshotId{1}, SnapshotId{2}, SnapshotId{3}, SnapshotId{4}};

}  // namespace

TEST_CASE("store: a damaged part is named") {
  struct Case {
    const char* sql;
    const char* message;
  };
  const auto [sql, message] = GENERATE(
      Case{"UPDATE sample_chunk SET data = zeroblob(20) WHERE id / 1048576 = 2",
           "snapshot @2: sample chunk 0 of snapshot 2: checksum does not match"},
      Case{"UPDATE sample_chunk SET data = x'' WHERE id / 1048576 = 1",
           "snapshot @1: sample chunk 0 of snapshot 1: chunk of 0 bytes"},
      Case{"DELETE FROM sample_chunk WHERE id / 1048576 = 1", "snapshot @1: 0 rows, expected 150"},
      Case{"UPDATE sample_chunk SET data = (SELECT data FROM sample_chunk WHERE id / 1048576 = 4) WHERE id / 1048576 = "
           "3",
           ""},
      Case{"UPDATE snapshot_total SET total = total + 1 WHERE snapshot = 2 AND position = 1", ""},
      Case{"UPDATE snapshot SET base = 3 WHERE id = 2", "snapshot @2 has no key it is based on"},
      Case{"UPDATE snapshot SET base = 2 WHERE id = 2", "snapshot @2 has no key it is based on"},
      Case{"UPDATE stack_chunk SET data = zeroblob(9) WHERE first_id = 1", "stack chunk 1: checksum does not match"},
      Case{"UPDATE stack_chunk SET stacks = 149 WHERE first_id = 1", ""},
      Case{"UPDATE stack_chunk SET stacks = 100000 WHERE first_id = 1",
           "stack chunk 1: 100000 stacks, expected 1 to 16384"},
      Case{"UPDATE stack_chunk SET stacks = -1 WHERE first_id = 1", "stack count -1, expected 0 to 2^32-2"},
      Case{"DELETE FROM stack_chunk", "stack 1 is missing"},
      Case{"DELETE FROM frame WHERE id = 5", "stack chunk 1: frame 5 is missing"},
      Case{"UPDATE frame SET hash = x'00' WHERE id = 5", "frame hash of 1 bytes, expected 16"},
      Case{"UPDATE frame SET function = 99999999 WHERE id = 5", "function 99999999 is missing"},
      Case{"UPDATE frame SET line = 1 << 40 WHERE id = 5", "line 1099511627776, expected 32 bits"},
      Case{"UPDATE function SET name = -3 WHERE id = 2", "string -3, expected 0 to 2^32-2"},
      Case{"UPDATE string SET id = 4294967294 WHERE id = 5", "string 5 is missing"},
      Case{"DELETE FROM module WHERE id > 0", ""}, Case{"DELETE FROM label", ""},
      Case{"UPDATE memory_map SET data = zeroblob(8)", "memory map 1: checksum does not match"});
  CAPTURE(sql);
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  make_store(path);
  change(path, sql);
  auto store = Store::open(path, Access::read);
  REQUIRE(store);
  const auto loaded = store->load(kAll);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == ErrorCode::malformed);
  CHECK(loaded.error().subject == path);
  if (*message != '\0') CHECK(loaded.error().message == message);
  const Status sound = store->check();
  REQUIRE_FALSE(sound);
  CHECK(sound.error().code == ErrorCode::malformed);
  Store::SqlSink sink;
  for (const char* query : {"SELECT * FROM stack", "SELECT * FROM stack_frame", "SELECT * FROM sample",
                            "SELECT * FROM growth(1, 3)", "SELECT stack_text(5)"})
    (void)store->sql(query, sink);
}

TEST_CASE("store: bytes flipped anywhere never crash, hang or change a value") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  make_store(path);
  std::vector<Snapshot> whole;
  {
    auto store = Store::open(path, Access::read);
    whole = store->load(kAll).value();
  }
  const std::string bytes = read_file(path);
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < test::rounds(400, 100); ++round) {
    std::string damaged = bytes;
    const unsigned flips = round % 4 == 0 ? 20 : 1;
    for (unsigned i = 0; i < flips; ++i) damaged[random() % damaged.size()] ^= static_cast<char>(1U << random() % 8);
    if (round % 10 == 9) damaged.resize(random() % damaged.size());
    CAPTURE(round);
    const TemporaryFolder own;  // a log left over must not get mixed into the next file
    const std::string file = own.file("damaged.db");
    std::ofstream(file, std::ios::binary) << damaged;
    auto store = Store::open(file, round % 2 == 0 ? Access::read : Access::write);
    if (!store) {
      ++refused;
      continue;
    }
    (void)store->list();
    Store::SqlSink sink;
    (void)store->sql("SELECT * FROM sample", sink);
    (void)store->sql("SELECT * FROM stack_frame", sink);
    (void)store->check();
    const auto loaded = store->load(kAll);
    if (!loaded) {
      ++refused;
    } else {
      for (std::size_t i = 0; i < whole.size(); ++i) {
        Snapshot with_facts = (*loaded)[i];
        with_facts.facts = whole[i].facts;  // plain text has no checksum of ours
        if (with_facts.samples.columns.size() != whole[i].samples.columns.size()) continue;
        for (std::size_t c = 0; c < whole[i].samples.columns.size(); ++c)
          CHECK(with_facts.samples.columns[c].value == whole[i].samples.columns[c].value);
      }
    }
    if (round % 2 == 1) {
      (void)store->add(test::wild(77, 20, 2), "s");
      (void)store->remove(std::vector{SnapshotId{2}});
    }
  }
  CHECK(refused > 40);
}
