#include <catch2/catch.hpp>
#include <map>

#include "analyzer/store/store.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// Addresses that get their names after the import.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::TemporaryFolder;

namespace {

/// One row of `bytes` for each stack of addresses (offsets in /bin/app, leaf first).
Snapshot addresses(const std::string& name,
                   const std::vector<std::pair<std::vector<std::uint64_t>, std::int64_t>>& rows) {
  SnapshotBuilder b;
  b.add_column({"inuse_space", "bytes"});
  for (const auto& [offsets, bytes] : rows) {
    std::vector<FrameId> frames;
    for (const std::uint64_t offset : offsets) {
      SnapshotBuilder::FrameSpec spec;
      spec.module = b.module("/bin/app", "");
      spec.offset = offset;
      frames.push_back(b.frame(spec));
    }
    b.add_row(b.stack(frames), LabelSetId{}, std::array{bytes});
  }
  b.facts().source.name = name;
  b.facts().source.sha256 = "sha256 of " + name;
  b.facts().format = "made";
  return std::move(b.finish()).value();
}

/// What the symbols module makes of a dictionary: offset -> functions inlined there, innermost first,
/// and last the one that holds the code.
using Names = std::map<std::uint64_t, std::vector<std::string>>;

Dictionary named(const Snapshot& snapshot, const Names& names) {
  Dictionary d = *snapshot.dictionary;
  const auto function = [&](const std::string& name) {
    d.functions.name.push_back(d.strings.append(name));
    d.functions.system_name.push_back(StringId{});
    d.functions.file.push_back(d.strings.append(name + ".cc"));
    d.functions.start_line.push_back(0);
    return FunctionId{static_cast<std::uint32_t>(d.functions.size() - 1)};
  };
  StackTable stacks;
  std::map<std::uint32_t, std::vector<FrameId>> inlined;
  const std::size_t frames = d.frames.size();
  for (std::size_t f = 0; f < frames; ++f) {
    const auto found = names.find(d.frames.offset[f]);
    if (found == names.end() || (d.frames.flags[f] & kFrameDerived) != 0) continue;
    d.frames.function[f] = function(found->second.back());
    d.frames.line[f] = 7;
    for (std::size_t i = 0; i + 1 < found->second.size(); ++i) {
      d.frames.module.push_back(d.frames.module[f]);
      d.frames.offset.push_back(d.frames.offset[f]);
      d.frames.function.push_back(function(found->second[i]));
      d.frames.line.push_back(static_cast<std::int32_t>(i + 1));
      d.frames.column.push_back(0);
      d.frames.flags.push_back(kFrameInlined | kFrameDerived);
      d.frames.hash.push_back({d.frames.hash[f].low ^ (found->second.size() - i), d.frames.hash[f].high});
      inlined[static_cast<std::uint32_t>(f)].push_back(FrameId{static_cast<std::uint32_t>(d.frames.size() - 1)});
    }
  }
  for (std::size_t s = 1; s < d.stacks.size(); ++s) {
    for (const FrameId frame : d.stacks.frames(StackId{static_cast<std::uint32_t>(s)})) {
      if ((d.frames.flags[index_of(frame)] & kFrameDerived) != 0) continue;
      const auto& chain = inlined[static_cast<std::uint32_t>(frame)];
      stacks.frame.insert(stacks.frame.end(), chain.begin(), chain.end());
      stacks.frame.push_back(frame);
    }
    stacks.begin.push_back(stacks.frame.size());
    stacks.hash.push_back(d.stacks.hash[s]);
  }
  d.stacks = stacks;
  return d;
}

/// "leaf<caller=bytes" for each row, addresses as numbers, sorted.
std::vector<std::string> rows_of(const Snapshot& s) {
  std::vector<std::string> rows;
  const Dictionary& d = *s.dictionary;
  for (std::size_t row = 0; row < s.samples.size(); ++row) {
    std::string text;
    for (const FrameId frame : d.stacks.frames(s.samples.stack[row])) {
      const std::size_t f = index_of(frame);
      const auto name = d.strings[d.functions.name[index_of(d.frames.function[f])]];
      text += (text.empty() ? "" : "<") + (name.empty() ? std::to_string(d.frames.offset[f]) : std::string(name));
    }
    rows.push_back(text + "=" + std::to_string(s.samples.columns[0].value[row]));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

Snapshot load(Store& store, std::int64_t id) {
  auto loaded = store.load(std::vector{SnapshotId{id}});
  if (!loaded) FAIL(loaded.error().text());
  return std::move(loaded->front());
}

std::string count_of(Store& store, const std::string& sql) {
  std::string value;
  Store::SqlSink sink;
  sink.on_row = [&](std::span<const QueryCell> row) { value = row[0].text.value_or("NULL"); };
  REQUIRE(store.sql(sql, sink));
  return value;
}

const std::vector<std::pair<std::vector<std::uint64_t>, std::int64_t>> kRows = {
    {{16, 32, 48}, 100}, {{17, 48}, 20}, {{16, 64, 48}, 3}};
const Names kNames = {{16, {"inner", "middle", "outer"}}, {48, {"main"}}, {64, {"helper"}}};

}  // namespace

TEST_CASE("names: stored addresses get functions and inlined frames, and keep hashes, ids and values") {
  const TemporaryFolder folder;
  auto store = Store::open(folder.file("s.db"), Access::create);
  REQUIRE(store);
  const Snapshot raw = addresses("1", kRows);
  REQUIRE(store->add(raw, "s"));
  REQUIRE(store->add(addresses("2", {{{16, 32, 48}, 150}, {{17, 48}, 20}}), "s"));
  const Snapshot before = load(*store, 1);

  const auto changed = store->take_names(named(before, kNames));
  REQUIRE(changed);
  CHECK(*changed == 3);
  CHECK(store->check());
  const Snapshot after = load(*store, 1);
  CHECK(rows_of(after) ==
        std::vector<std::string>{"17<main=20", "inner<middle<outer<32<main=100", "inner<middle<outer<helper<main=3"});
  CHECK(after.dictionary->stacks.hash == before.dictionary->stacks.hash);
  CHECK(rows_of(load(*store, 2)) == std::vector<std::string>{"17<main=20", "inner<middle<outer<32<main=150"});
  CHECK(
      count_of(*store,
               "SELECT count(*) FROM frame WHERE hash IN (SELECT hash FROM frame GROUP BY hash HAVING count(*) > 1)") ==
      "0");

  // Naming again with the same names does nothing; a later import without names finds the same stacks.
  CHECK(*store->take_names(named(load(*store, 1), kNames)) == 0);
  REQUIRE(store->add(addresses("3", kRows), "s"));
  CHECK(count_of(*store, "SELECT sum(stacks) FROM stack_chunk") == "3");
  CHECK(rows_of(load(*store, 3)) == rows_of(after));
}

TEST_CASE("names: better binaries replace names and what was inlined") {
  const TemporaryFolder folder;
  auto store = Store::open(folder.file("s.db"), Access::create);
  REQUIRE(store);
  REQUIRE(store->add(addresses("1", kRows), "s"));
  REQUIRE(store->take_names(named(load(*store, 1), kNames)));
  const auto changed =
      store->take_names(named(load(*store, 1), {{16, {"leaf", "outer"}}, {32, {"x"}}, {48, {"main"}}}));
  REQUIRE(changed);
  CHECK(store->check());
  CHECK(rows_of(load(*store, 1)) ==
        std::vector<std::string>{"17<main=20", "leaf<outer<helper<main=3", "leaf<outer<x<main=100"});
}

TEST_CASE("names: a snapshot that came with names and one without share their stacks") {
  const TemporaryFolder folder;
  auto store = Store::open(folder.file("s.db"), Access::create);
  REQUIRE(store);
  Snapshot first = addresses("1", kRows);
  first.dictionary = std::make_shared<const Dictionary>(named(first, kNames));
  REQUIRE(store->add(first, "s"));
  REQUIRE(store->add(addresses("2", kRows), "s"));
  CHECK(count_of(*store, "SELECT sum(stacks) FROM stack_chunk") == "3");
  CHECK(rows_of(load(*store, 2)) == rows_of(first));
  CHECK(load(*store, 1).dictionary->stacks.hash.size() == first.dictionary->stacks.hash.size());
  CHECK(store->check());
}

TEST_CASE("names: what is inlined at an address stays when others are named, and is in new stacks") {
  const TemporaryFolder folder;
  auto store = Store::open(folder.file("s.db"), Access::create);
  REQUIRE(store);
  REQUIRE(store->add(addresses("1", kRows), "s"));
  REQUIRE(store->take_names(named(load(*store, 1), kNames)));
  REQUIRE(store->add(addresses("2", {{{16, 80, 48}, 7}}), "s"));
  // Only the new address is looked up: of the others the naming says nothing but the names that they have.
  const auto known = store->addresses();
  REQUIRE(known);
  REQUIRE(store->take_names(named(known->front(), {{80, {"fresh"}}})));
  CHECK(store->check());
  CHECK(rows_of(load(*store, 1)) ==
        std::vector<std::string>{"17<main=20", "inner<middle<outer<32<main=100", "inner<middle<outer<helper<main=3"});
  CHECK(rows_of(load(*store, 2)) == std::vector<std::string>{"inner<middle<outer<fresh<main=7"});
}

TEST_CASE("names: nothing to name changes nothing") {
  const TemporaryFolder folder;
  auto store = Store::open(folder.file("s.db"), Access::create);
  REQUIRE(store);
  REQUIRE(store->add(test::small("1", {{"main;a", 1, 10}}), "s"));
  CHECK(*store->take_names(*load(*store, 1).dictionary) == 0);
  CHECK(store->check());
}
