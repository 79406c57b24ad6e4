#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/base/importer.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "formats/hprof/big_endian.hpp"
#include "formats/hprof/classes.hpp"
#include "formats/hprof/finish_heap.hpp"
#include "formats/hprof/heap_dump.hpp"
#include "formats/hprof/name_table.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/byte_window.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats {
namespace {

using namespace hprof;

constexpr std::string_view kMagic = "JAVA PROFILE 1.0.";
constexpr std::size_t kHeaderText = 19;  // with the NUL
constexpr std::uint32_t kLongestName = 4096;
constexpr std::uint32_t kMostDumps = 1024;
constexpr std::uint64_t kMostMilliseconds =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 1'000'000;

/// Reads all heap dumps of a file, in their order; of several, one that is damaged takes the others with it.
/// Throws Failure. Errors: malformed, unsupported (versions), limit; those of the sink.
class HprofReader {
 public:
  HprofReader(Input& in, SnapshotSink& out) : bytes_(in), out_(out) {}

  void read() {
    header();
    while (!bytes_.at_end(p_)) record();
    if (!dump_) fail_malformed("no heap dump in the file: it ends, expected a record 0x0c or 0x1c", offset());
    finish_dump();
  }

 private:
  std::uint64_t offset() const { return bytes_.offset_of(p_); }

  void have(std::size_t size, std::string_view what) {
    if (!bytes_.ensure(p_, size)) fail_malformed("truncated: the input ends within " + std::string(what), offset());
  }

  void header() {
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
    id_bytes_ = load_u4(p_);
    if (id_bytes_ != 4 && id_bytes_ != 8)
      fail_malformed("size of ids: found " + std::to_string(id_bytes_) + ", expected 4 or 8", offset());
    const std::uint64_t milliseconds = load_u8(p_ + 4);
    if (milliseconds != 0 && milliseconds <= kMostMilliseconds)
      began_at_ns_ = static_cast<std::int64_t>(milliseconds * 1'000'000);
    detail_ = std::string("1.0.") + version + ", ids of " + std::to_string(id_bytes_) + " bytes";
    p_ += 12;
  }

  /// One dump of the file, of which there may be several.
  struct Dump {
    Dump(ByteWindow& bytes, std::uint32_t id_bytes) : heap(bytes, id_bytes, classes, builder.notes()) {}
    SnapshotBuilder builder;
    ClassTable classes;
    HeapDump heap;
  };

  void finish_dump() {
    const std::unique_ptr<Dump> dump = std::move(dump_);
    for (std::uint32_t row = 0; row < dump->classes.size(); ++row) {
      ClassRow& of = dump->classes[row];
      const std::optional<std::uint32_t> loaded = loaded_.find(of.id);
      of.has_name = loaded.has_value();
      if (loaded) of.name = loaded_[*loaded].name;
    }
    dump->heap.finish();
    finish_heap(dump->heap.heap, dump->classes, names_, id_bytes_, dump->builder);
    SnapshotFacts& facts = exact_facts(dump->builder, "jvm", detail_);
    facts.taken_at_ns = began_at_ns_;
    if (facts.taken_at_ns && !checked_add(*facts.taken_at_ns, begun_after_us_ * 1000, *facts.taken_at_ns))
      facts.taken_at_ns.reset();
    facts.notes.add_all(notes_);
    give(out_, dump->builder.finish());
  }

  /// A record 0x0c is a dump; segments 0x1c are one up to a record 0x2c. Source: eclipse-mat/mat, Pass1Parser.java.
  void dump_record(std::uint8_t tag, std::uint32_t length, std::uint32_t after_us) {
    if (dump_ && length == 0) return;
    if (dump_ && dump_ended_) finish_dump();
    if (!dump_) {
      if (++dumps_ > kMostDumps)
        fail(ErrorCode::limit, "too many heap dumps in one file: expected at most " + std::to_string(kMostDumps),
             offset());
      dump_ = std::make_unique<Dump>(bytes_, id_bytes_);
      begun_after_us_ = after_us;
    }
    dump_->heap.read(p_, length, tag == 0x0c);
    dump_ended_ = tag == 0x0c;
  }

  void record() {
    const std::uint64_t start = offset();
    have(9, "the head of a record");
    const auto tag = static_cast<std::uint8_t>(*p_);
    const std::uint32_t after_us = load_u4(p_ + 1);
    const std::uint32_t length = load_u4(p_ + 5);
    p_ += 9;
    switch (tag) {
      case 0x01: return text(length, start);
      case 0x02: return load_class(length, start);
      case 0x0c:
      case 0x1c: return dump_record(tag, length, after_us);
      case 0x2c: dump_ended_ = true; break;
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

  void text(std::uint32_t length, std::uint64_t start) {
    const std::uint32_t id_bytes = id_bytes_;
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
    names_.add(id, std::string_view(p_, kept));
    if (kept < length) notes_.add(Severity::info, "names longer than 4096 bytes are cut", start);
    if (!bytes_.skip(p_, length)) fail_malformed("truncated: the input ends within a string", offset());
  }

  void load_class(std::uint32_t length, std::uint64_t start) {
    const std::uint32_t id_bytes = id_bytes_;
    if (length != 8 + 2 * id_bytes) {
      fail_malformed("length of a class record: found " + std::to_string(length) + ", expected " +
                         std::to_string(8 + 2 * id_bytes),
                     start);
    }
    have(length, "a class record");
    const auto id_at = [&](std::size_t at) { return id_bytes == 8 ? load_u8(p_ + at) : load_u4(p_ + at); };
    loaded_[loaded_.row_of(id_at(4))].name = id_at(8 + id_bytes);
    p_ += length;
  }

  ByteWindow bytes_;
  const char* p_ = nullptr;
  SnapshotSink& out_;
  std::uint32_t id_bytes_ = 0;
  std::optional<std::int64_t> began_at_ns_;
  std::int64_t begun_after_us_ = 0;  // of the dump that is being read
  std::string detail_;
  NameTable names_;
  ClassTable loaded_;  // names of classes, so far
  Notes notes_;
  std::unique_ptr<Dump> dump_;
  std::uint32_t dumps_ = 0;
  bool dump_ended_ = false;  // the next record of objects begins another one
};

}  // namespace

constexpr Format kHprof{
    .info = {"hprof", "heap dump of a Java or Android virtual machine: objects and who holds them", "*.hprof",
             "values of fields and arrays; thread stacks; sizes are estimates"},
    .sniff = [](std::string_view head) { return certain_if(head.substr(0, 17) == "JAVA PROFILE 1.0."); },
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { HprofReader(in, out).read(); }};

}  // namespace snapdiff::formats
