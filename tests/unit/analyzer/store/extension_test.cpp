#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "analyzer/store/store.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// libsnapdiff_sqlite.so in the programs that people have: the sqlite3 shell, Debian's Python.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::small;
using snapdiff::test::TemporaryFolder;

namespace {

std::string output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output.push_back(static_cast<char>(c));
  pclose(pipe);
  return output;
}

bool runs(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

std::string make_store(const TemporaryFolder& folder) {
  const std::string path = folder.file("s.db");
  auto store = Store::open(path, Access::create);
  REQUIRE(store);
  REQUIRE(store->add(small("1", {{"main;a", 1, 10}, {"main;b", 2, 20}}), "s"));
  REQUIRE(store->add(small("2", {{"main;a", 3, 35}, {"main;c", 5, 50}}), "s"));
  return path;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// A program without the sanitizer's runtime cannot load a library that was built with it.
bool loadable_here() {
  if (kSanitized) WARN("skipped: the extension is built with a sanitizer, the programs that load it are not");
  return !kSanitized;
}

std::string library() {
  std::string path = SNAPDIFF_SQLITE_EXTENSION;
  return path.substr(0, path.size() - std::string(".so").size());
}

}  // namespace

TEST_CASE("store extension: the sqlite3 shell sees stacks, samples and growth") {
  if (!loadable_here()) return;
  if (!runs("sqlite3 --version")) {
    WARN("skipped: no sqlite3 shell");
    return;
  }
  const TemporaryFolder folder;
  const std::string store = make_store(folder);
  const auto shell = [&](const std::string& sql) {
    const std::string script = folder.file("script.sql");
    std::ofstream(script) << ".load " << library() << "\n" << sql << "\n";
    return output_of("sqlite3 -batch '" + store + "' < '" + script + "'");
  };
  CHECK(shell("SELECT text FROM stack;") == "a ‹ main\nb ‹ main\nc ‹ main\n");
  CHECK(shell("SELECT sum(value) FROM sample WHERE metric = 'inuse_space' GROUP BY snapshot;") == "30\n85\n");
  CHECK(shell("SELECT stack_text(stack), growth FROM growth(1, 2) WHERE metric = 'inuse_space' ORDER BY growth;") ==
        "b ‹ main|-20\na ‹ main|25\nc ‹ main|50\n");
  CHECK(shell("SELECT count(*) FROM sample WHERE (snapshot = 1 AND stack = 1) OR (snapshot = 1 AND stack = 2);") ==
        "4\n");
  CHECK(shell("SELECT * FROM growth;").find("growth(from, to) needs two snapshot ids") != std::string::npos);
  // Twice, and with something else of the same name: nothing may dangle.
  CHECK(shell(".load " + library() + "\nSELECT count(*) FROM stack;") == "3\n");
  CHECK(shell("SELECT name FROM sqlite_schema WHERE sql LIKE '%VIRTUAL%';").empty());
}

TEST_CASE("store extension: a database that is no store is told apart") {
  if (!loadable_here()) return;
  if (!runs("sqlite3 --version")) {
    WARN("skipped: no sqlite3 shell");
    return;
  }
  const std::string said = output_of("sqlite3 -batch -cmd '.load " + library() + "' :memory: 'SELECT * FROM stack'");
  CHECK(said.find("this database is not a store") != std::string::npos);
}

TEST_CASE("store extension: Python's sqlite3 module sees the same") {
  if (!loadable_here()) return;
  const std::string python = "/usr/bin/python3";
  if (!runs(python + " -c 'import sqlite3; sqlite3.connect(\":memory:\").enable_load_extension(True)'")) {
    WARN("skipped: no Python that loads extensions");
    return;
  }
  const TemporaryFolder folder;
  const std::string store = make_store(folder);
  const std::string script = folder.file("script.py");
  std::ofstream(script)
      << "import sqlite3\n"
         "db = sqlite3.connect('" +
             store +
             "')\n"
             "db.enable_load_extension(True)\n"
             "db.load_extension('" +
             library() +
             "')\n"
             "print(db.execute('SELECT sum(growth) FROM growth(1, 2) WHERE metric = ?', ('inuse_space',)).fetchall())\n"
             "db.create_function('stack_text', 1, lambda x: 'mine')\n"
             "print(db.execute('SELECT stack_text(1), text FROM stack WHERE id = 1').fetchall())\n"
             "other = db.execute('SELECT text FROM stack')\n"
             "print(other.fetchone())\n"
             "try:\n"
             "  db.execute('SELECT * FROM growth(1, 7)').fetchall()\n"
             "except sqlite3.Error as error:\n"
             "  print(error)\n"
             "db.close()\n";
  CHECK(output_of(python + " '" + script + "'") ==
        "[(55,)]\n[('mine', 'a ‹ main')]\n('a ‹ main',)\nsnapshot @7 is not in the store\n");
}
