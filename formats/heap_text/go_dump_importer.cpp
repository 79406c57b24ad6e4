#include "formats/heap_text/raw_stacks.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/record_cursor.hpp"
#include "formats/text/printed_frame.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

using namespace heap_text;
using namespace std::string_view_literals;

constexpr std::string_view kGoDumpSignature = "go1.7 heap dump\n";
constexpr std::int64_t kGoRate = 524288;  // runtime.MemProfileRate, which the dump does not say
constexpr std::uint64_t kMostFrames = 1'000'000;

/// Numbers of a record whose contents are not kept, in front of what comes next: '7' is a number, 't' a text or a block
/// of bytes, 'f' a list of fields.
constexpr std::array<std::string_view, 18> kLayouts{
    "",    "", "t7",    "77t7", "77777777t7777", "777t777tf", "7777tt7", "77777", "77",
    "777", "", "77777", "7tf",  "7tf",           "7777777",   "777777",  "",      "77"};

constexpr std::size_t kPauses = 1 + 256;  // behind MemStats: their sum, then each
constexpr std::uint64_t kMostTag = 17;

/// Reads a whole dump. Throws Failure.
class GoDumpReader {
 public:
  explicit GoDumpReader(Input& in) : at_(in) {}

  Snapshot read() {
    at_.skip(kGoDumpSignature.size());
    builder_.add_heap_columns(true);
    SnapshotFacts& facts = builder_.facts();
    facts.producer = "go";
    facts.sampling = Sampling::poisson;
    facts.period = kGoRate;
    facts.notes.add(Severity::info, "rows are estimates as of MemProfileRate 524288, which the dump does not say");
    is_cut_ = true;
    while (at_.next()) {
      is_cut_ = false;
      const std::uint64_t tag = number();
      if (tag > kMostTag) at_.malformed(instead("tag of a record", tag, "at most 17"));
      if (tag == 0) break;
      read_record(tag);
      if (is_cut_) break;
      is_cut_ = true;  // without a record of tag 0
    }
    if (is_cut_) facts.lose("the dump has no end", at_.offset());
    facts.counters.push_back({"objects", objects_, "count"});
    facts.counters.push_back({"object_space", object_bytes_, "bytes"});
    return value_or_throw(builder_.finish());
  }

 private:
  /// 0 where the input ends before.
  std::uint64_t number() {
    if (is_cut_) return 0;
    at_.room();
    const std::uint64_t value = at_.number();
    is_cut_ = !at_.whole();
    return is_cut_ ? 0 : value;
  }

  std::uint64_t skip_text() {
    const std::uint64_t size = number();
    is_cut_ = is_cut_ || !at_.skip(size);
    return size;
  }

  std::string take_text() {
    const std::optional<std::string_view> found = at_.bytes(number());
    is_cut_ = is_cut_ || !found;
    return std::string(found.value_or(""));
  }

  /// Kind and offset of each pointer, up to a kind of 0.
  void skip_fields() {
    while (!is_cut_ && number() != 0) number();
  }

  void read_record(std::uint64_t tag) {
    switch (tag) {
      case 1: return read_object();
      case 10: return read_stats();
      case 16: return read_bucket();
      default:
        for (const char part : kLayouts[static_cast<std::size_t>(tag)]) {
          if (part == '7') number();
          if (part == 't') skip_text();
          if (part == 'f') skip_fields();
        }
    }
  }

  void read_object() {
    number();
    const std::uint64_t size = skip_text();
    skip_fields();
    if (is_cut_) return;
    ++objects_;
    object_bytes_ += static_cast<std::int64_t>(size);  // no more than the input has
  }

  void read_stats() {
    std::vector<Counter> counters;
    for (const KnownCounter& stat : kMemStats) {
      const std::uint64_t value = number();
      if (value >> 63 != 0) at_.malformed("a figure of MemStats is beyond 2^63-1");
      counters.push_back(stat.with(static_cast<std::int64_t>(value)));
    }
    for (std::size_t i = 0; i < kPauses; ++i) number();
    const std::uint64_t collections = number();
    if (is_cut_) return;
    counters.push_back({"NumGC", static_cast<std::int64_t>(collections & 0xffffffffU), "count", true});
    auto& all = builder_.facts().counters;
    all.insert(all.end(), counters.begin(), counters.end());
  }

  /// Allocated and freed objects of one size at one stack.
  void read_bucket() {
    number();
    const std::uint64_t size = number();
    const std::uint64_t count = number();
    if (count > kMostFrames) at_.malformed("a stack of " + std::to_string(count) + " frames, expected at most 1000000");
    std::vector<FrameId> frames;
    for (std::uint64_t i = 0; i < count && !is_cut_; ++i) frames.push_back(read_frame());
    const std::uint64_t allocated = number(), freed = number();
    if (is_cut_) return;
    Values values;
    const bool fits = size >> 62 == 0 && allocated >> 62 == 0 && freed <= allocated;
    values.inuse_objects = fits ? static_cast<std::int64_t>(allocated - freed) : 0;
    values.alloc_objects = fits ? static_cast<std::int64_t>(allocated) : 0;
    const auto bytes = static_cast<std::int64_t>(size);
    if (!fits || __builtin_mul_overflow(values.inuse_objects, bytes, &values.inuse_space) ||
        __builtin_mul_overflow(values.alloc_objects, bytes, &values.alloc_space) ||
        !unsample({Rule::v2, kGoRate}, values))
      at_.malformed("figures of a stack: expected fewer freed than allocated, and bytes within 64 bits");
    const std::array<std::int64_t, 4> row{values.inuse_objects, values.inuse_space, values.alloc_objects,
                                          values.alloc_space};
    builder_.add_row(frames.empty() ? builder_.pseudo_stack("[no stack recorded]") : builder_.stack(frames), {}, row);
  }

  FrameId read_frame() {
    const std::string function = take_text(), file = take_text();
    text::PrintedFrame frame;
    frame.line = static_cast<std::int64_t>(number() & 0x7fffffffU);
    text::Cursor at(function);
    std::uint64_t pc = 0;
    if (file == "?" && at.take("0x") && at.hex(pc) == text::Number::ok && at.at_end()) {
      frame.offset = pc;  // no symbol
    } else {
      frame.function = function;
      frame.file = file;
    }
    return text::frame_of(builder_, frame);
  }

  RecordCursor at_;
  SnapshotBuilder builder_;
  std::int64_t objects_ = 0, object_bytes_ = 0;
  bool is_cut_ = false;
};

}  // namespace

constexpr Format kGoHeapDump{
    .info = {"go-heapdump", "Go's debug.WriteHeapDump: sampled stacks, MemStats, sum of all objects",
             "*.heapdump, *.dump", "objects, their contents and pointers; types, goroutines, finalizers"},
    .sniff = [](std::string_view head) { return certain_if(text::has_prefix(head, kGoDumpSignature)); },
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, GoDumpReader(in).read()); }};

}  // namespace snapdiff::formats
