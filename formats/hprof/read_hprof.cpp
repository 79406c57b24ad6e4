#include "formats/hprof/read_hprof.hpp"

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "formats/hprof/big_endian.hpp"
#include "formats/hprof/classes.hpp"
#include "formats/hprof/finish_heap.hpp"
#include "formats/hprof/heap_dump.hpp"
#include "formats/hprof/names.hpp"
#include "formats/input/byte_window.hpp"
#include "snapdiff/object_graph.hpp"
#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::hprof {
namespace {

constexpr std::string_view kMagic = "JAVA PROFILE 1.0.";
constexpr std::size_t kHeaderText = 19;  // with the NUL
constexpr std::uint32_t kLongestName = 4096;
constexpr std::uint64_t kMostMilliseconds =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 1'000'000;

class HprofReader {
 public:
  explicit HprofReader(Input& in) : bytes_(in) {}

  Snapshot read() {
    const std::uint32_t id_bytes = header();
    ClassTable classes;
    NameTable names;
    {
      HeapDump dump(bytes_, id_bytes, classes, builder_.notes());
      while (!bytes_.at_end(p_)) record(dump, id_bytes, classes, names);
      if (!seen_dump_) fail_malformed("no heap dump in the file: it ends, expected a record 0x0c or 0x1c", offset());
      dump.finish();
      finish_heap(dump.heap, classes, names, id_bytes, builder_);
    }
    SnapshotFacts& facts = builder_.facts();
    facts.producer = "jvm";
    facts.sampling = Sampling::exact;
    Result<Snapshot> snapshot = builder_.finish();
    if (!snapshot) throw DecodeError{std::move(snapshot).error()};
    return std::move(snapshot).value();
  }

 private:
  std::uint64_t offset() const { return bytes_.offset_of(p_); }

  void have(std::size_t size, std::string_view what) {
    if (!bytes_.ensure(p_, size)) fail_malformed("truncated: the input ends within " + std::string(what), offset());
  }

  std::uint32_t header() {
    have(kHeaderText + 12, "the header");
    const std::string_view text(p_, kHeaderText);
    const char version = text[kMagic.size()];
    if (text.substr(0, kMagic.size()) != kMagic || text[kHeaderText - 1] != '\0')
      fail_malformed("header not recognised: expected JAVA PROFILE 1.0. and a version", offset());
    if (version < '1' || version > '3') {
      fail(ErrorCode::unsupported,
           "version not read: found 1.0." + std::string(1, version > ' ' && version < 0x7f ? version : '?') +
               ", expected 1.0.1 to 1.0.3",
           offset());
    }
    p_ += kHeaderText;
    const std::uint32_t id_bytes = load_u4(p_);
    if (id_bytes != 4 && id_bytes != 8)
      fail_malformed("size of ids: found " + std::to_string(id_bytes) + ", expected 4 or 8", offset());
    const std::uint64_t milliseconds = load_u8(p_ + 4);
    if (milliseconds != 0 && milliseconds <= kMostMilliseconds)
      builder_.facts().taken_at_ns = static_cast<std::int64_t>(milliseconds * 1'000'000);
    builder_.facts().format_detail = std::string("1.0.") + version + ", ids of " + std::to_string(id_bytes) + " bytes";
    p_ += 12;
    return id_bytes;
  }

  void record(HeapDump& dump, std::uint32_t id_bytes, ClassTable& classes, NameTable& names) {
    const std::uint64_t start = offset();
    have(9, "the head of a record");
    const auto tag = static_cast<std::uint8_t>(*p_);
    const std::uint32_t length = load_u4(p_ + 5);
    p_ += 9;
    switch (tag) {
      case 0x01: text(id_bytes, length, start, names); return;
      case 0x02: load_class(id_bytes, length, start, classes); return;
      case 0x0c:
      case 0x1c:
        if (ended_dump_) {
          fail(ErrorCode::unsupported, "second heap dump in one file: expected one, split it first", start);
        }
        seen_dump_ = true;
        dump.read(p_, length, tag == 0x0c);
        return;
      case 0x2c: ended_dump_ = seen_dump_; break;
      case 0x03:  // unload class
      case 0x04:  // frame
      case 0x05:  // trace
      case 0x06:  // allocation sites
      case 0x07:  // heap summary
      case 0x0a:  // start of a thread
      case 0x0b:  // end of a thread
      case 0x0d:  // CPU samples
      case 0x0e: break;
      default: fail_malformed("unknown record: found tag " + std::to_string(tag) + ", expected one of hprof", start);
    }
    if (!bytes_.skip(p_, length)) {
      fail_malformed("truncated: the input ends within a record of " + std::to_string(length) + " bytes", offset());
    }
  }

  void text(std::uint32_t id_bytes, std::uint32_t length, std::uint64_t start, NameTable& names) {
    if (length < id_bytes) {
      fail_malformed("record too short: a string has " + std::to_string(length) + " bytes, expected at least " +
                         std::to_string(id_bytes),
                     start);
    }
    have(id_bytes, "a string");
    const std::uint64_t id = id_bytes == 8 ? load_u8(p_) : load_u4(p_);
    p_ += id_bytes;
    length -= id_bytes;
    const std::uint32_t kept = std::min(length, kLongestName);
    have(kept, "a string");
    names.add(id, std::string_view(p_, kept));
    if (kept < length) builder_.notes().add(Severity::warning, "names longer than 4096 bytes are cut", start);
    if (!bytes_.skip(p_, length)) fail_malformed("truncated: the input ends within a string", offset());
  }

  void load_class(std::uint32_t id_bytes, std::uint32_t length, std::uint64_t start, ClassTable& classes) {
    if (length != 8 + 2 * id_bytes) {
      fail_malformed("length of a class record: found " + std::to_string(length) + ", expected " +
                         std::to_string(8 + 2 * id_bytes),
                     start);
    }
    have(length, "a class record");
    const auto id_at = [&](std::size_t at) { return id_bytes == 8 ? load_u8(p_ + at) : load_u4(p_ + at); };
    ClassRow& row = classes[classes.row_of(id_at(4))];
    row.name = id_at(8 + id_bytes);
    row.has_name = true;
    p_ += length;
  }

  ByteWindow bytes_;
  const char* p_ = nullptr;
  SnapshotBuilder builder_;
  bool seen_dump_ = false;
  bool ended_dump_ = false;
};

}  // namespace

Snapshot read_hprof(Input& in) { return HprofReader(in).read(); }

}  // namespace snapdiff::formats::hprof
