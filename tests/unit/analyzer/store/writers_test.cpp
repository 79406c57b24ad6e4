#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "analyzer/store/store.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// Several that write, and one that is killed while it writes.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::TemporaryFolder;
namespace fs = std::filesystem;

TEST_CASE("store: two that write in turn see what the other did") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  auto one = Store::open(path, Access::create);
  auto two = Store::open(path, Access::create);
  REQUIRE(one);
  REQUIRE(two);
  std::vector<Snapshot> added;
  for (unsigned i = 0; i < 12; ++i) {
    added.push_back(test::wild(i + 1, 60, 2));
    Store& writer = i % 2 == 0 ? *one : *two;
    CHECK_FALSE(writer.add(added.back(), "s")->was_present);
    CHECK(writer.add(added.front(), "s")->was_present);
    if (i == 5) REQUIRE(one->remove(std::vector{SnapshotId{2}, SnapshotId{3}}));
  }
  for (Store* store : {&*one, &*two}) {
    CHECK(store->check());
    for (std::size_t i = 0; i < added.size(); ++i) {
      if (i == 1 || i == 2) continue;
      const auto loaded = store->load(std::vector{SnapshotId{static_cast<std::int64_t>(i) + 1}});
      REQUIRE(loaded);
      CHECK(test::difference(added[i], loaded->front(), false) == "");
    }
  }
}

TEST_CASE("store: killed at any moment an import leaves whole snapshots") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  std::vector<Snapshot> snapshots;
  for (unsigned seed = 0; seed < 60; ++seed) snapshots.push_back(test::wild(seed + 1, 400, 3));
  std::mt19937 random(11);
  std::size_t present = 0;
  int in_the_middle = 0;
  // The child lives longer where it is too slow to get anything done.
  std::uint32_t longest_us = 60'000;
  const auto seen_enough = [&] { return present > 0 && in_the_middle > 0; };
  for (int round = 0; round < 40 || (round < 200 && !seen_enough()); ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (;;) {
        auto store = Store::open(path, Access::create);
        if (!store) _exit(1);
        for (std::size_t i = 0; i < 5; ++i) {
          if (!store->add(snapshots[(present + i) % snapshots.size()], "round" + std::to_string((present + i) / 60)))
            _exit(2);
        }
        if (!store->remember({{SnapshotId{1}}, "{}"})) _exit(3);
      }
    }
    usleep(static_cast<useconds_t>(random() % longest_us));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    if (!seen_enough()) longest_us = std::min<std::uint32_t>(longest_us + longest_us / 4, 4'000'000);
    if (!fs::exists(path)) continue;
    in_the_middle += fs::exists(path + "-wal") || fs::exists(path + "-journal") ? 1 : 0;
    auto store = Store::open(path, Access::read);
    if (!store) FAIL(store.error().text());
    const Status sound = store->check();  // integrity_check, then every snapshot
    if (!sound) FAIL(sound.error().text());
    std::size_t count = 0;
    const auto all = store->list();
    REQUIRE(all);
    SnapshotId newest{};  // a series may be in order of time
    for (const SeriesInfo& series : *all) {
      count += series.snapshots.size();
      for (const SnapshotInfo& snapshot : series.snapshots) newest = std::max(newest, snapshot.id);
    }
    CHECK(count >= present);
    present = count;
    if (count == 0) continue;
    const auto last = store->load(std::vector{newest});
    REQUIRE(last);
    CHECK(test::difference(snapshots[(count - 1) % snapshots.size()], last->front(), false) == "");
  }
  CHECK(present > 0);
  CHECK(in_the_middle > 0);
}
