#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "analyzer/store/store.hpp"
#include "unit/analyzer/store/made_series.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// Sizes and times, printed. Not part of a usual run: `store_test "[figures]"`.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::MadeSeries;
using snapdiff::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Clock {
 public:
  void print(const std::string& what) {
    const auto wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count();
    std::printf("%-52s %8.1f ms CPU %8.1f ms wall\n", what.c_str(), 1e3 * (cpu_seconds() - cpu_), 1e3 * wall);
    cpu_ = cpu_seconds();
    wall_ = std::chrono::steady_clock::now();
  }

 private:
  double cpu_ = cpu_seconds();
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
};

std::uintmax_t gzipped_size(const fs::path& folder, const std::string& bytes) {
  const fs::path file = folder / "one.pb";
  std::ofstream(file, std::ios::binary) << bytes;
  REQUIRE(std::system(("gzip -6 -f " + file.string()).c_str()) == 0);
  return fs::file_size(folder / "one.pb.gz");
}

void print_table_sizes(Store& store) {
  Store::SqlSink sink;
  sink.on_row = [](std::span<const QueryCell> row) {
    std::printf("    %-20s %10s\n", row[0].text->c_str(), row[1].text->c_str());
  };
  const Status done = store.sql("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 10", sink);
  if (!done) std::printf("    %s\n", done.error().message.c_str());
}

}  // namespace

TEST_CASE("store figures: 100 snapshots of 20 000 stacks", "[.][figures]") {
  for (const double changed : {0.10, 1.00}) {
    const TemporaryFolder folder;
    MadeSeries::Shape shape;
    shape.changed = changed;
    MadeSeries series(shape);
    std::uintmax_t inputs = 0;
    const std::string path = folder.file("series.db");
    double cpu = 0;
    {
      auto store = Store::open(path, Access::create);
      REQUIRE(store);
      for (int i = 0; i < 100; ++i) {
        const Snapshot snapshot = series.snapshot();
        if (i % 20 == 0) inputs += 20 * gzipped_size(folder.path(), test::as_pprof(snapshot));
        const double before = cpu_seconds();
        REQUIRE(store->add(snapshot, "made"));
        cpu += cpu_seconds() - before;
        series.step();
      }
    }
    const auto size = fs::file_size(path);
    std::printf("%.0f %% changed: store %ju bytes, inputs %ju gzip'd: %.2f %%, add %.1f ms CPU each\n", changed * 100,
                size, inputs, 100.0 * static_cast<double>(size) / static_cast<double>(inputs), cpu * 10);
    auto store = Store::open(path, Access::read);
    REQUIRE(store);
    print_table_sizes(*store);
  }
}

TEST_CASE("store figures: two snapshots of 1 000 000 stacks", "[.][figures]") {
  MadeSeries::Shape shape;
  shape.stacks = 1'000'000;
  shape.functions = 40'000;
  shape.min_depth = 25;
  shape.max_depth = 35;
  MadeSeries series(shape);
  const Snapshot first = series.snapshot();
  series.step();
  const Snapshot second = series.snapshot();
  std::printf("%zu frames, %zu strings\n", first.dictionary->frames.size(), first.dictionary->strings.size());
  const TemporaryFolder folder;
  const std::string path = folder.file("large.db");
  std::vector<SnapshotId> ids;
  Clock clock;
  {
    auto store = Store::open(path, Access::create);
    REQUIRE(store);
    ids.push_back(store->add(first, "large").value().id);
    clock.print("add 1 000 000 stacks");
    ids.push_back(store->add(second, "large").value().id);
    clock.print("add the next snapshot");
  }
  clock.print("close");
  std::printf("store %ju bytes\n", fs::file_size(path));
  auto store = Store::open(path, Access::read);
  REQUIRE(store);
  const auto loaded = store->load(ids);
  REQUIRE(loaded);
  clock.print("load both");
  Store::SqlSink sink;
  REQUIRE(store->sql("SELECT sum(growth) FROM growth(1, 2) WHERE metric = 'inuse_space'", sink));
  clock.print("growth(1, 2)");
  REQUIRE(store->sql("SELECT sum(value) FROM sample", sink));
  clock.print("sum of all samples");
  REQUIRE(store->sql("SELECT sum(depth) FROM stack", sink));
  clock.print("sum of all depths");
}

TEST_CASE("store figures: a small snapshot", "[.][figures]") {
  MadeSeries::Shape shape;
  shape.stacks = 200;
  shape.functions = 300;
  MadeSeries series(shape);
  const Snapshot snapshot = series.snapshot();
  std::printf("%zu frames\n", snapshot.dictionary->frames.size());
  const TemporaryFolder folder;
  Clock clock;
  for (int i = 0; i < 20; ++i) {
    auto store = Store::open(folder.file(std::to_string(i) + ".db"), Access::create);
    REQUIRE(store);
    REQUIRE(store->add(snapshot, "small"));
  }
  clock.print("20 new stores of one small snapshot each");
  std::printf("store %ju bytes\n", fs::file_size(folder.file("0.db")));
  for (int i = 0; i < 20; ++i) {
    auto store = Store::open(":memory:", Access::create);
    REQUIRE(store);
    REQUIRE(store->add(snapshot, "small"));
  }
  clock.print("the same in memory");
}
