#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "analyzer/store/store.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// A new store that is built in memory and put in place at one stroke.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

std::vector<Snapshot> some_snapshots() {
  std::vector<Snapshot> snapshots;
  for (unsigned i = 1; i <= 3; ++i) snapshots.push_back(test::wild(i, 6000, 3));  // large enough for a second thread
  return snapshots;
}

void fill(Store& store, const std::vector<Snapshot>& snapshots) {
  std::vector<SnapshotId> ids;
  for (const Snapshot& snapshot : snapshots) {
    const Result<Imported> added = store.add(snapshot, "s");
    if (!added) FAIL(added.error().text());
    ids.push_back(added->id);
  }
  REQUIRE(store.remember({ids, "{}"}));
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("draft: what is published is what was put in, and nothing is seen before") {
  const TemporaryFolder folder;
  const std::vector<Snapshot> snapshots = some_snapshots();
  auto draft = Store::draft(folder.file("s.db"));
  REQUIRE(draft);
  CHECK(draft->path() == folder.file("s.db"));
  fill(*draft, snapshots);
  CHECK(fs::is_empty(folder.path()));
  REQUIRE(draft->publish());
  CHECK(files_in(folder.path()) == 1);

  auto store = Store::open(folder.file("s.db"), Access::write);
  REQUIRE(store);
  CHECK(store->check());
  const auto loaded = store->load(std::vector{SnapshotId{1}, SnapshotId{2}, SnapshotId{3}});
  REQUIRE(loaded);
  for (std::size_t i = 0; i < snapshots.size(); ++i)
    CHECK(test::difference(snapshots[i], (*loaded)[i], i == 0) == "");  // names of equal frames: the first stay
  CHECK(store->last_comparison()->value().snapshots.size() == 3);
  REQUIRE(store->add(test::small("4", {{"main;late", 1, 1}}), "s"));  // it is written to like any other
  CHECK(store->check());
}

TEST_CASE("draft: it holds what an ordinary store would") {
  const TemporaryFolder folder;
  const std::vector<Snapshot> snapshots = some_snapshots();
  {
    auto ordinary = Store::open(folder.file("ordinary.db"), Access::create);
    REQUIRE(ordinary);
    fill(*ordinary, snapshots);
    auto draft = Store::draft(folder.file("draft.db"));
    REQUIRE(draft);
    fill(*draft, snapshots);
    REQUIRE(draft->publish());
  }
  std::vector<std::string> dumps;
  for (const char* name : {"ordinary.db", "draft.db"}) {
    auto store = Store::open(folder.file(name), Access::read);
    REQUIRE(store);
    std::string dump;
    Store::SqlSink sink;
    sink.on_row = [&](std::span<const QueryCell> row) {
      for (const auto& cell : row) dump += cell.text.value_or("NULL") + '|';
      dump += '\n';
    };
    for (const char* table : {"string", "module", "function", "frame", "label", "stack_chunk", "sample_chunk",
                              "snapshot", "snapshot_total", "comparison"})
      REQUIRE(store->sql(std::string("SELECT * FROM ") + table, sink));
    dumps.push_back(dump);
  }
  CHECK(dumps[0].size() > 10'000);
  CHECK(dumps[0] == dumps[1]);
  struct stat ordinary {};
  struct stat draft {};
  REQUIRE(stat(folder.file("ordinary.db").c_str(), &ordinary) == 0);
  REQUIRE(stat(folder.file("draft.db").c_str(), &draft) == 0);
  CHECK(ordinary.st_mode == draft.st_mode);
}

TEST_CASE("draft: never in the place of something else") {
  const TemporaryFolder folder;
  auto draft = Store::draft(folder.file("s.db"));
  REQUIRE(draft);
  fill(*draft, some_snapshots());
  SECTION("a file") { std::ofstream(folder.file("s.db")) << "precious"; }
  SECTION("a link that leads nowhere") { fs::create_symlink(folder.file("away"), folder.file("s.db")); }
  SECTION("a journal of a store that is gone") { std::ofstream(folder.file("s.db-journal")) << "precious"; }
  SECTION("a log of a store that is gone") { std::ofstream(folder.file("s.db-wal")) << "precious"; }
  CHECK_FALSE(draft->publish());
  CHECK(files_in(folder.path()) == 1);
  const std::string left = fs::directory_iterator(folder.path())->path().string();
  if (!fs::is_symlink(left)) CHECK(bytes_of(left) == "precious");
}

TEST_CASE("draft: a folder that is not there or takes no files") {
  const TemporaryFolder folder;
  auto draft = Store::draft(folder.file("none/s.db"));
  REQUIRE(draft);
  fill(*draft, {test::small("1", {{"main;a", 1, 10}})});
  CHECK_FALSE(draft->publish());
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("draft: a full disk leaves nothing") {
  const TemporaryFolder folder;
  auto draft = Store::draft(folder.file("s.db"));
  REQUIRE(draft);
  fill(*draft, some_snapshots());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small_limit{20'000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small_limit) == 0);
  const bool published = draft->publish();
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK_FALSE(published);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("draft: of two for one path one is published") {
  const TemporaryFolder folder;
  std::vector<Store> drafts;
  for (int i = 0; i < 2; ++i) {
    auto draft = Store::draft(folder.file("s.db"));
    REQUIRE(draft);
    fill(*draft, some_snapshots());
    drafts.push_back(*std::move(draft));
  }
  bool published[2] = {};
  {
    std::jthread one([&] { published[0] = drafts[0].publish(); });
    std::jthread two([&] { published[1] = drafts[1].publish(); });
  }
  CHECK(published[0] != published[1]);
  auto store = Store::open(folder.file("s.db"), Access::read);
  REQUIRE(store);
  CHECK(store->check());
}
