#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "formats/registry.hpp"
#include "python_values.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

Snapshot read(const Py& value) {
  Result<std::vector<Snapshot>> all = formats::read_bytes(pickled(value), "test.pickle", {});
  if (!all) FAIL(all.error().text());
  REQUIRE(all->size() == 1);
  return std::move((*all)[0]);
}

std::int64_t counter(const Snapshot& s, std::string_view name) {
  for (const Counter& c : s.facts.counters) {
    if (c.name == name) return c.value;
  }
  return -999;
}

std::string stack_text(const Snapshot& s, StackId id) {
  const Dictionary& d = *s.dictionary;
  std::string out;
  for (const FrameId f : d.stacks.frames(id)) {
    const std::size_t function = index_of(d.frames.function[index_of(f)]);
    out += std::string(d.strings[d.functions.file[function]]) + ":" + std::to_string(d.frames.line[index_of(f)]) + ":" +
           std::string(d.strings[d.functions.name[function]]) + ";";
  }
  return out;
}

/// Stack, labels -> values, as text.
std::map<std::string, std::string> rows(const Snapshot& s) {
  std::map<std::string, std::string> out;
  for (std::size_t r = 0; r < s.samples.size(); ++r) {
    std::string key = stack_text(s, s.samples.stack[r]);
    for (const Label& label : s.dictionary->labels.labels(s.samples.labels[r]))
      key += " " + std::string(s.dictionary->strings[label.key]) + "=" + std::string(s.dictionary->strings[label.text]);
    std::string values;
    for (const Column& column : s.samples.columns) values += std::to_string(column.value[r]) + " ";
    out[key] = values;
  }
  return out;
}

Py& state_segment(Py& s) { return at(s, "segments").items[0]; }
Py& state_block(Py& s, std::size_t i) { return at(state_segment(s), "blocks").items[i]; }
Py& state_entry(Py& s, std::size_t i) { return at(s, "device_traces").items[0].items[i]; }

const std::map<std::string, std::string> kSmallRows = {
    {"a.py:7:make;a.py:20:main; device=0 pool=(0, 0) stream=0",
     "1 1024 1000 1024 0 1047808 0 "},  // half of 2 MiB - 1536 free bytes
    {"b.py:3:other; device=0 pool=(0, 0) state=pending stream=0", "0 0 0 512 512 1047808 0 "}};

}  // namespace

TEST_CASE("torch-cuda: a line of a frame that no line can be is unknown, however large") {
  const std::string number = std::string("\x8a\x08\x61\x1e", 4) + std::string(6, '\0');  // 7777
  Py value = small_snapshot();
  for (Py* frames : {&at(state_block(value, 0), "frames"), &at(state_entry(value, 0), "frames")})
    at(frames->items.at(0), "line") = Py(7777);
  std::string bytes = pickled(value);
  const std::string written =
      GENERATE(as<std::string>{}, std::string("\x8a\x09") + std::string(8, '\xff') + std::string(1, '\0'),
               std::string("\x8a\x11") + std::string(17, '\x7f'));
  int replaced = 0;
  for (std::size_t at = bytes.find(number); at != std::string::npos; at = bytes.find(number, at + 1), ++replaced)
    bytes.replace(at, number.size(), written);
  REQUIRE(replaced > 0);
  const Result<std::vector<Snapshot>> all = formats::read_bytes(bytes, "test.pickle", {});
  if (!all) FAIL(all.error().text());
  const Snapshot& s = all->front();
  CHECK(rows(s).count("a.py:0:make;a.py:20:main; device=0 pool=(0, 0) stream=0") == 1);
  REQUIRE(s.facts.notes.all().size() == 1);
  CHECK(s.facts.notes.all()[0].count == static_cast<std::uint64_t>(replaced));
}

TEST_CASE("torch-cuda: rows, counters, facts and allocator state of a small snapshot") {
  const Snapshot s = read(small_snapshot());
  CHECK(rows(s) == kSmallRows);
  CHECK(s.facts.format == "torch-cuda");
  CHECK(s.facts.format_detail == "layout F, pickle protocol 4");
  CHECK(s.facts.producer == "pytorch");
  CHECK(s.facts.sampling == Sampling::exact);
  CHECK(s.facts.taken_at_ns == 1'700'000'000'000'003'000);
  CHECK(s.facts.notes.empty());
  CHECK(s.facts.comments == std::vector<std::string>{"max_split_size = -1", "expandable_segments = 0",
                                                     "roundup_power2_divisions = 1:0, 2:0"});
  CHECK(counter(s, "reserved") == 2097152);
  CHECK(counter(s, "allocated") == 1024);
  CHECK(counter(s, "active") == 1536);
  CHECK(counter(s, "requested") == 1000);
  CHECK(counter(s, "rounding") == 24);
  CHECK(counter(s, "cached") == 2097152 - 1536);
  CHECK(counter(s, "inactive_split") == 2097152 - 1536);
  CHECK(counter(s, "releasable") == 0);
  CHECK(counter(s, "device0.largest_inactive") == 2097152 - 1536);

  REQUIRE(s.allocator != nullptr);
  const AllocatorState& state = *s.allocator;
  REQUIRE(state.segments.size_rows() == 1);
  CHECK(state.segments.flags[0] == kSegmentSmall);
  CHECK(stack_text(s, state.segments.stack[0]) == "a.py:7:make;a.py:20:main;");
  REQUIRE(state.blocks.size_rows() == 3);
  CHECK(state.blocks.state[1] == BlockState::pending);
  CHECK(state.blocks.requested[2] == 0);
  REQUIRE(state.traces.size() == 1);
  REQUIRE(state.traces[0].events.size() == 4);
  EventLog::Reader reader = state.traces[0].events.read_from(2);
  TraceEvent event;
  REQUIRE(reader.next(event));
  CHECK(event.action == TraceAction::alloc);
  CHECK(event.address == 0x7f0000000400);
  CHECK(event.size == 500);
  CHECK(event.time_us == 1'700'000'000'000'002);
  CHECK(stack_text(s, event.stack) == "b.py:3:other;");
  REQUIRE(state.annotations.size() == 1);
  CHECK(s.dictionary->strings[state.annotations[0].name] == "ProfilerStep#1");
  CHECK(state.annotations[0].stage == AnnotationStage::start);
}

TEST_CASE("torch-cuda: older layouts give the same rows") {
  Py s = small_snapshot();
  SECTION("E: without compile_context") {
    for (std::size_t i = 0; i < 4; ++i) {
      drop(state_entry(s, i), "compile_context");
      drop(state_entry(s, i), "user_metadata");
    }
    CHECK(read(s).facts.format_detail == "layout E, pickle protocol 4");
  }
  SECTION("D: without settings") {
    for (std::size_t i = 0; i < 4; ++i) drop(state_entry(s, i), "compile_context");
    drop(s, "allocator_settings");
    drop(s, "external_annotations");
    CHECK(read(s).facts.format_detail == "layout D, pickle protocol 4");
  }
  SECTION("C: without times") {
    for (std::size_t i = 0; i < 4; ++i) {
      drop(state_entry(s, i), "compile_context");
      drop(state_entry(s, i), "time_us");
    }
    drop(s, "allocator_settings");
    drop(s, "external_annotations");
    CHECK(read(s).facts.format_detail == "layout C, pickle protocol 4");
    CHECK_FALSE(read(s).facts.taken_at_ns);
  }
  SECTION("B: history, no addresses") {
    for (std::size_t i = 0; i < 3; ++i) {
      Py& b = state_block(s, i);
      at(b, "history") = list({dict({{"addr", 1}, {"real_size", at(b, "requested_size")}, {"frames", at(b, "frames")}}),
                               dict({{"addr", 1}, {"real_size", 5}, {"frames", list({frame("stale.py", 1, "old")})}})});
      drop(b, "frames");
      drop(b, "address");
    }
    drop(state_segment(s), "frames");
    const Snapshot snapshot = read(s);
    CHECK(snapshot.facts.format_detail == "layout B, pickle protocol 4");
    CHECK(snapshot.allocator->blocks.address[2] == 0x7f0000000600);
  }
  SECTION("A: a bare list, requested size from the history") {
    for (std::size_t i = 0; i < 3; ++i) {
      Py& b = state_block(s, i);
      at(b, "history") =
          list({dict({{"addr", 1}, {"real_size", at(b, "requested_size")}, {"frames", at(b, "frames")}})});
      drop(b, "frames");
      drop(b, "address");
      drop(b, "requested_size");
    }
    drop(state_segment(s), "requested_size");
    const Py bare = at(s, "segments");
    CHECK(read(bare).facts.format_detail == "layout A, pickle protocol 4");
    s = bare;
  }
  SECTION("A: a bare list of modern blocks") {
    const Py bare = at(s, "segments");
    s = bare;
  }
  SECTION("G: pools, as list") {
    at(state_entry(s, 0), "pool_id") = list({0, 0});
    at(state_segment(s), "segment_pool_id") = list({0, 0});
    at(state_entry(s, 1), "forward_frames") = list({"a.py:1:f", "b.py:2:g"});
    CHECK(read(s).facts.format_detail == "layout G, pickle protocol 4");
  }
  SECTION("keys in another order: traces first, segment numbers after blocks") {
    Py turned = dict({});
    turned.items = {Py("device_traces"), at(s, "device_traces"), Py("segments"), at(s, "segments")};
    Py& seg = at(turned, "segments").items[0];
    const Py device = at(seg, "device");
    drop(seg, "device");
    at(seg, "device") = device;
    drop(seg, "address");
    at(seg, "address") = Py(std::int64_t{0x7f0000000000});
    s = turned;
  }
  SECTION("docstring's name of the pending state") { at(state_block(s, 1), "state") = "active_awaiting_free"; }
  CHECK(rows(read(s)) == kSmallRows);
}

TEST_CASE("torch-cuda: private pools, streams and devices are labels, host memory has its own columns") {
  Py s = small_snapshot();
  Py second = state_segment(s);
  at(second, "device") = 3;
  at(second, "stream") = Py(std::int64_t{0x55aa});
  at(second, "segment_pool_id") = tuple({0, 7});
  at(s, "segments").items.push_back(second);
  at(s, "host_segments") = list({state_segment(s)});
  at(s, "host_traces") = list({list({state_entry(s, 1)})});
  const Snapshot snapshot = read(s);
  const auto all = rows(snapshot);
  CHECK(all.size() == 5);  // pending host memory has no value in any column
  CHECK(all.at("a.py:7:make;a.py:20:main; device=3 pool=(0, 7) stream=0x55aa") == "1 1024 1000 1024 0 1047808 0 0 0 ");
  CHECK(all.at("a.py:7:make;a.py:20:main; device=host pool=(0, 0) stream=0") == "0 0 0 0 0 0 0 1 1024 ");
  CHECK(counter(snapshot, "reserved") == 2 * 2097152);
  CHECK(counter(snapshot, "host.reserved") == 2097152);
  CHECK(counter(snapshot, "device3.private_pool_inactive") == 2097152 - 1536);
  REQUIRE(snapshot.allocator->trace(0, true) != nullptr);
  CHECK(snapshot.allocator->trace(0, true)->events.size() == 1);
}

TEST_CASE("torch-cuda: an oom entry has device_free in the place of an address") {
  Py s = small_snapshot();
  Py oom = state_entry(s, 1);
  drop(oom, "addr");
  drop(oom, "frames");
  at(oom, "action") = "oom";
  at(oom, "device_free") = 12345;
  at(s, "device_traces").items[0].items.push_back(oom);
  const Snapshot snapshot = read(s);
  EventLog::Reader reader = snapshot.allocator->traces[0].events.read_from(4);
  TraceEvent event;
  REQUIRE(reader.next(event));
  CHECK(event.action == TraceAction::oom);
  CHECK(event.address == 12345);
  CHECK(event.stack == StackId{});
}

TEST_CASE("torch-cuda: blocks without a stack are one pseudo frame") {
  Py s = small_snapshot();
  at(state_block(s, 0), "frames") = list({});
  drop(state_block(s, 1), "frames");
  const auto all = rows(read(s));
  CHECK(all.at(":0:[no stack recorded]; device=0 pool=(0, 0) stream=0") == "1 1024 1000 1024 0 2095616 2097152 ");
}

TEST_CASE("torch-cuda: inconsistent numbers are counted and the import goes on") {
  Py s = small_snapshot();
  const auto has_note = [&](std::string_view text) {
    const Snapshot snapshot = read(s);
    for (const Note& note : snapshot.facts.notes.all()) {
      if (note.text.find(text) != std::string::npos) return true;
    }
    return false;
  };
  SECTION("sum of blocks") {
    at(state_block(s, 2), "size") = 5;
    CHECK(has_note("do not add up"));
  }
  SECTION("negative size") {
    at(state_block(s, 2), "size") = -5;
    CHECK(has_note("negative size, counted as 0"));
  }
  SECTION("active beyond total") {
    at(state_segment(s), "active_size") = 9999999;
    CHECK(has_note("active_size beyond its total_size"));
  }
  SECTION("overlap") {
    Py second = state_segment(s);
    at(second, "address") = Py(std::int64_t{0x7f0000000200});
    at(s, "segments").items.push_back(second);
    CHECK(has_note("overlaps"));
  }
  SECTION("unknown action") {
    at(state_entry(s, 1), "action") = "teleport";
    CHECK(has_note("unknown action teleport"));
  }
  SECTION("unknown state") {
    at(state_block(s, 0), "state") = "asleep";
    CHECK(has_note("unknown block state"));
    CHECK(read(s).facts.partial);
  }
  SECTION("unknown key") {
    at(s, "surprise") = list({list({dict({{"a", 1}})}), "x"});
    CHECK(has_note("unknown key at the root"));
  }
  SECTION("no segments") {
    drop(s, "segments");
    CHECK(has_note("no segments"));
    CHECK(read(s).samples.size() == 0);
  }
}
