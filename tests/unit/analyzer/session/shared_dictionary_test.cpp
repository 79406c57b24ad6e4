#include "analyzer/session/shared_dictionary.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/base/validate.hpp"

/// Snapshots of one program, each read from a file of its own, that come to share a dictionary.
namespace snapdiff::session {
namespace {

/// One stack each of main and a function of this name, with these bytes.
struct Row {
  std::string function;
  std::int64_t bytes;
};

Snapshot snapshot_of(const std::vector<Row>& rows, const std::string& build_id = "aa", std::uint64_t offset = 64,
                     std::uint8_t flags = 0, const HeldStacks* held = nullptr) {
  SnapshotBuilder builder;
  builder.leave_out(held);
  builder.add_column({"inuse_space", "bytes"});
  const auto frame = [&](const std::string& name) {
    FrameSpec spec;
    spec.module = builder.module("/bin/service", build_id);
    spec.function = builder.function(name, "service.go");
    spec.line = 7;
    spec.offset = offset;
    spec.flags = flags;
    return builder.frame(spec);
  };
  std::vector<std::array<FrameId, 2>> frames;
  for (const Row& row : rows) frames.push_back({frame(row.function), frame("main")});
  const std::vector<StackId> stacks =
      builder.stacks(rows.size(), [&](std::size_t begin, std::size_t end, const SnapshotBuilder::TakeStack& take) {
        for (std::size_t s = begin; s < end; ++s) take(s, frames[s]);
      });
  for (std::size_t s = 0; s < rows.size(); ++s) builder.add_row(stacks[s], LabelSetId{}, std::span(&rows[s].bytes, 1));
  Result<Snapshot> made = builder.finish();
  REQUIRE(made);
  return *std::move(made);
}

/// The leaf's name and the bytes of each row, in the order of the table.
std::vector<std::string> rows_of(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  std::vector<std::string> out;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const FrameId leaf = d.stacks.frames(snapshot.samples.stack[row]).front();
    const FunctionId function = d.frames.function[index_of(leaf)];
    out.push_back(std::string(d.strings[d.functions.name[index_of(function)]]) + " " +
                  std::to_string(snapshot.samples.columns.front().value[row]));
  }
  return out;
}

TEST_CASE("an older snapshot of the same program takes the newer one's stacks, and its own come after them") {
  Snapshot newer = snapshot_of({{"a", 1}, {"b", 2}, {"c", 3}});
  Snapshot older = snapshot_of({{"gone", 8}, {"c", 30}, {"a", 10}});
  SharedDictionary shared;
  shared.adopt(newer);
  shared.take_if_alike(older);
  CHECK(older.dictionary == newer.dictionary);
  CHECK(newer.dictionary->stacks.size() == 5);  // the empty one, a, b, c, gone
  CHECK(rows_of(newer) == std::vector<std::string>{"a 1", "b 2", "c 3"});
  CHECK(rows_of(older) == std::vector<std::string>{"a 10", "c 30", "gone 8"});
  CHECK(validate(older));
}

TEST_CASE("a snapshot whose stacks are mostly others keeps its dictionary") {
  Snapshot newer = snapshot_of({{"a", 1}, {"b", 2}});
  Snapshot older = snapshot_of({{"a", 1}, {"x", 2}, {"y", 3}, {"z", 4}});
  SharedDictionary shared;
  shared.adopt(newer);
  shared.take_if_alike(older);
  CHECK(older.dictionary != newer.dictionary);
  CHECK(newer.dictionary->stacks.size() == 3);
  CHECK(rows_of(older) == std::vector<std::string>{"a 1", "x 2", "y 3", "z 4"});
}

TEST_CASE("a snapshot that left out the frames of stacks that are held is the same in the end") {
  const std::vector<Row> alike = {{"gone", 8}, {"c", 30}, {"a", 10}}, unlike = {{"a", 1}, {"x", 2}, {"y", 3}, {"z", 4}};
  const std::uint64_t offset = GENERATE(64U, 65U);  // 65: frames of equal hashes say another thing
  for (const std::vector<Row>& rows : {alike, unlike}) {
    std::array<Snapshot, 2> newer, older;
    for (std::size_t left_out = 0; left_out < 2; ++left_out) {
      newer[left_out] = snapshot_of({{"a", 1}, {"b", 2}, {"c", 3}}, "");
      SharedDictionary shared;
      shared.adopt(newer[left_out]);
      older[left_out] = snapshot_of(rows, "", offset, 0, left_out == 0 ? nullptr : &shared);
      CHECK((older[left_out].dictionary->stacks.frames(StackId{1}).empty()) ==
            (left_out == 1 && rows.front().function == "a"));
      shared.take_if_alike(older[left_out]);
    }
    CHECK((older[0].dictionary == newer[0].dictionary) == (older[1].dictionary == newer[1].dictionary));
    CHECK(older[0].dictionary->stacks.frame == older[1].dictionary->stacks.frame);
    CHECK(older[0].dictionary->stacks.begin == older[1].dictionary->stacks.begin);
    CHECK(older[0].samples.stack == older[1].samples.stack);
    CHECK(validate(older[1]));
  }
}

TEST_CASE("frames of another build are others, though their functions and lines are the same") {
  Snapshot newer = snapshot_of({{"a", 1}, {"b", 2}});
  Snapshot older = snapshot_of({{"a", 1}, {"b", 2}}, "bb");
  SharedDictionary shared;
  shared.adopt(newer);
  shared.take_if_alike(older);
  CHECK(older.dictionary != newer.dictionary);
  CHECK(newer.dictionary->modules.size() == 2);  // none, and its own
}

TEST_CASE("another call in the same line of one build is the same frame, of an unknown build it may be another one") {
  for (const auto& [build_id, flags] :
       {std::pair<std::string, std::uint8_t>{"aa", 0}, {"aa", kFrameInlined}, {"", 0}, {"", kFrameInlined}}) {
    Snapshot newer = snapshot_of({{"a", 1}, {"b", 2}}, build_id);
    Snapshot older = snapshot_of({{"a", 1}, {"b", 2}}, build_id, 96, flags);
    SharedDictionary shared;
    shared.adopt(newer);
    shared.take_if_alike(older);
    CHECK((older.dictionary == newer.dictionary) == !build_id.empty());
    CHECK(rows_of(older) == std::vector<std::string>{"a 1", "b 2"});
  }
}

TEST_CASE("a long series shares one dictionary in the order of its files") {
  Snapshot first = snapshot_of({{"a", 1}, {"b", 2}});
  Snapshot second = snapshot_of({{"c", 3}, {"b", 4}});
  SharedDictionary shared;
  shared.take(first);
  shared.take(second);
  CHECK(first.dictionary == second.dictionary);
  CHECK(rows_of(first) == std::vector<std::string>{"a 1", "b 2"});
  CHECK(rows_of(second) == std::vector<std::string>{"b 4", "c 3"});
}

}  // namespace
}  // namespace snapdiff::session
