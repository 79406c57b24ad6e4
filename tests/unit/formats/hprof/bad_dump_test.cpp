#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "analyzer/base/object_graph.hpp"
#include "formats/registry.hpp"
#include "hprof_bytes.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

Error error_of(const HprofBytes& h) {
  const Result<Snapshot> read = read_hprof(h.bytes);
  REQUIRE_FALSE(read.has_value());
  return read.error();
}

HprofBytes small(std::uint32_t id_bytes) {
  HprofBytes h = with_classes(id_bytes);
  h.record(0x1c, class_dumps(h) + h.instance(0x8000, 0x500, h.number(3, 4) + h.id(0x8020) + h.id(0)));
  h.record(0x1c, h.objects(0x8020, 0x600, 2, h.id(0x8000) + h.id(0)) + h.values(0x9000, 10, 3, std::string(12, 'x')) +
                     h.root(0x08, 0x8000, 8));
  return h;
}

/// `head`, then `zeros` zero bytes that are nowhere, then `tail`.
class LongInput final : public Input {
 public:
  LongInput(std::string head, std::uint64_t zeros, std::string tail)
      : parts_{std::move(head), std::string(1 << 20, '\0'), std::move(tail)}, zeros_(zeros) {}
  Result<std::string_view> peek(std::size_t) override {
    const std::uint64_t in_zeros = at_ < parts_[0].size() ? 0 : at_ - parts_[0].size();
    if (at_ < parts_[0].size()) return joined(parts_[0], static_cast<std::size_t>(at_), parts_[1]);
    if (in_zeros + 4096 < zeros_)
      return std::string_view(parts_[1]).substr(0, std::min<std::uint64_t>(parts_[1].size(), zeros_ - in_zeros - 4096));
    const std::string rest(static_cast<std::size_t>(zeros_ - std::min(in_zeros, zeros_)), '\0');
    const std::uint64_t behind = in_zeros > zeros_ ? in_zeros - zeros_ : 0;
    view_ = rest + parts_[2].substr(static_cast<std::size_t>(behind));
    return std::string_view(view_);
  }
  void consume(std::size_t n) override { at_ += n; }
  std::uint64_t offset() const override { return at_; }
  const std::string& name() const override { return name_; }
  std::string_view compression() const override { return {}; }

 private:
  std::string_view joined(const std::string& head, std::size_t from, const std::string& zeros) {
    view_ = head.substr(from) + zeros.substr(0, 4096);
    return view_;
  }
  std::string parts_[3];
  std::uint64_t zeros_;
  std::uint64_t at_ = 0;
  std::string view_;
  std::string name_ = "long";
};

}  // namespace

TEST_CASE("hprof: every truncation is an error at a byte of the file, or stands between records") {
  const HprofBytes h = small(GENERATE(as<std::uint32_t>{}, 4, 8));
  int whole = 0;
  for (std::size_t size = 0; size < h.bytes.size(); ++size) {
    for (const std::size_t window : {std::size_t{0}, std::size_t{1}, 1 + size % 40}) {
      const Result<Snapshot> read = read_hprof(std::string_view(h.bytes).substr(0, size), window);
      whole += read ? 1 : 0;
      if (read) continue;
      CHECK(read.error().code == ErrorCode::malformed);
      CHECK(read.error().offset.value_or(size + 1) <= size);
    }
  }
  CHECK(whole == 3);  // behind the first segment, in each window
}

TEST_CASE("hprof: every flipped bit is an error or a snapshot") {
  const HprofBytes h = small(8);
  for (std::size_t at = 0; at < h.bytes.size(); ++at) {
    for (const int bit : {0, 3, 5, 7}) {
      std::string damaged = h.bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const Result<Snapshot> read = read_hprof(damaged);
      if (!read) CHECK(read.error().code != ErrorCode::internal);
    }
  }
}

TEST_CASE("hprof: lengths that lie are told at their sub-record") {
  HprofBytes h = with_classes(8);
  h.record(0x1c, class_dumps(h));
  const std::size_t at = h.bytes.size() + 9;
  std::string message;
  SECTION("instance longer than its segment") {
    std::string instance = h.instance(0x8000, 0x500, std::string(20, '\0'));
    instance.replace(1 + 8 + 4 + 8, 4, h.number(21, 4));
    h.record(0x1c, instance);
    message = "sub-record beyond its heap dump record: it has 21 more bytes, the record has 20 left";
  }
  SECTION("instance of 4 GiB") {
    std::string instance = h.instance(0x8000, 0x500, std::string(20, '\0'));
    instance.replace(1 + 8 + 4 + 8, 4, h.number(0xffffffff, 4));
    h.record(0x1c, instance);
    message = "sub-record beyond its heap dump record: it has 4294967295 more bytes, the record has 20 left";
  }
  SECTION("instance shorter than its class") {
    h.record(0x1c, h.instance(0x8000, 0x500, std::string(19, '\0')));
    message = "instance too short: found 19 bytes, its class has fields of 20";
  }
  SECTION("array of objects") {
    h.record(0x1c, h.objects(0x8000, 0x600, 0xffffffff, h.id(1)));
    message = "sub-record beyond its heap dump record: it has 34359738360 more bytes, the record has 8 left";
  }
  SECTION("array of values") {
    h.record(0x1c, h.values(0x8000, 11, 0x20000000, "12345678"));
    message = "sub-record beyond its heap dump record: it has 4294967296 more bytes, the record has 8 left";
  }
  SECTION("class with more fields than bytes") {
    h.record(0x1c, h.class_dump(0x700, 0, 0, "", 2, h.field(11, 2)));
    message = "sub-record beyond its heap dump record: it has 8 more bytes, the record has 0 left";
  }
  SECTION("segment cut within a sub-record") {
    h.record(0x1c, h.root(0x08, 0x8000, 7));
    message = "sub-record beyond its heap dump record: it has 8 more bytes, the record has 7 left";
  }
  SECTION("unknown tag") {
    h.record(0x1c, h.number(0x42, 1) + std::string(100, '\0'));
    message = "unknown sub-record: found tag 0x42, expected one of a heap dump";
  }
  SECTION("class that is its own ancestor") {
    h.record(0x1c, h.class_dump(0x700, 0x700, 0, "", 0, "") + h.instance(0x8000, 0x700, ""));
    message = "class is an ancestor of itself";
  }
  SECTION("class twice") {
    h.record(0x1c, h.class_dump(0x100, 0, 0, "", 0, ""));
    message = "class is there twice: expected one dump of each";
  }
  SECTION("array of values that are objects") {
    h.record(0x1c, h.values(0x8000, 2, 0, ""));
    message = "array of objects among arrays of values: found type 2, expected 4 to 11";
  }
  const Error error = error_of(h);
  CHECK(error.message == message);
  CHECK(error.code == ErrorCode::malformed);
  CHECK(error.offset.value_or(0) >= at);
}

TEST_CASE("hprof: records and headers that are not what they say") {
  HprofBytes h = with_classes(8);
  std::string message;
  ErrorCode code = ErrorCode::malformed;
  SECTION("unknown record") {
    h.record(0x77, "abc");
    message = "unknown record: found tag 119, expected one of hprof";
  }
  SECTION("unknown type of a field") {
    h.record(0x1c, h.class_dump(0x700, 0, 0, "", 1, h.field(11, 3)));
    message = "unknown type of a value: found 0x03, expected 2 or 4 to 11";
  }
  SECTION("string without an id") {
    h.record(0x01, "abc");
    message = "record too short: a string has 3 bytes, expected at least 8";
  }
  SECTION("class record of another length") {
    h.record(0x02, std::string(23, '\0'));
    message = "length of a class record: found 23, expected 24";
  }
  SECTION("no heap") { message = "no heap dump in the file: it ends, expected a record 0x0c or 0x1c"; }
  SECTION("very many dumps") {
    for (int i = 0; i < 1025; ++i) h.record(0x0c, h.values(0x8000, 8, 0, ""));
    message = "too many heap dumps in one file: expected at most 1024";
    code = ErrorCode::limit;
  }
  SECTION("version") {
    h = HprofBytes(8, "1.0.4");
    message = "version not read: found 1.0.4, expected 1.0.1 to 1.0.3";
    code = ErrorCode::unsupported;
  }
  SECTION("size of ids") {
    h = HprofBytes(5);
    message = "size of ids: found 5, expected 4 or 8";
  }
  SECTION("header without its end") {
    h.bytes[18] = 'x';
    message = "header not recognised: expected JAVA PROFILE 1.0. and a version";
  }
  const Error error = error_of(h);
  CHECK(error.message == message);
  CHECK(error.code == code);
}

TEST_CASE("hprof: a heap dump of more than 4 GiB in one record has its length modulo 2^32") {
  // An array of 2^29 longs is 2^32 bytes: the record says only what is left beside it.
  HprofBytes h(8);
  h.text(1, "A").load(0x100, 1);
  const std::string before = h.class_dump(0x100, 0, 0, "", 0, "") + h.values(0x100000000, 11, 1U << 29, "");
  const bool at_boundary = GENERATE(true, false);
  const std::string behind = h.instance(0x200, 0x100, "") + h.root(0xff, 0x200, 0);
  // At the boundary the record seems to end right before an instance; else within the array.
  const std::string filler = at_boundary ? "" : h.values(0x300, 8, 3, "abc");
  const std::string body = before;
  const std::uint64_t length = body.size() + (std::uint64_t{1} << 32) + filler.size() + behind.size();
  std::string head =
      h.bytes + h.number(0x0c, 1) + h.number(0, 4) + h.number(length % (std::uint64_t{1} << 32), 4) + body;
  LongInput in(head, std::uint64_t{1} << 32, filler + behind + h.number(0x2c, 1) + std::string(8, '\0'));
  SnapshotList list;
  const Status status = formats::kHprof.read(in, list);
  if (!status) FAIL(status.error().text());
  const ObjectGraph& graph = *list.snapshots.at(0).graph;
  CHECK(graph.size() == (at_boundary ? 3 : 4));
  CHECK(graph.roots.size() == 1);
  CHECK(graph.self_bytes[1] == 16 + (std::int64_t{1} << 32));
}

TEST_CASE("hprof: claimed by its own importer alone") {
  const Result<const formats::Format*> found = formats::detect(small(8).bytes, true);
  REQUIRE(found);
  CHECK((*found)->info.name == "hprof");
}
