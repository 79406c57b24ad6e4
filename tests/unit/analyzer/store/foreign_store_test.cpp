#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/store/store.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/made_store.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// What others may have put into a store, and how it is left behind.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::change;
using snapdiff::test::make_store;
using snapdiff::test::snapshots_in;
using snapdiff::test::TemporaryFolder;

TEST_CASE("store: objects that are not ours, or run by themselves, make it no store") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  make_store(path);
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'x' AS ";
  const auto [change_text, found] = GENERATE_COPY(table<std::string, std::string>({
      {"CREATE TRIGGER bad AFTER INSERT ON snapshot BEGIN DELETE FROM string; END", "the trigger 'bad'"},
      {"CREATE TABLE own(x); CREATE TRIGGER bad AFTER INSERT ON own BEGIN SELECT 1; END", "the trigger 'bad'"},
      {"DROP TABLE series; CREATE VIEW series AS " + endless + "name FROM n", "another view 'series'"},
      {"DROP TABLE string; CREATE VIEW string AS " + endless + "text FROM n", "another view 'string'"},
      {"DROP TABLE source", "no table 'source'"},
      {"DROP TABLE sample_chunk", "no table 'sample_chunk'"},
      {"DROP TABLE source; CREATE TABLE SOURCE(id, sha256, size_bytes, original)", "no table 'source'"},
      {"DROP TABLE source; CREATE TABLE source(id INTEGER PRIMARY KEY, sha256 TEXT CHECK(length(sha256) > 9))",
       "another table 'source'"},
      {"CREATE UNIQUE INDEX bad ON snapshot(series)", "the index 'bad'"},
      {"DROP VIEW snapshot_info; CREATE VIEW snapshot_info AS SELECT 1", "another view 'snapshot_info'"},
      {"CREATE VIRTUAL TABLE bad USING fts3(x)", "the virtual table 'bad'"},
  }));
  CAPTURE(change_text);
  change(path, change_text);
  for (const Access access : {Access::read, Access::write, Access::create}) {
    const auto store = Store::open(path, access);
    REQUIRE_FALSE(store);
    CHECK(store.error().code == ErrorCode::unsupported);
    CHECK(store.error().message == "not a store of ours: found " + found + ", expected the tables that snapdiff makes");
  }
  const std::string other = folder.file("other.db");
  make_store(other);
  auto into = Store::open(other, Access::write);
  REQUIRE(into);
  CHECK_FALSE(into->merge(path));
  CHECK(into->list()->size() == 1);
}

TEST_CASE("store: tables, views and indexes of somebody's own may be in it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  make_store(path);
  change(path,
         "CREATE TABLE own(x, y); CREATE INDEX own_x ON own(x); CREATE VIEW mine AS SELECT * FROM own; "
         "CREATE VIEW theirs AS SELECT name FROM series; ANALYZE");
  CHECK(snapshots_in(path) == 1);
  auto store = Store::open(path, Access::write);
  REQUIRE(store);
  CHECK(store->add(test::wild(8, 40, 4), "s"));
}

TEST_CASE("store: many writers at once leave the journal that a read-only copy needs") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  make_store(path);
  const auto mode = [&] {  // bytes 18 and 19 of the file: 1 rollback journal, 2 WAL
    std::ifstream file(path, std::ios::binary);
    char head[20] = {};
    file.read(head, sizeof head);
    return head[18] * 10 + head[19];
  };
  for (int round = 0; round < 5; ++round) {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i) {
      writers.emplace_back([&path, i] {
        auto store = Store::open(path, Access::write);
        if (store) (void)store->add(test::wild(static_cast<std::uint32_t>(i), 4, 1), "s");
      });
    }
    writers.clear();
    CHECK(mode() == 11);
  }
  // One that reads while the last writer closes.
  {
    auto reader = Store::open(path, Access::read);
    REQUIRE(reader);
    CHECK(reader->list());
    auto writer = std::make_unique<Store>(std::move(*Store::open(path, Access::write)));
    CHECK(writer->add(test::wild(99, 4, 1), "s"));
    writer.reset();
  }
  CHECK(mode() == 11);
}
