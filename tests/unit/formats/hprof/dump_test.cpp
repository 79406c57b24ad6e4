#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <string>

#include "formats/hprof/object_sizes.hpp"
#include "hprof_bytes.hpp"
#include "support/object_graph_text.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

std::string objects(const HprofBytes& h) {
  return h.instance(0x8000, 0x500, h.number(3, 4) + h.id(0x8020) + h.id(0)) +
         h.objects(0x8020, 0x600, 3, h.id(0x8040) + h.id(0) + h.id(0x8000)) +
         h.instance(0x8040, 0x400, h.id(0x9000) + h.id(0x8000)) + h.values(0x9000, 8, 5, "hello") +
         h.root(0x05, 0x500, 0) + h.root(0x08, 0x8000, 8) + h.root(0x03, 0x8000, 8) + h.root(0x03, 0x8000, 8);
}

std::string note_texts(const Snapshot& snapshot) {
  std::string out;
  for (const Note& note : snapshot.facts.notes.all()) {
    if (note.severity != Severity::info) out += note.text + " x" + std::to_string(note.count) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("hprof: objects, statics, fields, arrays and roots, with both sizes of ids and any window") {
  const auto id_bytes = GENERATE(as<std::uint32_t>{}, 4, 8);
  const auto window = GENERATE(as<std::size_t>{}, 0, 1, 7, 100);
  HprofBytes h = with_classes(id_bytes);
  const bool in_segments = GENERATE(true, false);
  if (in_segments) {
    h.record(0x1c, class_dumps(h)).record(0x1c, "").record(0x1c, objects(h)).record(0x2c, "");
  } else {
    h.record(0x04, std::string(40, 'x')).record(0x0c, class_dumps(h) + objects(h));
  }
  const Result<Snapshot> read = read_hprof(h.bytes, window);
  if (!read) FAIL(read.error().text());
  // No two objects touch, so the sizes are those of a small heap: 12, 16, 4 and with ids of 4 bytes 8, 12, 4.
  const bool wide = id_bytes == 8;
  const std::string box = wide ? "24" : "24";
  CHECK(graph_text(*read) == "0 class java.lang.Object " + std::string(wide ? "16" : "8") +
                                 " #256:\n"
                                 "1 class java.lang.Class " +
                                 std::string(wide ? "16" : "8") +
                                 " #512: <superclass>>0\n"
                                 "2 class java.lang.ref.Reference " +
                                 std::string(wide ? "16" : "8") +
                                 " #768: <superclass>>0\n"
                                 "3 class java.lang.ref.WeakReference " +
                                 std::string(wide ? "16" : "8") +
                                 " #1024: <superclass>>2\n"
                                 "4 class app.Box$1 " +
                                 std::string(wide ? "24" : "16") +
                                 " #1280 root: <superclass>>0 SHARED>9\n"
                                 "5 class [Ljava.lang.Object; " +
                                 std::string(wide ? "16" : "8") +
                                 " #1536: <superclass>>0\n"
                                 "6 instance app.Box$1 " +
                                 box +
                                 " #32768 root: left>7\n"
                                 "7 object array [Ljava.lang.Object; " +
                                 std::string(wide ? "32" : "24") +
                                 " #32800: [0]>8 [2]>6\n"
                                 "8 instance java.lang.ref.WeakReference " +
                                 std::string(wide ? "24" : "16") +
                                 " #32832: referent~9 next>6\n"
                                 "9 primitive array [B 24 #36864:\n"
                                 "root 4 sticky class\nroot 6 thread object\nroot 6 Java frame\n");
  const Rows rows = rows_of(*read);
  CHECK(rows.at("java.lang.Class")[0] == 6);
  CHECK(rows.at("app.Box$1") == std::vector<std::int64_t>{1, 24});
  CHECK(rows.size() == 5);
  CHECK(read->graph->sizes_estimated);
  CHECK_FALSE(read->graph->ids_persist);
  CHECK(read->facts.taken_at_ns == 1'700'000'000'123'000'000);
  CHECK(note_texts(*read).empty());
}

TEST_CASE("hprof: an instance may come before its class") {
  const auto id_bytes = GENERATE(as<std::uint32_t>{}, 4, 8);
  HprofBytes h = with_classes(id_bytes);
  h.record(0x1c, objects(h)).record(0x1c, class_dumps(h));
  const Result<Snapshot> read = read_hprof(h.bytes, 3);
  REQUIRE(read);
  const std::string text = graph_text(*read);
  CHECK(text.find("0 instance app.Box$1 24 #32768 root: left>1\n") == 0);
  CHECK(text.find("referent~3 next>0\n") != std::string::npos);
  CHECK(note_texts(*read).empty());
}

TEST_CASE("hprof: what is missing is counted") {
  HprofBytes h = with_classes(8);
  SECTION("class of an instance") {
    h.record(0x1c, h.instance(0x8000, 0x700, h.id(1)) + h.objects(0x8010, 0x700, 1, h.id(0x8000)));
    const Result<Snapshot> read = read_hprof(h.bytes);
    REQUIRE(read);
    CHECK(note_texts(*read) ==
          "instances of classes that are not in the dump: their references are lost x1\nclasses without a name x1\n");
    CHECK(graph_text(*read).find(
              "0 instance [unnamed class] 16 #32768:\n1 object array [unnamed class] 24 #32784: [0]>0\n") == 0);
  }
  SECTION("ancestor of a class") {
    h.record(0x1c, h.class_dump(0x500, 0x100, 0, "", 1, h.field(13, 2)) + h.instance(0x8000, 0x500, h.id(0x8000)));
    const Result<Snapshot> read = read_hprof(h.bytes);
    REQUIRE(read);
    CHECK(read->graph->to.empty());
    CHECK(note_texts(*read).find("their references are lost x1") != std::string::npos);
  }
  SECTION("ends of references, roots, names of fields") {
    h.record(0x1c, h.class_dump(0x500, 0, 1, h.field(99, 2) + h.id(0x8000), 1, h.field(13, 2)) +
                       h.instance(0x8000, 0x500, h.id(0x12345)) + h.root(0xff, 0x54321, 0) + h.root(0xff, 0x8000, 0));
    const Result<Snapshot> read = read_hprof(h.bytes);
    REQUIRE(read);
    CHECK(note_texts(*read) ==
          "fields without a name x1\nreferences to objects that are not in the dump, left out x1\nroots that are not "
          "in the dump, left out x1\n");
    CHECK(graph_text(*read).find("[unnamed field]>1") != std::string::npos);
    CHECK(graph_text(*read).find("root 1 unknown\n") != std::string::npos);
  }
  SECTION("one address twice") {
    h.record(0x1c, h.values(0x8000, 8, 1, "a") + h.values(0x8000, 8, 2, "ab"));
    const Result<Snapshot> read = read_hprof(h.bytes);
    REQUIRE(read);
    CHECK(note_texts(*read) == "objects that share an address with an earlier one x1\n");
    CHECK(graph_text(*read) == "0 primitive array [B 24 #32768:\n1 primitive array [B 24 #none:\n");
  }
}

TEST_CASE("hprof: classes of one name are one type, but for class objects and instances") {
  HprofBytes h(4);
  h.text(1, "A").load(0x100, 1).load(0x200, 1);
  h.record(0x1c, h.class_dump(0x100, 0, 0, "", 0, "") + h.class_dump(0x200, 0, 0, "", 0, "") +
                     h.instance(0x300, 0x100, "") + h.instance(0x400, 0x200, ""));
  const Result<Snapshot> read = read_hprof(h.bytes);
  REQUIRE(read);
  CHECK(read->graph->types.size() == 2);
  CHECK(rows_of(*read).at("A") == std::vector<std::int64_t>{2, 16});
  CHECK(rows_of(*read).at("java.lang.Class") == std::vector<std::int64_t>{2, 16});
}

TEST_CASE("hprof: tags of Android") {
  HprofBytes h = with_classes(4);
  std::string body = class_dumps(h) + h.number(0xfe, 1) + h.number(65, 4) + h.id(1);
  body += h.number(0xc3, 1) + h.id(0x9000) + h.number(0, 4) + h.number(100, 4) + h.number(11, 1);
  for (const std::uint8_t tag : std::initializer_list<std::uint8_t>{0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x90})
    body += h.root(tag, 0x9000, 0);
  body += h.root(0x8e, 0x9000, 8) + h.root(0x01, 0x9000, 4) + h.root(0x04, 0x9000, 4) + h.root(0x06, 0x9000, 4) +
          h.root(0x02, 0x9000, 8) + h.root(0x07, 0x9000, 0);
  h.record(0x0c, body);
  const Result<Snapshot> read = read_hprof(h.bytes);
  REQUIRE(read);
  CHECK(read->graph->roots.size() == 12);
  CHECK(rows_of(*read).at("[J") == std::vector<std::int64_t>{1, 12 + 800 + 4});
}

TEST_CASE("hprof: every kind of value has its size") {
  HprofBytes h = with_classes(8);
  std::string body;
  std::uint64_t at = 0x10000;
  for (const auto& [type, size] : {std::pair{4, 1}, {5, 2}, {6, 4}, {7, 8}, {8, 1}, {9, 2}, {10, 4}, {11, 8}}) {
    const auto bytes = static_cast<std::size_t>(size) * 10;
    body += h.values(at, static_cast<std::uint8_t>(type), 10, std::string(bytes, 'x')) + h.root(0x05, at, 0);
    at += (16 + bytes + 7) / 8 * 8;
  }
  h.record(0x0c, body + h.class_dump(0x500, 0, 1, h.field(16, 7) + std::string(8, '\0'), 0, ""));
  const Result<Snapshot> read = read_hprof(h.bytes);
  REQUIRE(read);
  const Rows rows = rows_of(*read);
  for (const auto& [name, size] :
       {std::pair{"[Z", 32}, {"[C", 40}, {"[F", 56}, {"[D", 96}, {"[B", 32}, {"[S", 40}, {"[I", 56}, {"[J", 96}})
    CHECK(rows.at(name) == std::vector<std::int64_t>{1, size});
}

TEST_CASE("hprof: the layout of objects is told by how close they lie") {
  using formats::hprof::Contents;
  using formats::hprof::ModelVote;
  using formats::hprof::ObjectModel;
  const ObjectModel model =
      GENERATE(ObjectModel{12, 16, 4}, ObjectModel{16, 24, 8}, ObjectModel{12, 16, 8}, ObjectModel{16, 24, 4},
               ObjectModel{8, 12, 4}, ObjectModel{8, 12, 8}, ObjectModel{12, 16, 4, 0, 16});
  ModelVote vote(8);
  for (std::uint64_t i = 0; i < 40; ++i) {
    for (const bool is_array : {false, true}) {
      const Contents of{is_array ? 0 : i % 16, i % 5, is_array};
      const Contents data{i, 0, true};
      vote.add(of, size_of(model, of) + (i % 7 == 0 ? 64 : 0));  // some have a gap behind them
      vote.add(data, size_of(model, data));
    }
  }
  CHECK(vote.winner() == model);
}

namespace {

constexpr std::uint64_t kBeforeJdk15[5][4] = {
    {24, 24, 32, 40}, {40, 32, 40, 56}, {40, 32, 40, 56}, {32, 32, 32, 40}, {24, 24, 24, 32}};

/// AbstractList {int modCount}, ArrayList {int size; Object[] elementData}, Flags {boolean a; long b; short c; byte d},
/// Sub of Flags {byte e}, Third of Sub {byte f; Object g}, with instances at the distances that HotSpot of JDK 8
/// leaves in `model` of kByClass. Sizes by hand from layout_fields; an ArrayList of 24 and of 40 bytes is what Eclipse
/// MAT shows.
HprofBytes before_jdk15(std::size_t model, std::uint32_t id_bytes) {
  HprofBytes h(id_bytes);
  h.text(1, "java/lang/Object")
      .text(2, "java/util/AbstractList")
      .text(3, "java/util/ArrayList")
      .text(4, "Flags")
      .text(5, "Sub")
      .text(6, "Third");
  for (std::uint64_t i = 1; i <= 6; ++i) h.load(i * 0x100, i);
  std::string body =
      h.class_dump(0x100, 0, 0, "", 0, "") + h.class_dump(0x200, 0x100, 0, "", 1, h.field(9, 10)) +
      h.class_dump(0x300, 0x200, 0, "", 2, h.field(9, 10) + h.field(9, 2)) +
      h.class_dump(0x400, 0x100, 0, "", 4, h.field(9, 4) + h.field(9, 11) + h.field(9, 9) + h.field(9, 8)) +
      h.class_dump(0x500, 0x400, 0, "", 1, h.field(9, 8)) +
      h.class_dump(0x600, 0x500, 0, "", 2, h.field(9, 8) + h.field(9, 2));
  std::uint64_t at = 0x10000;
  for (int i = 0; i < 20; ++i) {
    body += h.instance(at, 0x300, std::string(4, '\0') + h.id(0) + std::string(4, '\0'));
    at += kBeforeJdk15[model][0];
    body += h.instance(at, 0x400, std::string(12, '\0'));
    at += kBeforeJdk15[model][1];
    body += h.instance(at, 0x500, std::string(13, '\0'));
    at += kBeforeJdk15[model][2];
    body += h.instance(at, 0x600, std::string(14, '\0') + h.id(0));
    at += kBeforeJdk15[model][3];
  }
  h.record(0x0c, body);
  return h;
}

}  // namespace

TEST_CASE("hprof: gaps between the fields of ancestors count where the virtual machine leaves them") {
  const std::size_t model = GENERATE(range<std::size_t>(0, 5));
  const Result<Snapshot> read = read_hprof(before_jdk15(model, model == 4 ? 4 : 8).bytes);
  REQUIRE(read);
  const Rows rows = rows_of(*read);
  CAPTURE(model);
  const std::array<std::string, 4> names = {"java.util.ArrayList", "Flags", "Sub", "Third"};
  for (std::size_t i = 0; i < names.size(); ++i)
    CHECK(rows.at(names[i]) == std::vector<std::int64_t>{20, 20 * static_cast<std::int64_t>(kBeforeJdk15[model][i])});
}

TEST_CASE("hprof: several dumps in one file are snapshots of their own") {
  HprofBytes h = with_classes(8);
  const auto dump = [&](int boxes) {
    std::string body = class_dumps(h);
    for (int i = 0; i < boxes; ++i)
      body += h.instance(0x8000 + 32 * static_cast<std::uint64_t>(i), 0x500, h.number(3, 4) + h.id(0) + h.id(0));
    return body;
  };
  SECTION("records of a whole dump") {
    h.record(0x0c, dump(2)).record(0x0c, "").record(0x0c, dump(5)).record(0x2c, "");
  }
  SECTION("segments up to an end") {
    h.record(0x1c, dump(1)).record(0x1c, h.instance(0x9000, 0x500, h.number(3, 4) + h.id(0) + h.id(0)));
    h.record(0x2c, "").record(0x1c, dump(5)).record(0x2c, "");
  }
  SECTION("a name may come between them") {
    h.record(0x0c, dump(2)).text(99, "late").load(0x500, 5).record(0x1c, dump(5));
  }
  const std::size_t window = GENERATE(as<std::size_t>{}, 0, 1, 70);
  const Result<std::vector<Snapshot>> all = read_all_hprof(h.bytes, window);
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  CHECK(rows_of((*all)[0]).at("app.Box$1")[0] == 2);
  CHECK(rows_of((*all)[1]).at("app.Box$1")[0] == 5);
  for (const Snapshot& each : *all) {
    CHECK(each.facts.taken_at_ns == 1'700'000'000'123'000'000);
    CHECK(each.facts.producer == "jvm");
    CHECK(each.graph->ids_persist == false);
  }
}

TEST_CASE("hprof: a long line of ancestors without fields costs no time") {
  HprofBytes h(4);
  h.text(1, "f");
  std::string body = h.class_dump(0x10, 0, 0, "", 1, h.field(1, 2));
  constexpr std::uint64_t kClasses = 20'000;
  for (std::uint64_t i = 1; i < kClasses; ++i) body += h.class_dump(0x10 + 16 * i, 16 * i, 0, "", 0, "");
  for (std::uint64_t i = 0; i < kClasses; ++i) body += h.instance(0x1000000 + 16 * i, 0x10 + 16 * i, h.id(0x1000000));
  h.record(0x0c, body);
  const Result<Snapshot> read = read_hprof(h.bytes);
  REQUIRE(read);
  CHECK(read->graph->to.size() == kClasses + kClasses - 1);
}

TEST_CASE("hprof: an instance holds the class of a loader, once, and what a soft reference holds is marked") {
  HprofBytes h(8);
  h.text(1, "java/lang/Object").text(2, "java/lang/ref/Reference").text(3, "java/lang/ref/SoftReference");
  h.text(4, "app/Plugin").text(5, "referent").text(6, "app/Loader");
  for (std::uint64_t i = 1; i <= 4; ++i) h.load(i * 0x100, i);
  h.load(0x600, 6);
  std::string plugin = h.class_dump(0x400, 0x100, 0, "", 0, "");
  const std::string loader = h.id(0x9000);
  plugin.replace(1 + 8 + 4 + 8, 8, loader);  // after the class, its stack and its super class
  h.record(0x0c, h.class_dump(0x100, 0, 0, "", 0, "") + h.class_dump(0x200, 0x100, 0, "", 1, h.field(5, 2)) +
                     h.class_dump(0x300, 0x200, 0, "", 0, "") + plugin + h.class_dump(0x600, 0x100, 0, "", 0, "") +
                     h.instance(0x8000, 0x400, "") + h.instance(0x8100, 0x400, "") + h.instance(0x9000, 0x600, "") +
                     h.instance(0x8200, 0x300, h.id(0x8300)) + h.values(0x8300, 8, 4, "abcd") +
                     h.values(0x8400, 10, 1, "fill") + h.root(0x08, 0x8000, 8) + h.root(0x08, 0x8100, 8) +
                     h.root(0x08, 0x8200, 8));
  const Result<Snapshot> read = read_hprof(h.bytes);
  if (!read) FAIL(read.error().text());
  const std::string text = graph_text(*read);
  INFO(text);
  CHECK(text.find("#32768 root: <class>>3") != std::string::npos);
  CHECK(text.find("#33024 root: <class>") == std::string::npos);
  CHECK(text.find("soft referent") != std::string::npos);
  CHECK(text.find("dead space of the collector") != std::string::npos);
}
