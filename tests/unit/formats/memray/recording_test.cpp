#include <array>
#include <catch2/catch.hpp>
#include <set>

#include "formats/input/all_formats.hpp"
#include "formats/registry.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

using Rows = std::map<std::string, std::string>;

Snapshot read_at(const std::string& path, const std::string& point = "") {
  formats::ReadOptions options;
  options.point = point;
  Result<std::vector<Snapshot>> read = formats::read_file(path, options);
  if (!read) FAIL(read.error().text());
  REQUIRE(read->size() == 1);
  return std::move(read->front());
}

/// "objects bytes" by stack, which is all that a CSV holds: it names one thread and one allocator where several share
/// it.
Rows by_stack(const Snapshot& s, bool with_objects) {
  std::map<std::string, std::array<std::int64_t, 2>> sums;
  for (std::size_t row = 0; row < s.samples.size(); ++row) {
    std::array<std::int64_t, 2>& sum = sums[stack_text(s, s.samples.stack[row])];
    sum[0] += s.column("inuse_objects")->value[row];
    sum[1] += s.column("inuse_space")->value[row];
  }
  Rows out;
  for (const auto& [stack, sum] : sums) {
    if (sum[0] != 0) out[stack] = (with_objects ? std::to_string(sum[0]) + " " : "") + std::to_string(sum[1]);
  }
  return out;
}

/// Writes recordings of file version 10 or 13.
struct Writer {
  std::string bytes;
  bool compact;
  std::int64_t last_address = 0;

  template <class T>
  Writer& raw(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
    return *this;
  }
  Writer& delta(std::int64_t value) {
    return varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  Writer& text(std::string_view value) {
    bytes.append(value) += '\0';
    return *this;
  }
  Writer& type(int value) { return raw(static_cast<std::uint8_t>(value)); }

  explicit Writer(std::uint32_t version, std::uint64_t records = 0, bool aggregated = false, bool native = false,
                  std::uint32_t python = 0x030b07f0)
      : bytes("memray\0", 7), compact(version >= 12) {
    raw(version);
    if (compact) raw(python);
    type(native ? 1 : 0).type(aggregated ? 1 : 0).raw(records).raw(std::uint64_t{0});
    raw(std::int64_t{1'000'000}).raw(std::int64_t{1'002'000});
    text("memray run x.py").raw(std::int32_t{77}).raw(std::uint64_t{1}).raw(std::uint64_t{1}).type(1);
    if (version >= 11) type(0);
    if (compact) type(0);
    if (version >= 13) text("/lib").text("/lib/site").text("").text("/app").text("");
  }
  Writer& thread(std::uint64_t id) { return type(12).raw(id); }
  Writer& code(std::uint64_t id, std::string_view function, std::string_view table) {
    type(14).varint(id).text(function).text(std::string(function) + ".py").delta(id == 1 ? 10 : 0);
    varint(table.size()).bytes.append(table);
    return *this;
  }
  Writer& push(std::uint64_t id, std::int64_t instruction) { return type(65).varint(id).delta(instruction); }
  Writer& allocation(std::uint8_t allocator, std::int64_t address, std::uint64_t size) {
    type(128 | 15 << 3 | (allocator < 8 ? allocator : 0)).delta(address / 8 - last_address);
    last_address = address / 8;
    if (allocator >= 8) type(allocator);
    return allocator == 1 || allocator == 5 ? *this : varint(size);
  }
  Writer& trailer() { return type(1); }
};

constexpr std::uint8_t kFree = 5, kMalloc = 6, kCalloc = 8, kMmap = 14, kMunmap = 15;
// Python 3.11: lines 10, 12 and 11 for two code units each; forms short, one line, long.
constexpr std::string_view kTable{"\x81\x00\xe1\x00\x04\xf1\x03\x00\x01\x05", 10};

/// main calls leaf, in a thread that is not the tracker's.
Writer two_frames(std::uint64_t records) {
  Writer w(13, records);
  w.thread(2).type(10).text("loader");
  w.code(1, "main", kTable).push(1, 0).code(2, "leaf", kTable).push(2, 6);
  return w;
}
const std::string kLeaf = "leaf@leaf.py:12 < main@main.py:10";

Snapshot read_peak(const std::string& bytes) {
  MemoryInput in(bytes);
  SnapshotList list;
  formats::ReadRequest request;
  request.point = "peak";
  const Status status = formats::kMemray.read(in, list, request);
  REQUIRE(status.has_value());
  return std::move(list.snapshots.at(0));
}

}  // namespace

TEST_CASE("memray: recordings of file versions 10 to 13 give what memray's own CSV gives") {
  const std::string folder = SNAPDIFF_TEST_DATA "/memray/";
  for (const std::string name : {"v10", "v10-aggregated", "v11", "v12", "v13", "v13-aggregated"}) {
    INFO(name);
    // memray counts an aggregated row as one allocation where it adds it to another.
    const bool objects = name.find("aggregated") == std::string::npos;
    const Snapshot end = read_at(folder + name + ".bin"), peak = read_at(folder + name + ".bin", "peak");
    CHECK(by_stack(end, objects) == by_stack(read_at(folder + name + ".leaks.csv.gz"), objects));
    CHECK(by_stack(peak, objects) == by_stack(read_at(folder + name + ".peak.csv.gz"), objects));
    CHECK(counter(end, "peak_memory") == total(peak, "inuse_space"));
    CHECK(end.facts.notes.all().empty());
    CHECK(end.facts.position != peak.facts.position);
  }
}

TEST_CASE("memray: native frames stand at the leaf as places in their files, up to the interpreter's") {
  const Snapshot s = read_at(SNAPDIFF_TEST_DATA "/memray/v10-native.bin");
  CHECK(total(s, "inuse_space") == 179097);
  std::set<std::string> modules;
  for (std::size_t m = 1; m < s.dictionary->modules.size(); ++m) {
    modules.insert(std::string(base_name(s.dictionary->strings[s.dictionary->modules.name[m]])));
  }
  CHECK(modules == std::set<std::string>{"libc.so.6", "libpython3.11.so.1.0"});
  for (const Mapping& mapping : s.mappings) CHECK((mapping.start == 0 && mapping.offset == 0));
}

TEST_CASE("memray: a mapping may be cut, mapped over and unmapped in one piece") {
  Writer w = two_frames(6);
  w.allocation(kMmap, 0x10000, 0xa000).allocation(kMunmap, 0x12000, 0x1000).allocation(kMunmap, 0x19000, 0x5000);
  w.allocation(kMmap, 0x11000, 0x2000).allocation(kMunmap, 0x11000, 0x1000).allocation(kMunmap, 0x1000, 0);
  const Snapshot s = read_one(formats::kMemray, w.trailer().bytes);
  // Of the first one 0x10000 to 0x11000 and 0x13000 to 0x19000, of the second one 0x12000 to 0x13000.
  CHECK(rows(s) == Rows{{kLeaf + " {allocator=MMAP thread=loader}", "3 32768 2 49152"}});
  CHECK(counter(s, "peak_memory") == 0xa000);
  CHECK(s.facts.notes.all().empty());
}

TEST_CASE("memray: the peak is the last of equal ones, as memray has it") {
  Writer w = two_frames(5);
  w.allocation(kMalloc, 0x100, 60).allocation(kMalloc, 0x200, 40).type(2).varint(4096).varint(1500);
  w.allocation(kFree, 0x100, 0).allocation(kCalloc, 0x300, 60).allocation(kFree, 0x200, 0).trailer();
  CHECK(rows(read_one(formats::kMemray, w.bytes)) == Rows{{kLeaf + " {allocator=CALLOC thread=loader}", "1 60 1 60"},
                                                          {kLeaf + " {allocator=MALLOC thread=loader}", "0 0 2 100"}});
  const Snapshot peak = read_peak(w.bytes);
  CHECK(rows(peak) == Rows{{kLeaf + " {allocator=CALLOC thread=loader}", "1 60"},
                           {kLeaf + " {allocator=MALLOC thread=loader}", "1 40"}});
  CHECK(counter(peak, "peak_memory") == 100);
  CHECK(peak.facts.taken_at_ns == 1'001'500'000'000);
  CHECK(counter(read_one(formats::kMemray, w.bytes), "rss") == 4096);
}

TEST_CASE(
    "memray: frees of what was never seen, blocks at one address, the tracker's callers, hits of the address cache") {
  Writer w = two_frames(6);
  w.allocation(kFree, 0x900, 0).allocation(kMalloc, 0x100, 8).allocation(kMalloc, 0x200, 8);
  w.type(128 | 1 << 3 | kMalloc).varint(16);  // the address before the last one again
  w.thread(1).push(1, 0).push(2, 4).allocation(kMalloc, 0x300, 5);
  w.type(16).allocation(kMalloc, 0x400, 7).trailer();
  const Snapshot s = read_one(formats::kMemray, w.bytes);
  CHECK(rows(s) == Rows{{kLeaf + " {allocator=MALLOC thread=loader}", "2 24 3 32"},
                        {"leaf@leaf.py:12 {allocator=MALLOC thread=0x1}", "1 5 1 5"},
                        {"[no stack recorded] {allocator=MALLOC thread=0x1}", "1 7 1 7"}});
  CHECK(has_note(s, "at an address that was not free"));
}

TEST_CASE("memray: lines of Python 3.11, 3.10 and 3.9 code objects") {
  const auto line = [](std::uint32_t python, std::string_view table, std::int64_t instruction) {
    Writer w(13, 1, false, false, python);
    w.thread(2).code(1, "f", table).push(1, instruction).allocation(kMalloc, 0x100, 1).trailer();
    const Snapshot s = read_one(formats::kMemray, w.bytes);
    return s.dictionary->frames.line.back();
  };
  for (const auto& [instruction, expected] :
       std::map<int, int>{{-1, 0}, {0, 10}, {2, 10}, {4, 12}, {6, 12}, {8, 11}, {10, 11}, {12, 0}}) {
    CAPTURE(instruction);
    CHECK(line(0x030b07f0, kTable, instruction) == expected);
  }
  // 3.10: up to byte 4 line 10, up to 8 line 12, then none known.
  const std::string_view ends("\x04\x00\x04\x02\x02\x80", 6);
  CHECK(line(0x030a0df0, ends, 0) == 10);
  CHECK(line(0x030a0df0, ends, 2) == 12);
  CHECK(line(0x030a0df0, ends, 4) == 12);
  // 3.9: from byte 4 on line 12, from 8 on line 11.
  const std::string_view begins("\x04\x02\x04\xff", 4);
  CHECK(line(0x030912f0, begins, 2) == 10);
  CHECK(line(0x030912f0, begins, 4) == 12);
  CHECK(line(0x030912f0, begins, 9) == 11);
}

TEST_CASE("memray: a cut at any byte is told, and no window changes what is read") {
  Writer plain = two_frames(3);
  plain.type(2).varint(4096).varint(7).allocation(kMalloc, 0x7000'1000, 300).allocation(kMmap, 0x8000'0000, 1 << 20);
  plain.allocation(kFree, 0x7000'1000, 0).trailer();
  Writer totals(13, 0, true);
  totals.thread(2).type(10).text("loader").code(1, "f", kTable);
  totals.type(6)
      .type(7)
      .text("/lib/libx.so")
      .varint(1)
      .raw(std::uint64_t{0x1000})
      .type(8)
      .raw(std::uint64_t{0})
      .varint(9);
  totals.type(4).varint(0).varint(1).delta(0).type(1).type(3).varint(0).varint(0);
  totals.type(2).raw(std::uint64_t{2}).raw(std::uint64_t{kMalloc}).raw(std::uint64_t{0}).raw(std::uint64_t{1});
  totals.raw(std::uint64_t{0})
      .raw(std::uint64_t{3})
      .raw(std::uint64_t{1})
      .raw(std::uint64_t{30})
      .raw(std::uint64_t{10});
  totals.type(15);
  CHECK(rows(read_one(formats::kMemray, totals.bytes)) == Rows{{"f@f.py:10 {allocator=MALLOC thread=loader}", "1 10"}});
  CHECK(rows(read_peak(totals.bytes)) == Rows{{"f@f.py:10 {allocator=MALLOC thread=loader}", "3 30"}});
  for (const std::string& whole : {plain.bytes, totals.bytes}) {
    const std::string text = describe(read_ok(formats::kMemray, whole));
    for (const std::size_t window : {1U, 7U, 64U}) {
      CHECK(describe(read_series(formats::kMemray, whole, window).snapshots) == text);
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      const Series cut = read_series(formats::kMemray, std::string_view(whole).substr(0, size));
      CHECK((cut.error || cut.snapshots.at(0).facts.partial));
      if (cut.error) CHECK(cut.error->code == ErrorCode::malformed);
    }
  }
  // A process that was killed leaves zeros behind what it wrote.
  const Snapshot killed =
      read_one(formats::kMemray, plain.bytes.substr(0, plain.bytes.size() - 1) + std::string(9999, '\0'));
  CHECK(killed.facts.partial);
  CHECK(total(killed, "inuse_space") == 1 << 20);
}

TEST_CASE("memray: times at the ends of their range are no time") {
  std::string bytes = two_frames(0).trailer().bytes;
  const std::size_t times = 7 + 4 + 4 + 2 + 16;
  bytes.replace(times, 16, std::string(7, '\0') + '\x80' + std::string(7, '\xff') + '\x7f');
  CHECK_FALSE(read_one(formats::kMemray, bytes).facts.taken_at_ns.has_value());
  CHECK_FALSE(read_peak(bytes).facts.taken_at_ns.has_value());
}

TEST_CASE("memray: what cannot be read is refused with its place") {
  using Catch::Contains;
  const std::string start = two_frames(0).bytes;
  const auto refusal = [&](const std::string& rest) { return read_error(formats::kMemray, start + rest); };
  CHECK_THAT(refusal("\x03"), Contains("malformed at byte " + std::to_string(start.size())) &&
                                  Contains("found type 0x03, expected one of file version 13"));
  CHECK_THAT(refusal("\x1f"), Contains("stack too short: found 2 frames, expected at least 16"));
  CHECK_THAT(refusal(std::string("\0x", 2)), Contains("found zeros, expected a record"));
  CHECK_THAT(refusal("\xf8"
                     "\x02"
                     "\x10"),
             Contains("allocator not readable: found 16, expected 1 to 15"));
  CHECK_THAT(refusal("\xfe" + std::string(11, '\x80')), Contains("number not readable"));
  CHECK_THAT(refusal("\xfe\x02" + std::string(9, '\xff') + "\x01"), Contains("expected one below 2^63"));
  CHECK_THAT(refusal("\x05\x02\x02"), Contains("native stack not readable: found caller 1, expected one below 1"));
  CHECK_THAT(read_error(formats::kMemray, Writer(9).bytes),
             Contains("memray file version 9: expected 10 to 13 (memray 1.7 to 1.20)"));
  MemoryInput in(start);
  SnapshotList list;
  formats::ReadRequest request;
  request.point = "12s";
  const Status status = formats::kMemray.read(in, list, request);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().message == "no point '12s': expected end or peak");
}
