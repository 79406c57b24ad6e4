#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& loaders() { return formats::kJvmClassLoaders; }

}  // namespace

TEST_CASE("jvm-classloaders: rows by type add up to the Total line") {
  const Snapshot first = read_one(loaders(), test_data("jvm_native/classloader_stats.01.txt"));
  const Snapshot last = read_one(loaders(), test_data("jvm_native/classloader_stats.03.txt"));
  for (const auto& [snapshot, count, classes, bytes] :
       {std::tuple(&first, 15, 1041, 584320), std::tuple(&last, 27, 1066, 599680)}) {
    CHECK(total(*snapshot, "loaders") == count);
    CHECK(total(*snapshot, "classes") == classes);
    CHECK(total(*snapshot, "chunk_space") == bytes);
    CHECK(snapshot->facts.complete);
    CHECK(snapshot->facts.notes.empty());
    CHECK(snapshot->facts.pid == 18552);
  }
  CHECK(rows(last).at("java.net.URLClassLoader {type=java.net.URLClassLoader}") == "30336 19532 48 24");
  CHECK(rows(last).count("<boot class loader> + hidden classes {type=<boot class loader> + hidden classes}") == 1);
}

TEST_CASE("jvm-classloaders: two tables are a series, one without Total, or with another, is not complete") {
  const std::string text = test_data("jvm_native/classloader_stats.01.txt");
  CHECK(read_ok(loaders(), text + text).size() == 2);
  check_disguises(loaders(), text);
  check_cuts(loaders(), text, 17);
  const std::string heading =
      "ClassLoader  Parent  CLD*  Classes  ChunkSz  BlockSz  Type\n0x1  0x0  0x2  2  1280  811  a.L\n";
  CHECK(has_note(read_one(loaders(), heading + "Total = 1   2  1281  811\n"), "do not add up"));
  CHECK(read_one(loaders(), heading).facts.partial);
  CHECK(read_error(loaders(), "nothing\n").find("ClassLoader") != std::string::npos);
}
