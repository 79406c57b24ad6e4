#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "analyzer/store/store.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/made_store.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// The file round the store: what is opened, what is refused, what the disk and others may do.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::change;
using snapdiff::test::make_store;
using snapdiff::test::small;
using snapdiff::test::snapshots_in;
using snapdiff::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

Error error_of_open(const std::string& path, Access access) {
  auto store = Store::open(path, access);
  if (store) return {ErrorCode::internal, "opened"};
  CHECK(store.error().subject == path);
  return store.error();
}

void write_file(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// Root may write anywhere: be nobody for a while.
class Unprivileged {
 public:
  Unprivileged() : was_(geteuid()) {
    if (was_ == 0) works_ = seteuid(65534) == 0;
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (was_ == 0 && works_) works_ = seteuid(0) == 0;
  }
  bool works() const { return works_; }

 private:
  uid_t was_;
  bool works_ = true;
};

/// Runs `body` in a child that never gets to closing anything.
template <class Body>
void in_dying_child(Body body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
}

}  // namespace

TEST_CASE("store: a missing store cannot be read or written") {
  const TemporaryFolder folder;
  for (const Access access : {Access::read, Access::write}) {
    const Error error = error_of_open(folder.file("none.db"), access);
    CHECK(error.code == ErrorCode::io);
    CHECK(error.message == "there is no such store");
  }
  CHECK(error_of_open(folder.file("no/such/folder.db"), Access::create).code == ErrorCode::io);
  CHECK(error_of_open("", Access::create).code == ErrorCode::io);
}

TEST_CASE("store: a store that nothing was put into leaves no file") {
  const TemporaryFolder folder;
  {
    auto store = Store::open(folder.file("s.db"), Access::create);
    REQUIRE(store);
    CHECK(store->list()->empty());
    CHECK(store->check());
    CHECK_FALSE(store->last_comparison()->has_value());
    CHECK_FALSE(store->load(std::vector{SnapshotId{1}}));
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("store: a closed store is one file in rollback mode") {
  const TemporaryFolder folder;
  make_store(folder.file("s.db"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
  std::ifstream file(folder.file("s.db"), std::ios::binary);
  std::string head(100, '\0');
  file.read(head.data(), 100);
  CHECK(head.substr(0, 15) == "SQLite format 3");
  CHECK(head[18] == 1);                 // 2 would be WAL
  CHECK(head.substr(68, 4) == "snpd");  // application id
}

TEST_CASE("store: files that are no store are refused and stay as they are") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x");
  const std::string bytes = GENERATE(std::string("\x89PNG\r\n\x1a\n and more"), std::string(5000, 'z'),
                                     std::string("heap profile: 1"), std::string("SQLite format 3\0 but no more", 28));
  write_file(path, bytes);
  for (const Access access : {Access::read, Access::write, Access::create}) {
    const Error error = error_of_open(path, access);
    CHECK(error.code == ErrorCode::unsupported);
  }
  CHECK(fs::file_size(path) == bytes.size());
}

TEST_CASE("store: a folder and another program's SQLite file are refused") {
  const TemporaryFolder folder;
  CHECK(error_of_open(folder.path().string(), Access::create).code == ErrorCode::unsupported);
  make_store(folder.file("s.db"));
  change(folder.file("s.db"), "PRAGMA application_id = 252006673");
  const Error error = error_of_open(folder.file("s.db"), Access::create);
  CHECK(error.code == ErrorCode::unsupported);
  CHECK(error.message == "not a store: found a SQLite file with application id 252006673, expected 1936617572");
}

TEST_CASE("store: an empty file becomes a store") {
  const TemporaryFolder folder;
  write_file(folder.file("s.db"), "");
  CHECK(snapshots_in(folder.file("s.db")) == 0);
  make_store(folder.file("s.db"));
  CHECK(snapshots_in(folder.file("s.db")) == 1);
}

TEST_CASE("store: a schema of another version is refused") {
  const TemporaryFolder folder;
  const std::string version = GENERATE("3", "7");
  make_store(folder.file("s.db"));
  change(folder.file("s.db"), "PRAGMA user_version = " + version);
  for (const Access access : {Access::read, Access::create}) {
    const Error error = error_of_open(folder.file("s.db"), access);
    CHECK(error.code == ErrorCode::incompatible);
    CHECK(error.message == "store version " + version + ", expected 5");
  }
}

TEST_CASE("store: a store opened for reading is not written") {
  const TemporaryFolder folder;
  make_store(folder.file("s.db"));
  auto store = Store::open(folder.file("s.db"), Access::read);
  REQUIRE(store);
  CHECK(store->add(small("1", {{"main;a", 1, 10}}), "s")->was_present);  // nothing to write
  const auto added = store->add(small("2", {{"main", 1, 1}}), "s");
  REQUIRE_FALSE(added);
  CHECK(added.error().code == ErrorCode::io);
}

TEST_CASE("store: a store on media that cannot be written is read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("odd %41 ?#.db");
  bool left_in_wal = false;
  SECTION("closed as it should be") { make_store(path); }
  SECTION("left in WAL mode with an empty log") {
    left_in_wal = true;
    in_dying_child([&] {
      auto store = Store::open(path, Access::create);
      (void)store->add(small("1", {{"main;a", 1, 10}}), "s");
      (void)store->sql("PRAGMA wal_checkpoint(TRUNCATE)", {}, true);
      _exit(0);
    });
    fs::remove(path + "-shm");
    if (GENERATE(true, false)) fs::remove(path + "-wal");
  }
  fs::permissions(path, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  {
    const Unprivileged nobody;
    if (!nobody.works()) {
      WARN("skipped: cannot give up the rights to write");
    } else {
      CHECK(snapshots_in(path) == 1);
      auto store = Store::open(path, Access::create);
      if (store) {
        const auto added = store->add(small("2", {{"main", 1, 1}}), "s");
        REQUIRE_FALSE(added);
        CHECK(added.error().code == ErrorCode::io);
      } else {
        CHECK(left_in_wal);
        CHECK(store.error().code == ErrorCode::io);
      }
      CHECK(error_of_open(folder.file("new.db"), Access::create).code == ErrorCode::io);
    }
  }
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST_CASE("store: a log that cannot be read in is not passed over in silence") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  make_store(path);
  in_dying_child([&] {
    auto store = Store::open(path, Access::write);
    (void)store->add(small("2", {{"main;a", 1, 10}}), "s");
    _exit(0);
  });
  REQUIRE(fs::file_size(path + "-wal") > 0);
  fs::remove(path + "-shm");
  for (const auto& file : fs::directory_iterator(folder.path())) fs::permissions(file, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  {
    const Unprivileged nobody;
    if (!nobody.works()) {
      WARN("skipped: cannot give up the rights to write");
    } else {
      CHECK(error_of_open(path, Access::read).code == ErrorCode::io);
    }
  }
  fs::permissions(folder.path(), fs::perms(0755));
  for (const auto& file : fs::directory_iterator(folder.path())) fs::permissions(file, fs::perms(0644));
  CHECK(snapshots_in(path) == 2);
}

TEST_CASE("store: when the store is full nothing half written stays") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  make_store(path);
  {
    auto store = Store::open(path, Access::write);
    REQUIRE(store);
    REQUIRE(store->sql("PRAGMA max_page_count = 45", {}, true));
    const auto added = store->add(test::wild(1, 3000, 3), "s");
    REQUIRE_FALSE(added);
    CHECK(added.error().code == ErrorCode::io);
    CHECK(added.error().message == "store cannot grow: database or disk is full");
    CHECK(added.error().subject == path);
    // The same store goes on working.
    CHECK(store->check());
    REQUIRE(store->add(small("2", {{"main;b", 1, 1}}), "s"));
    CHECK(store->load(std::vector{SnapshotId{1}, SnapshotId{2}}));
  }
  CHECK(snapshots_in(path) == 2);
}

TEST_CASE("store: when the disk refuses to write nothing half written stays") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  make_store(path);
  const rlim_t limit = GENERATE(as<rlim_t>(), 0, 5'000, 100'000, 150'000, 300'000);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, SIG_IGN);
  std::string said;
  {
    auto store = Store::open(path, Access::write);
    REQUIRE(store);
    const rlimit small_limit{limit, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small_limit) == 0);
    const auto added = store->add(test::wild(1, 3000, 3), "s");
    said = added ? "" : added.error().text();
    store = Store::open(":memory:", Access::create);  // closes it, still without space
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_FALSE(added);
    if (!added) CHECK(added.error().code == ErrorCode::io);
    if (!added) CHECK(added.error().subject == path);
  }
  INFO(said);
  CHECK(snapshots_in(path) == 1);
}

TEST_CASE("store: a busy store is waited for, then given up") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  make_store(path);
  auto other = Store::open(path, Access::write);
  REQUIRE(other);
  REQUIRE(other->sql("BEGIN IMMEDIATE", {}, true));
  auto store = Store::open(path, Access::write);
  REQUIRE(store);
  CHECK(store->list());  // reading goes on
  const auto start = std::chrono::steady_clock::now();
  const auto added = store->add(small("2", {{"main", 1, 1}}), "s");
  const auto waited = std::chrono::steady_clock::now() - start;
  REQUIRE_FALSE(added);
  CHECK(added.error().code == ErrorCode::io);
  CHECK(added.error().message.find("busy") != std::string::npos);
  CHECK(waited > std::chrono::milliseconds(4500));
  REQUIRE(other->sql("COMMIT", {}, true));
  CHECK(store->add(small("2", {{"main", 1, 1}}), "s"));
}
