#include <set>

#include "formats/text/pattern.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

/// "2026-01-01 10:00:00.000000: I tensorflow/core/common_runtime/bfc_allocator.cc:1046] body"
struct LogLine {
  std::optional<std::int64_t> time_ns;  ///< since 1970 as if the writer's clock were UTC; nothing without a date
  std::string_view body;
};

/// "Allocator (GPU_0_bfc) ran out of memory trying to allocate 74.16MiB (rounded to 77762560)requested by op x"
struct OutOfMemoryLine {
  std::string_view allocator;
  std::optional<text::Quantity> asked;
};

/// "InUse at 905a40900 of size 2359296 by op x action_count 6 step 0 next 6", "Chunk at 0x905a40900 of size 256",
/// "Free  at ...".
enum class ChunkLine : std::uint8_t { none, in_use, free, unreadable };
struct Chunk {
  std::int64_t size = 0;
  std::string_view op;  ///< "" where not recorded
};

/// "4 Chunks of size 256 totalling 1.0KiB"
struct SizeSummary {
  std::int64_t count = 0;
  std::int64_t size = 0;
};

/// "Limit:                   285474816", a line of its own after "Stats: ".
struct StatLine {
  std::string_view name;
  std::int64_t value = 0;
};

using text::Cursor;
using text::has_prefix;
using text::trim;

std::optional<LogLine> bfc_line(std::string_view line) {
  constexpr std::string_view kFile = "bfc_allocator.cc:";
  const std::size_t file = line.find(kFile);
  if (file == std::string_view::npos) return std::nullopt;
  Cursor at(line.substr(file + kFile.size()));
  std::int64_t number = 0;
  if (!at.takes("%] ?", number)) return std::nullopt;
  const std::optional<text::TimeStamp> time = text::find_time(line.substr(0, file));
  return LogLine{time ? std::optional(time->ns) : std::nullopt, at.rest()};
}

std::optional<OutOfMemoryLine> out_of_memory(std::string_view body) {
  static const text::Pattern kRanOut(
      R"(^Allocator \((.*?)\) ran out of memory trying to allocate (\S*?)\.*(?: .*?\(rounded to (\d+)\)| |$))");
  OutOfMemoryLine out;
  std::string_view size;
  std::int64_t rounded = -1;
  if (!has_prefix(body, "Allocator (") || !kRanOut.in(body, out.allocator, size, rounded)) return std::nullopt;
  out.asked = rounded >= 0 ? text::Quantity{rounded, 0} : text::parse_size(size);
  return out;
}

/// "BFCAllocator dump for GPU_0_bfc" -> "GPU_0_bfc"
std::optional<std::string_view> dump_for(std::string_view body) {
  constexpr std::string_view kDump = "BFCAllocator dump for ";
  if (!has_prefix(body, kDump)) return std::nullopt;
  return trim(body.substr(kDump.size()));
}

ChunkLine chunk_line(std::string_view body, Chunk& out) {
  Cursor at(trim(body));
  ChunkLine kind = ChunkLine::in_use;
  if (at.take("Free")) {
    kind = ChunkLine::free;
  } else if (!at.take("InUse") && !at.take("Chunk")) {
    return ChunkLine::none;
  }
  if (!at.takes("~at ")) return ChunkLine::none;
  at.token();
  if (!at.take(" of size ")) return ChunkLine::none;
  if (!at.count(out.size)) return ChunkLine::unreadable;
  out.op = {};
  if (at.take(" by op ")) {
    const std::string_view rest = at.rest();
    out.op = rest.substr(0, rest.find(" action_count "));
  }
  return kind;
}

std::optional<SizeSummary> size_summary(std::string_view body) {
  SizeSummary out;
  return text::given(text::reads(trim(body), "% Chunks of size % totalling ", out.count, out.size), out);
}

std::optional<StatLine> stat_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  StatLine out;
  out.name = trim(line.substr(0, colon));
  const std::optional<std::int64_t> value = text::whole_number(trim(line.substr(colon + 1)));
  out.value = value.value_or(0);
  return value ? std::optional(out) : std::nullopt;
}

struct Chunks {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

struct KnownStat {
  std::string_view name;  ///< of AllocatorStats::DebugString
  std::string_view counter;
  std::string_view unit;
  bool cumulative;
};
constexpr KnownStat kStats[] = {
    {"Limit", "limit", "bytes", false},
    {"InUse", "in_use", "bytes", false},
    {"MaxInUse", "max_in_use", "bytes", false},
    {"NumAllocs", "num_allocs", "count", true},
    {"MaxAllocSize", "max_alloc_size", "bytes", false},
    {"Reserved", "reserved", "bytes", false},
    {"PeakReserved", "peak_reserved", "bytes", false},
    {"LargestFreeBlock", "largest_free_block", "bytes", false},
};

/// One dump while it is read.
struct Dump {
  std::string allocator;
  std::optional<text::Quantity> asked;
  std::map<std::string, Chunks, std::less<>> chunks;  ///< in use, by key, of the lines of single chunks
  std::map<std::string, Chunks, std::less<>> sizes;   ///< the same of the summary by size
  Chunks free;
  std::optional<text::Quantity> sum;   ///< "Sum Total of in-use chunks"
  std::optional<std::int64_t> in_use;  ///< of the statistics
  std::vector<std::pair<const KnownStat*, std::int64_t>> stats;
  bool chunk_lines = false;
  bool in_stats = false;
  SnapshotFacts facts;

  bool has_content() const { return chunk_lines || !sizes.empty() || !stats.empty() || sum.has_value(); }
  bool ended() const { return in_use.has_value(); }
};

constexpr std::string_view kSumIs = "sum over the chunks is";

class BfcLog final : public text::ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    const auto found = bfc_line(line);
    if (!found) {
      if (dump_ && dump_->in_stats) statistics(line);
      return;
    }
    if (dump_) dump_->in_stats = false;
    const std::string_view body = found->body;
    if (const auto failure = out_of_memory(body)) {
      close();
      open(failure->allocator, found->time_ns);
      dump_->asked = failure->asked;
    } else if (const auto name = dump_for(body)) {
      if (dump_ && (dump_->has_content() || dump_->allocator != *name)) close();
      if (!dump_) open(*name, found->time_ns);
    } else {
      content(body, found->time_ns);
    }
  }

  void open(std::string_view allocator, std::optional<std::int64_t> time_ns) {
    dump_ = std::make_unique<Dump>();
    dump_->allocator = allocator;
    dump_->facts.taken_at_ns = time_ns;
    allocators_.emplace(allocator);
  }

  void content(std::string_view body, std::optional<std::int64_t> time_ns) {
    const std::string_view text = trim(body);
    if (!text.empty() && text.find_first_not_of("*x_") == std::string_view::npos) {
      if (dump_ && dump_->has_content()) close();
      return;
    }
    Chunk chunk;
    const ChunkLine kind = chunk_line(text, chunk);
    const auto summary = size_summary(text);
    constexpr std::string_view kSum = "Sum Total of in-use chunks: ";
    const bool known = kind != ChunkLine::none || summary || has_prefix(text, kSum) || text == "Stats:";
    if (!dump_) {
      if (!known) return;
      open("", time_ns);  // the first lines are missing
    }
    if (known && !lines_.terminated()) return cut_line();
    if (kind != ChunkLine::none) {
      add_chunk(kind, chunk);
    } else if (summary) {
      const std::int64_t bytes = product_of(summary->count, summary->size, kSumIs, lines_.line_offset());
      add(dump_->sizes["chunk size " + std::to_string(summary->size)], summary->count, bytes);
    } else if (has_prefix(text, kSum)) {
      dump_->sum = text::parse_size(text.substr(kSum.size()));
    } else if (text == "Stats:") {
      dump_->in_stats = true;
    }
  }

  void add_chunk(ChunkLine kind, const Chunk& chunk) {
    dump_->chunk_lines = true;
    if (kind == ChunkLine::unreadable) {
      dump_->facts.lose("chunks that could not be read, left out", lines_.line_offset());
    } else if (kind == ChunkLine::free) {
      add(dump_->free, 1, chunk.size);
    } else {
      const std::string key = chunk.op.empty() ? "chunk size " + std::to_string(chunk.size) : std::string(chunk.op);
      add(dump_->chunks[key], 1, chunk.size);
    }
  }

  void add(Chunks& sum, std::int64_t count, std::int64_t bytes) {
    add_to(sum.count, count, kSumIs, lines_.line_offset());
    add_to(sum.bytes, bytes, kSumIs, lines_.line_offset());
  }

  void cut_line() {
    dump_->facts.partial = true;
    dump_->in_use.reset();
  }

  void statistics(std::string_view line) {
    const auto stat = stat_line(line);
    if (!stat) {
      dump_->in_stats = false;
      return;
    }
    if (!lines_.terminated()) return;  // the number may be cut
    for (const KnownStat& known : kStats) {
      if (known.name != stat->name) continue;
      dump_->stats.emplace_back(&known, stat->value);
      if (known.name == "InUse") dump_->in_use = stat->value;
    }
  }

  /// Whatever was open becomes a snapshot; a warning without a dump after it does not.
  void close() {
    if (!dump_) return;
    if (dump_->has_content()) {
      if (!dump_->ended()) dump_->facts.lose("a dump without its statistics: its end is missing", lines_.line_offset());
      take();
    } else {
      ++without_dump_;
    }
    dump_.reset();
  }

  void take() {
    const Dump& dump = *dump_;
    SnapshotBuilder builder;
    SnapshotFacts& facts = builder.facts() = dump.facts;
    facts.producer = "tensorflow";
    facts.format_detail = dump.allocator;
    facts.sampling = Sampling::exact;
    facts.complete = !facts.partial;
    if (facts.taken_at_ns) facts.notes.add(Severity::info, "the times are the writer's local ones, taken as UTC");
    const auto& rows = dump.chunk_lines ? dump.chunks : dump.sizes;
    Chunks sum;
    if (dump.chunk_lines || !dump.sizes.empty()) {
      builder.add_heap_columns();
      for (const auto& [key, chunks] : rows) {
        const TypeKey type = type_key(builder, key, {}, {text_label(builder, "allocator", dump.allocator)});
        builder.add_row(type.stack, type.labels, std::array{chunks.count, chunks.bytes});
        add(sum, chunks.count, chunks.bytes);
      }
      check_sums(dump, sum.bytes, facts.notes);
    } else {
      facts.complete = false;
    }
    add_counters(dump, facts);
    out_.take(builder.finish());
  }

  static void check_sums(const Dump& dump, std::int64_t bytes, Notes& notes) {
    if (dump.in_use && *dump.in_use != bytes)
      notes.add(Severity::warning, "the chunks in use do not add up to InUse of the statistics");
    if (dump.sum && (bytes > dump.sum->value + dump.sum->half_unit || bytes < dump.sum->value - dump.sum->half_unit))
      notes.add(Severity::warning, "the chunks in use do not add up to the recorded sum");
  }

  static void add_counters(const Dump& dump, SnapshotFacts& facts) {
    const std::string tags = "{allocator=" + dump.allocator + "}";
    for (const auto& [known, value] : dump.stats) {
      facts.counters.push_back(
          {std::string(known->counter) + tags, value, std::string(known->unit), known->cumulative, 0});
    }
    if (dump.chunk_lines) {
      facts.counters.push_back({"free_chunks" + tags, dump.free.count, "count", false, 0});
      facts.counters.push_back({"free_space" + tags, dump.free.bytes, "bytes", false, 0});
    }
    if (dump.asked) {
      facts.counters.push_back({"failed_request" + tags, dump.asked->value, "bytes", false, dump.asked->half_unit});
    }
  }

  void finish() override {
    if (dump_ && dump_->has_content() && !dump_->ended() && !out_.empty()) {
      out_.last().lose("the input ends inside a dump, which was left out", lines_.offset());
      dump_.reset();
    }
    close();
  }

  void remark(Notes& notes) override {
    if (without_dump_ > 0)
      notes.add(Severity::info, "failed allocations that were logged without a dump", std::nullopt, without_dump_);
    if (allocators_.size() > 1)
      notes.add(Severity::warning, "dumps of several allocators in one log: compare those of one only");
  }

  std::unique_ptr<Dump> dump_;  // the open one
  std::set<std::string, std::less<>> allocators_;
  std::uint64_t without_dump_ = 0;
};

/// A failure alone has no dump: XLA logs it like that, and a log has its figure.
bool is_of_dump(std::string_view line) {
  const auto found = bfc_line(line);
  return found && !out_of_memory(found->body) && trim(found->body).find_first_not_of("*x_") != std::string_view::npos;
}

}  // namespace

constexpr Format kTensorflowBfc =
    text::log_format<BfcLog, is_of_dump, "no dump: the input ends, expected chunks or statistics of bfc_allocator.cc">(
        {"tensorflow-bfc", "what TensorFlow's BFC allocator logs when memory runs out", "*.log, *.txt",
         "addresses and order of chunks, bins, regions"});

}  // namespace snapdiff::formats
