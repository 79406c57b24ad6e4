#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formats/input/all_formats.hpp"
#include "helpers.hpp"
#include "support/memory_input.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Rows = std::vector<std::string>;

namespace {

const std::string kFull = lines({
    R"({"k":"header","format":"snapdiff-tracker","version":1,"process":{"pid":4242}})",
    R"({"k":"frame","id":1,"fn":"step","file":"t.cs","line":88})",
    R"({"k":"frame","id":2,"fn":"Main"})",
    R"({"k":"stack","id":1,"frames":[1,2]})",
    R"({"k":"snapshot","id":"e0","seq":0,"time":1767225600.5,"totals":{"bytes":16}})",
    R"({"k":"live","stack":1,"type":"Tensor","bytes":16,"tags":{"device":"cuda:0"}})",
    R"({"k":"counter","name":"n","value":20,"tags":{"thread":"1"}})",
    R"({"k":"end","id":"e0","rows":2})",
    R"({"k":"snapshot","id":"e1","seq":1,"time":"2026-01-01T00:00:00Z"})",
    R"({"k":"node","id":"n1","type":"Cache","bytes":64,"root":"static"})",
    R"({"k":"node","id":"n2","type":"byte[]","bytes":4096})",
    R"({"k":"edge","from":"n1","to":"n2","label":"entries[0]"})",
    R"({"k":"end","id":"e1","rows":3})",
});

Result<std::vector<Snapshot>> read_in_windows(const std::string& bytes, std::size_t window) {
  MemoryInput in(bytes, window);
  SnapshotList list;
  if (Status read = formats::kTrackerLines.read(in, list); !read) return std::move(read).error();
  return std::move(list.snapshots);
}

}  // namespace

TEST_CASE("tracker lines: every truncation is an error or a series with its losses told") {
  std::size_t whole_snapshots = 0;
  for (std::size_t size = 0; size <= kFull.size(); ++size) {
    const std::string cut = kFull.substr(0, size);
    const auto read = read_in_windows(cut, size % 3 == 0 ? 1 : 0);
    const bool has_snapshot =
        cut.find("\"e0\",\"seq\":0,\"time\":1767225600.5,\"totals\":{\"bytes\":16}}") != std::string::npos;
    INFO(cut);
    REQUIRE(read.has_value() == has_snapshot);
    if (!read) {
      CHECK(read.error().code == ErrorCode::malformed);
      continue;
    }
    whole_snapshots = 0;
    for (const Snapshot& snapshot : *read) whole_snapshots += snapshot.facts.partial ? 0U : 1U;
    const std::size_t ends = (cut.find("\"rows\":2}") != std::string::npos ? 1U : 0U) +
                             (cut.find("\"rows\":3}") != std::string::npos ? 1U : 0U);
    CHECK(whole_snapshots == ends);
  }
  CHECK(whole_snapshots == 2);
}

TEST_CASE("tracker lines: every flipped byte is an error or a series, the same in all windows") {
  for (std::size_t at = 0; at < kFull.size(); ++at) {
    for (const int bit : {0, 2, 5, 7}) {
      std::string damaged = kFull;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const auto whole = read_in_windows(damaged, 0);
      const auto parts = read_in_windows(damaged, 1);
      REQUIRE(whole.has_value() == parts.has_value());
      if (!whole) {
        CHECK(whole.error().code != ErrorCode::internal);
        CHECK(whole.error().text() == parts.error().text());
        continue;
      }
      REQUIRE(whole->size() == parts->size());
      for (std::size_t i = 0; i < whole->size(); ++i) {
        CHECK(rows_of((*whole)[i]) == rows_of((*parts)[i]));
        CHECK((*whole)[i].facts == (*parts)[i].facts);
      }
    }
  }
}

TEST_CASE("tracker lines: a line beyond 16 MiB is passed over, one of 16 MiB is read") {
  const std::string start = R"({"k":"live","type":"T","count":1,"x_pad":")";
  const std::size_t most = std::size_t{16} << 20;
  const std::string longest = start + std::string(most - start.size() - 2, 'x') + "\"}";
  const std::string good = R"({"k":"live","type":"G","count":2})";
  const std::string fits = one_snapshot({longest, good});
  CHECK(rows_of(read_lines(fits).at(0)) == Rows{"G {type=G} - 2", "T {type=T} - 1"});
  const std::string beyond = one_snapshot({longest + " ", good});
  CHECK(rows_of(read_lines(beyond).at(0)) == Rows{"G {type=G} - 2"});
  CHECK(check_lines(beyond) == Rows{"3 rule 7 data loss line longer than 16 MiB"});
  const auto in_windows = read_in_windows(beyond, 1);
  REQUIRE(in_windows);
  CHECK(rows_of(in_windows->at(0)) == Rows{"G {type=G} - 2"});
}

TEST_CASE("tracker lines: a long line without an end is dropped") {
  const std::string bytes = one_snapshot({R"({"k":"live","type":"G","count":2})"}) + std::string(20U << 20, 'x');
  const auto all = read_lines(bytes);
  CHECK(rows_of(all.at(0)) == Rows{"G {type=G} - 2"});
  CHECK(note_with(all[0], "line") != nullptr);
}

TEST_CASE("tracker lines: nesting of 10 000 levels is a bad line") {
  const std::string deep =
      R"({"k":"live","type":"T","count":1,"x":)" + std::string(10000, '[') + std::string(10000, ']') + "}";
  CHECK(check_lines(one_snapshot({deep, R"({"k":"live","type":"G","count":2})"})) ==
        Rows{"3 rule 7 data loss nested deeper than 8 levels"});
  // The line is level 1, so that seven more are read.
  const std::string eight = R"({"k":"live","type":"T","count":1,"x_a":[[[[[[[1]]]]]]]})";
  CHECK(rows_of(read_lines(one_snapshot({eight})).at(0)) == Rows{"T {type=T} - 1"});
}

TEST_CASE("tracker lines: a stack of a million frames is read, a longer one is a bad line") {
  const auto stack_of = [](std::size_t frames) {
    std::string text = R"({"k":"stack","id":1,"frames":[1)";
    for (std::size_t i = 1; i < frames; ++i) text += ",1";
    return text + "]}";
  };
  const auto file_of = [&](std::size_t frames) {
    return lines({kHeader, R"({"k":"frame","id":1,"fn":"f"})", stack_of(frames), R"({"k":"snapshot","id":"s"})",
                  R"({"k":"live","stack":1,"bytes":1})", R"({"k":"live","type":"T","bytes":1})",
                  R"({"k":"end","id":"s","rows":2})"});
  };
  const auto all = read_lines(file_of(1'000'000));
  const Dictionary& d = *all.at(0).dictionary;
  CHECK(d.stacks.frames(all[0].samples.stack[0]).size() == 1'000'000);
  const auto told = check_lines(file_of(1'000'001));
  REQUIRE(told.size() == 2);
  CHECK(told[0].find("stack of more than 1000000 frames") != std::string::npos);
}

TEST_CASE("tracker lines: thousands of unknown keys do not become thousands of notes") {
  std::string bytes = lines({kHeader, R"({"k":"snapshot","id":"s"})"});
  for (int i = 0; i < 5000; ++i) bytes += R"({"k":"live","type":"T","count":1,"key)" + std::to_string(i) + "\":0}\n";
  bytes += R"({"k":"end","id":"s","rows":5000})";
  const auto all = read_lines(bytes);
  CHECK(all.at(0).facts.notes.all().size() < 50);
  REQUIRE(note_with(all[0], "further unknown keys") != nullptr);
  CHECK(note_with(all[0], "further unknown keys")->count == 5000 - 32);
}
