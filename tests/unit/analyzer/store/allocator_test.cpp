#include <catch2/catch.hpp>
#include <filesystem>

#include "analyzer/store/allocator_codec.hpp"
#include "analyzer/store/store.hpp"
#include "support/same_allocator.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/made_allocator.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// Segments, blocks and traces of caching allocators: in, out, and what maintenance does to them.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::AllocatorShape;
using snapdiff::test::folded;
using snapdiff::test::TemporaryFolder;
using snapdiff::test::with_allocator;

namespace {

SnapshotId add(Store& store, const Snapshot& snapshot, const std::string& series = "s") {
  auto imported = store.add(snapshot, series);
  if (!imported) FAIL(imported.error().text());
  return imported->id;
}

Snapshot load(Store& store, SnapshotId id) {
  auto loaded = store.load(std::span(&id, 1), Parts::allocator);
  if (!loaded) FAIL(loaded.error().text());
  return std::move(loaded->front());
}

std::string whats_other(const Snapshot& a, const Snapshot& b) {
  const std::string rows = test::difference(a, b);
  return rows.empty() ? test::difference_of_allocators(a, b) : rows;
}

std::string whats_wrong(Store& store) {
  const Status sound = store.check();
  return sound ? "" : sound.error().text();
}

std::string query(Store& store, const std::string& sql, bool may_write = false) {
  std::string text;
  Store::SqlSink sink;
  sink.on_row = [&](std::span<const QueryCell> row) {
    if (!text.empty()) text += ';';
    for (std::size_t c = 0; c < row.size(); ++c) text += (c > 0 ? "|" : "") + row[c].text.value_or("NULL");
  };
  const Status done = store.sql(sql, sink, may_write);
  return done ? text : "error: " + done.error().message;
}

/// Two segments, three blocks, four events; all stacks but main;a are named by one thing only.
Snapshot known_state(const std::string& name = "known") {
  SnapshotBuilder b;
  b.add_column({"inuse_space", "bytes"});
  const std::int64_t value = 1000;
  b.add_row(folded(b, "main;a"), LabelSetId{}, std::span(&value, 1));
  auto state = std::make_shared<AllocatorState>();
  state->has_segments = true;
  state->streams = {0, 7};
  state->pools = {{0, 0}, {0, 1}};
  SegmentTable& s = state->segments;
  s.device = {0, 1};
  s.address = {4096, 8192};
  s.size = {2048, 1024};
  s.stated_allocated = {1024, -1};
  s.stated_active = {1536, -1};
  s.stated_requested = {1000, -1};
  s.stream = {0, 1};
  s.pool = {0, 1};
  s.flags = {kSegmentSmall, kSegmentExpandable};
  s.stack = {folded(b, "main;reserve"), StackId{}};
  s.block_begin = {0, 2, 3};
  BlockTable& t = state->blocks;
  t.segment = {0, 0, 1};
  t.address = {4096, 5120, 8192};
  t.size = {1024, 1024, 1024};
  t.requested = {1000, 0, 900};
  t.state = {BlockState::allocated, BlockState::inactive, BlockState::pending};
  t.stack = {folded(b, "main;a"), StackId{}, folded(b, "main;block")};
  DeviceTrace trace;
  trace.events.append({TraceAction::segment_alloc, 0, 0, StackId{}, 4096, 2048, kNoTime});
  trace.events.append({TraceAction::alloc, 0, 0, folded(b, "main;a"), 4096, 1000, 100});
  trace.events.append({TraceAction::free_requested, 1, 1, folded(b, "main;event"), 8192, 900, 150});
  trace.events.append({TraceAction::oom, 0, 0, folded(b, "main;a"), 777, 1 << 20, 200});
  state->traces.push_back(trace);
  state->traces.push_back({0, true, {}});
  state->annotations = {{b.string("ProfilerStep#1"), AnnotationStage::start, 0, 100}};
  state->settings = {{"a", "1"}};
  b.set_allocator(std::move(state));
  b.facts().source.name = name;
  b.facts().source.sha256 = "sha256 of " + name;
  return std::move(b.finish()).value();
}

template <class Body>
std::string failure(Body body) {
  try {
    body();
  } catch (const Failure& f) {
    CHECK(f.error.code == ErrorCode::malformed);
    return f.error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("store allocator: whatever a state may hold comes back") {
  const TemporaryFolder folder;
  std::vector<Snapshot> snapshots{known_state()};
  for (unsigned seed = 1; seed < 8; ++seed)
    snapshots.push_back(with_allocator(test::numbered("made", seed), seed, {seed * 3 % 11, seed, seed * 50, seed * 9}));
  snapshots.push_back(with_allocator("traces only", 50, {0, 0, 40, 5}));
  snapshots.push_back(test::small("none", {{"main;a", 1, 1}}));
  snapshots.push_back(with_allocator("chunks", 51, {200, 300, 40'000, 400}));
  std::vector<SnapshotId> ids;
  {
    auto store = Store::open(folder.file("s.db"), Access::create);
    REQUIRE(store);
    for (const Snapshot& snapshot : snapshots) ids.push_back(add(*store, snapshot));
  }
  auto store = Store::open(folder.file("s.db"), Access::read);
  REQUIRE(store);
  CHECK(whats_wrong(*store) == "");
  const auto together = store->load(ids, Parts::allocator);
  REQUIRE(together);
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    CAPTURE(snapshots[i].facts.source.name);
    CHECK(whats_other(snapshots[i], (*together)[i]) == "");
    CHECK(whats_other(snapshots[i], load(*store, ids[i])) == "");
  }
}

TEST_CASE("store allocator: a diff's load leaves it out") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  const SnapshotId id = add(*store, known_state());
  const auto rows = store->load(std::span(&id, 1));
  REQUIRE(rows);
  CHECK(rows->front().allocator == nullptr);
  CHECK(rows->front().dictionary->stacks.size() == 1 + 1);  // no stack that only the trace names
  CHECK(load(*store, id).dictionary->stacks.size() == 1 + 4);
}

TEST_CASE("store allocator: what did not change costs next to nothing, and survives removals") {
  const AllocatorShape shape{100, 100, 10, 50};
  std::vector<Snapshot> snapshots;
  for (unsigned i = 0; i < 20; ++i)
    snapshots.push_back(with_allocator(test::numbered("s", i), 9, shape, i == 0 ? 0 : 2, i));
  const TemporaryFolder folder;
  auto store = Store::open(folder.file("s.db"), Access::create);
  REQUIRE(store);
  std::vector<SnapshotId> ids;
  for (const Snapshot& snapshot : snapshots) ids.push_back(add(*store, snapshot));
  const auto bytes_of = [&](int snapshot) {
    return std::stol(query(
        *store, "SELECT sum(length(data)) FROM allocator_chunk WHERE id / 1048576 = " + std::to_string(snapshot)));
  };
  CHECK(bytes_of(2) * 5 < bytes_of(1));
  CHECK(query(*store, "SELECT max(distance), sum(base IS NULL) FROM allocator") == "15|2");

  const std::vector<SnapshotId> gone{ids[0], ids[3], ids[4], ids[16]};
  REQUIRE(store->remove(gone));
  CHECK(whats_wrong(*store) == "");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (std::find(gone.begin(), gone.end(), ids[i]) != gone.end()) continue;
    CAPTURE(i);
    CHECK(whats_other(snapshots[i], load(*store, ids[i])) == "");
  }
  const Snapshot later = with_allocator("later", 9, shape, 5, 77);
  CHECK(whats_other(later, load(*store, add(*store, later))) == "");
}

TEST_CASE("store allocator: stacks and names that only it uses live as long as their snapshot") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  const SnapshotId other = add(*store, test::small("other", {{"main;z", 1, 1}}));
  const SnapshotId id = add(*store, known_state());
  REQUIRE(store->remove(std::span(&other, 1)));
  CHECK(query(*store, "SELECT leaf_function FROM stack ORDER BY 1") == "a;block;event;reserve");
  CHECK(query(*store, "SELECT count(*) FROM string WHERE text = 'ProfilerStep#1'") == "1");
  CHECK(whats_wrong(*store) == "");
  CHECK(whats_other(known_state(), load(*store, id)) == "");
  add(*store, test::small("other", {{"main;z", 1, 1}}));
  REQUIRE(store->remove(std::span(&id, 1)));
  CHECK(query(*store, "SELECT leaf_function FROM stack") == "z");
  CHECK(query(*store, "SELECT count(*) FROM string WHERE text = 'ProfilerStep#1'") == "0");
  for (const char* table : {"allocator", "allocator_chunk", "trace", "trace_chunk"})
    CHECK(query(*store, std::string("SELECT count(*) FROM ") + table) == "0");
  CHECK(whats_wrong(*store) == "");
}

TEST_CASE("store allocator: merging takes it along") {
  const TemporaryFolder folder;
  const Snapshot known = known_state();
  const Snapshot made = with_allocator("made", 4);
  for (const auto& [path, snapshot] : {std::pair{folder.file("a"), &known}, {folder.file("b"), &made}}) {
    auto store = Store::open(path, Access::create);
    REQUIRE(store);
    add(*store, *snapshot);
  }
  auto store = Store::open(folder.file("c"), Access::create);
  REQUIRE(store);
  CHECK(store->merge(folder.file("b")).value() == 1);
  CHECK(store->merge(folder.file("a")).value() == 1);
  CHECK(whats_wrong(*store) == "");
  CHECK(whats_other(made, load(*store, SnapshotId{1})) == "");
  CHECK(whats_other(known, load(*store, SnapshotId{2})) == "");
}

TEST_CASE("store allocator: addresses in traces get their names later") {
  SnapshotBuilder b;
  SnapshotBuilder::FrameSpec spec;
  spec.module = b.module("/bin/app", "");
  spec.offset = 16;
  const FrameId frame = b.frame(spec);
  const StackId stack = b.stack(std::span(&frame, 1));
  auto state = std::make_shared<AllocatorState>();
  state->streams = {0};
  state->pools = {{0, 0}};
  DeviceTrace trace;
  trace.events.append({TraceAction::alloc, 0, 0, stack, 4096, 512, 1});
  state->traces.push_back(trace);
  b.set_allocator(std::move(state));
  auto made = b.finish();
  REQUIRE(made);
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  const SnapshotId id = add(*store, *made);
  CHECK(query(*store, "SELECT stack_text(stack) FROM trace_event") == "app+0x10");

  Dictionary named = *load(*store, id).dictionary;
  named.functions.name.push_back(named.strings.append("work"));
  named.functions.system_name.push_back(StringId{});
  named.functions.file.push_back(StringId{});
  named.functions.start_line.push_back(0);
  named.frames.function[0] = FunctionId{1};
  CHECK(store->take_names(named).value() == 1);
  CHECK(query(*store, "SELECT stack_text(stack) FROM trace_event") == "work");
  CHECK(whats_wrong(*store) == "");
  const Snapshot after = load(*store, id);
  CHECK(after.allocator->traces[0].events.size() == 1);
  CHECK(after.dictionary->stacks.hash[1] == made->dictionary->stacks.hash[1]);
}

TEST_CASE("store sql: segments, blocks and events as rows") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  add(*store, test::small("other", {{"main;z", 1, 1}}));
  add(*store, known_state());
  add(*store, with_allocator("made", 4));
  CHECK(query(*store,
              "SELECT segment, device, address, size, allocated, active, requested, stream, pool, small,"
              " expandable, blocks, stack_text(stack) FROM segment WHERE snapshot = 2") ==
        "0|0|4096|2048|1024|1536|1000|0|(0, 0)|1|0|2|reserve ‹ main;"
        "1|1|8192|1024|NULL|NULL|NULL|7|(0, 1)|0|1|1|NULL");
  CHECK(query(*store,
              "SELECT segment, address, size, requested, state, stack_text(stack) FROM block WHERE snapshot = 2") ==
        "0|4096|1024|1000|allocated|a ‹ main;0|5120|1024|0|inactive|NULL;1|8192|1024|900|pending|block ‹ main");
  const std::string events =
      "SELECT event, action, address, size, device_free, stream, pool, stack_text(stack), time_us FROM "
      "trace_event WHERE snapshot = 2";
  CHECK(query(*store, events) ==
        "0|segment_alloc|4096|2048|NULL|0|(0, 0)|NULL|NULL;"
        "1|alloc|4096|1000|NULL|0|(0, 0)|a ‹ main|100;"
        "2|free_requested|8192|900|NULL|7|(0, 1)|event ‹ main|150;"
        "3|oom|NULL|1048576|777|0|(0, 0)|a ‹ main|200");
  CHECK(query(*store, "SELECT event FROM trace_event WHERE snapshot = 2 AND event > 0 AND event <= 2") == "1;2");
  CHECK(query(*store, "SELECT action FROM trace_event WHERE snapshot = 2 AND event = 3") == "oom");
  CHECK(query(*store,
              "SELECT e.event FROM trace_event o JOIN trace_event e ON e.snapshot = o.snapshot AND e.event BETWEEN "
              "o.event - 1 AND o.event + 5 WHERE o.snapshot = 2 AND o.action = 'oom'") == "2;3");
  CHECK(
      query(*store,
            "SELECT b.address, s.pool FROM segment s JOIN block b ON b.snapshot = s.snapshot AND b.segment = s.segment "
            "WHERE s.snapshot = 2") == "4096|(0, 0);5120|(0, 0);8192|(0, 1)");
  CHECK(query(*store,
              "SELECT address FROM block WHERE snapshot = 2 AND segment >= 1; SELECT address FROM segment WHERE "
              "snapshot = 2 AND segment = 1; SELECT 1 FROM block WHERE segment > 4294967294 OR segment < 0") ==
        "8192;8192");
  CHECK(query(*store, "SELECT DISTINCT snapshot FROM block; SELECT DISTINCT snapshot FROM segment") == "2;3;2;3");
  CHECK(query(*store, "SELECT count(*), sum(device IS NULL) FROM trace_event WHERE snapshot = 3") == "342|42");
  CHECK(query(*store,
              "SELECT count(*) FROM block WHERE snapshot = 1; SELECT count(*) FROM trace_event WHERE snapshot = 9") ==
        "0;0");
  // A range begins at its chunk, and a scan goes through all of them.
  add(*store, with_allocator("long", 5, {1, 1, 40'000, 9}));
  CHECK(query(*store, "SELECT count(*), max(event) FROM trace_event WHERE snapshot = 4 AND device = 0") ==
        "40000|39999");
  CHECK(query(*store,
              "SELECT group_concat(event) FROM trace_event WHERE snapshot = 4 AND device = 0 AND event BETWEEN 32766 "
              "AND 32769") == "32766,32767,32768,32769");
}

TEST_CASE("store export: plain tables hold segments, blocks and events too") {
  const TemporaryFolder folder;
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  add(*store, known_state());
  add(*store, with_allocator("made", 4));
  REQUIRE(store->export_plain(folder.file("plain.db")));
  query(*store, "ATTACH '" + folder.file("plain.db") + "' AS plain", true);
  for (const char* table : {"segment", "block", "trace_event"}) {
    const std::string name(table);
    CHECK(query(*store, "SELECT count(*) > 3 FROM plain." + name, true) == (name == "segment" ? "1" : "1"));
    CHECK(query(*store,
                "SELECT count(*) FROM (SELECT * FROM plain." + name + " EXCEPT SELECT * FROM main." + name + ")",
                true) == "0");
    CHECK(query(*store,
                "SELECT count(*) FROM (SELECT * FROM main." + name + " EXCEPT SELECT * FROM plain." + name + ")",
                true) == "0");
  }
}

TEST_CASE("store allocator: a damaged chunk is one error, and nothing else is lost") {
  struct Case {
    const char* sql;
    const char* message;
  };
  const auto [sql, message] = GENERATE(
      Case{"UPDATE trace_chunk SET data = zeroblob(20)", "trace chunk 0 of trace 1: checksum does not match"},
      Case{"DELETE FROM trace_chunk", "trace chunk 0 of trace 1: it is missing"},
      Case{"UPDATE trace SET events = events + 1 WHERE id = 1", "trace chunk 0 of trace 1: 4 events, expected 5"},
      Case{"UPDATE trace SET events = 1 << 40 WHERE id = 1", "trace chunk 0 of trace 1: 4 events, expected 16384"},
      Case{"UPDATE allocator_chunk SET data = zeroblob(20) WHERE id % 1048576 = 1",
           "allocator chunk 1 of snapshot 2: checksum does not match"},
      Case{"DELETE FROM allocator_chunk WHERE id % 1048576 = 0",
           "allocator chunk 1 of snapshot 2: an earlier chunk is missing"},
      Case{"DELETE FROM allocator_chunk", "allocator state of snapshot 2: 0 segments, expected 2"},
      Case{"UPDATE allocator SET segments = 9e15", ""},
      Case{"UPDATE allocator SET blocks = 4", "allocator state of snapshot 2: 3 blocks, expected 4"},
      Case{"UPDATE allocator SET base = 2", "allocator state of snapshot 2 has no key it is based on"},
      Case{"UPDATE allocator SET base = 1", "allocator state of snapshot 1 is missing"},
      Case{"UPDATE allocator SET stacks = x'00'", "allocator state of snapshot 2: chunk of 1 bytes"},
      Case{"UPDATE allocator SET facts = zeroblob(9)", "allocator state of snapshot 2: checksum does not match"},
      Case{"UPDATE allocator SET stacks = (SELECT data FROM stack_chunk LIMIT 1)", ""});
  CAPTURE(sql);
  const TemporaryFolder folder;
  {
    auto store = Store::open(folder.file("s.db"), Access::create);
    REQUIRE(store);
    add(*store, test::small("other", {{"main;z", 1, 1}}));
    add(*store, known_state());
    CHECK(query(*store, sql, true) == "");
  }
  auto store = Store::open(folder.file("s.db"), Access::read);
  REQUIRE(store);
  const std::vector<SnapshotId> ids{SnapshotId{1}, SnapshotId{2}};
  const auto loaded = store->load(ids, Parts::allocator);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == ErrorCode::malformed);
  if (*message != '\0') CHECK(loaded.error().message == message);
  const auto rows = store->load(ids);
  REQUIRE(rows);
  CHECK(test::difference(known_state(), rows->back()) == "");
  REQUIRE_FALSE(store->check());
  for (const char* table : {"segment", "block", "trace_event"}) query(*store, std::string("SELECT * FROM ") + table);
}

TEST_CASE("store codec: events at the ends of 64 bits, and without times") {
  EventChunkWriter writer;
  std::vector<TraceEvent> events;
  for (const std::int64_t time :
       {kNoTime, std::int64_t{5}, kNoTime, (std::int64_t{1} << 62) - 1, 1 - (std::int64_t{1} << 62)}) {
    events.push_back({TraceAction::unknown, 9, 1, StackId{0xfffffffeU}, ~std::uint64_t{0},
                      std::numeric_limits<std::int64_t>::min(), time});
    events.push_back(
        {TraceAction::alloc, 0, 0xfffffffeU, StackId{}, 0, std::numeric_limits<std::int64_t>::max(), time});
    events.push_back({TraceAction::free_completed, 0, 0, StackId{}, 1ULL << 63, 0, time});
  }
  for (const TraceEvent& event : events) writer.add(event);
  EventChunkReader reader(writer.finish(1));
  CHECK(writer.events() == 0);
  REQUIRE(reader.events() == events.size());
  TraceEvent event;
  for (const TraceEvent& expected : events) {
    REQUIRE(reader.next(event));
    CHECK(event == expected);
  }
  CHECK_FALSE(reader.next(event));
}

TEST_CASE("store codec: chunks of events and blocks that lie are malformed") {
  const auto events = [](std::vector<std::string> columns) {
    return failure([&] {
      EventChunkReader reader(pack_columns(columns, 1));
      TraceEvent event;
      while (reader.next(event)) {
      }
    });
  };
  const std::string zero(1, '\0');
  CHECK(events({zero, "", "", "", "", zero}) == "");
  CHECK(events({"", "", "", "", "", ""}) == "0 events, expected 1 to 16384");
  CHECK(events({"\x0a", "", "", "", "", zero}) == "action 10, expected 0 to 9");
  CHECK(events({zero, "", "", "", "", ""}) == "column ends early");
  CHECK(events({"\x20", "", "", "", "", zero}) == "column ends early");
  CHECK(events({zero, "", "", "", "", zero + zero}) == "1 bytes left over, expected none");
  CHECK(events({zero, "", "", "", "", std::string(9, '\xff') + "\x01"}) == "time of an event is beyond 2^62 us");
  const auto blocks = [](std::vector<std::string> columns) {
    return failure([&] {
      TablesDecoder decoder(nullptr);
      decoder.add_blocks(pack_columns(columns, 1));
      decoder.finish();
    });
  };
  CHECK(blocks({zero + "\x01" + zero, "", "", "", "", ""}) == "old row 0, expected less than 0");
  CHECK(blocks({"\xff\xff\xff\x7f", "", "", "", "", ""}) == "own rows 268435455, expected less than 16385");
  CHECK(blocks({"\x01" + zero, zero, zero, zero, "\x03", zero}) == "block state 3, expected 0 to 2");
  CHECK(blocks({"\x01" + zero, zero, zero, zero, "\x2c", zero}) == "block of role 11, expected at most 10");
  const std::string two(2, '\0');
  CHECK(blocks({"\x02" + zero, two, two, two, std::string("\x04\x00", 2), two}) ==
        "blocks with a role and without one, expected it of all or none");
  CHECK(blocks({"\x01" + zero, zero, zero, zero, "\x02", zero}) == "1 blocks, expected 0");
}
