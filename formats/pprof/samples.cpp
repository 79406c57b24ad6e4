#include "formats/pprof/samples.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "formats/input/read_failure.hpp"
#include "formats/input/window_input.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"
#include "snapdiff/large_pages.hpp"
#include "snapdiff/parallel.hpp"

namespace snapdiff::formats::pprof {
namespace {

constexpr std::size_t kForgetStep = 4 * kHugePage;  // bytes: few calls, and little text left behind
constexpr std::size_t kMaxRows = 0xfffffff0;

void check_size(const SampleContext& context, std::uint64_t offset) {
  if (context.builder.dictionary().stacks.size() > kMaxRows || context.builder.row_count() > kMaxRows) {
    fail(ErrorCode::limit, "too many stacks or samples: expected fewer than 2^32 - 16", offset);
  }
}

/// A location that stands for a thousand inlined lines is referred to in one byte: without a
/// bound a small file could ask for any amount of memory and time. Real profiles have up to 4
/// lines per location, and ids of 2 bytes.
class ExpansionBudget {
 public:
  explicit ExpansionBudget(std::uint64_t input_bytes) : most_(kFreeFrames + kFramesPerByte * input_bytes) {}
  std::uint64_t most() const { return most_; }
  void spend(std::size_t frames, std::uint64_t offset) {
    spent_ += frames;
    if (spent_ <= most_) return;
    fail(ErrorCode::limit,
         "stacks expand to too many frames: expected at most " + std::to_string(most_) + " for an input of this size",
         offset);
  }

 private:
  static constexpr std::uint64_t kFreeFrames = 16 * 1024 * 1024;
  static constexpr std::uint64_t kFramesPerByte = 4;
  std::uint64_t most_;
  std::uint64_t spent_ = 0;
};

void check_value_count(std::size_t values, std::size_t columns, std::uint64_t offset) {
  if (columns == 0)
    fail_malformed("missing sample type information: there are samples, expected a sample_type", offset);
  if (values != columns) {
    fail_malformed("mismatch: sample has " + std::to_string(values) + " values, " + std::to_string(columns) +
                       " sample types declared",
                   offset);
  }
}

/// Turns values into those of the columns' units.
class RowWriter {
 public:
  explicit RowWriter(const SampleContext& context) : context_(context) {
    for (const ColumnPlan& column : context.columns) scale_ = scale_ || column.factor != 1;
  }
  void add(StackId stack, LabelSetId labels, std::span<const std::int64_t> values, std::uint64_t offset) {
    if (scale_) values = scaled(values, offset);
    for (const std::int64_t value : values) has_negative_ = has_negative_ || value < 0;
    context_.builder.add_row(stack, labels, values);
  }
  bool has_negative() const { return has_negative_; }

 private:
  std::span<const std::int64_t> scaled(std::span<const std::int64_t> values, std::uint64_t offset) {
    scaled_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (__builtin_mul_overflow(values[i], context_.columns[i].factor, &scaled_[i])) {
        fail(ErrorCode::limit, "value of " + context_.columns[i].type.name + " is beyond 2^63-1 bytes", offset);
      }
    }
    return scaled_;
  }

  const SampleContext& context_;
  bool scale_ = false;
  bool has_negative_ = false;
  std::vector<std::int64_t> scaled_;
};

}  // namespace

void SampleParts::add_label_field(const char* begin, const char* end) {
  const auto size = static_cast<std::size_t>(end - begin);
  if (label_fields_.empty()) {
    label_fields_ = {begin, size};
  } else if (label_fields_.data() + label_fields_.size() == begin) {
    label_fields_ = {label_fields_.data(), label_fields_.size() + size};
  } else {
    if (label_fields_.data() != joined_labels_.data()) joined_labels_ = label_fields_;
    joined_labels_.append(begin, size);
    label_fields_ = joined_labels_;
  }
}

namespace {

struct Decoded {
  SampleParts parts;
  FrameScratch frames;
  Hash128 hash;
  std::uint64_t offset = 0;
};

/// Samples that one thread decodes ahead of those that are interned.
struct Block {
  std::size_t begin = 0, end = 0;  ///< of the spans
  std::size_t decoded = 0;         ///< of them, from the first on
  std::vector<Decoded> samples;
};

/// Decodes samples by blocks on all cores and interns them in their order on one: the snapshot and the first error
/// do not depend on the number of threads.
class InBlocks {
 public:
  InBlocks(std::string_view whole, const std::vector<SampleSpan>& spans, const SampleContext& context)
      : whole_(whole), spans_(spans), context_(context), budget_(context.input_bytes), rows_(context) {}

  SampleRemarks add_all() {
    std::vector<Block> now = next_wave({});
    for_each_parallel(now.size(), spans_.size(), [&](std::size_t i) { decode(now[i]); });
    std::vector<Block> next;
    while (!now.empty()) {
      next = next_wave(std::move(next));
      for_each_parallel(1 + next.size(), spans_.size(), [&](std::size_t i) {
        if (i > 0) return decode(next[i - 1]);
        for (Block& block : now) intern(block);
      });
      now.swap(next);
    }
    return {rows_.has_negative(), labels_.found_base()};
  }

 private:
  static constexpr std::size_t kBlock = 512;  // samples: their stacks fit into a core's cache
  static constexpr std::size_t kAhead = 8;    // samples; a cache miss takes as long as a few are interned

  /// The blocks that come next. `used` lends its memory.
  std::vector<Block> next_wave(std::vector<Block> used) {
    const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    const std::size_t blocks = spans_.size() < kParallelStacks ? 1 : 4 * cores;
    used.resize(std::min(blocks, (spans_.size() - next_ + kBlock - 1) / kBlock));
    for (Block& block : used) {
      block.begin = next_;
      block.end = next_ = std::min(spans_.size(), next_ + kBlock);
      block.decoded = 0;
      block.samples.resize(std::max(block.samples.size(), block.end - block.begin));
    }
    return used;
  }

  void decode(const SampleSpan& span, Decoded& out) const {
    out.offset = span.begin;
    out.frames.clear();
    out.parts.decode(whole_.substr(span.begin, span.size), out.offset, [&](const char* p, const char* end) {
      context_.locations.append_frames(p, end, out.offset, out.frames);
    });
    out.hash = context_.builder.hash_stack(out.frames.view());
  }

  /// Stops at a sample that fails and where the budget is spent: intern() decodes the rest and says why.
  void decode(Block& block) {
    try {
      for (std::size_t i = block.begin; i < block.end; ++i) {
        Decoded& sample = block.samples[i - block.begin];
        decode(spans_[i], sample);
        ++block.decoded;
        if ((expanded_ += sample.frames.size()) > budget_.most()) return;
      }
    } catch (const Failure&) {  // told in order by intern()
    }
  }

  void intern(Block& block) {
    for (std::size_t i = 0; i < block.end - block.begin; ++i) {
      Decoded& sample = block.samples[i];
      if (i >= block.decoded) decode(spans_[block.begin + i], sample);
      if (i + kAhead < block.decoded) context_.builder.prefetch_stack(block.samples[i + kAhead].hash);
      budget_.spend(sample.frames.size(), sample.offset);
      check_value_count(sample.parts.values().size(), context_.columns.size(), sample.offset);
      const StackId stack = context_.builder.stack(sample.frames.view(), sample.hash);
      const std::uint32_t set = labels_.row_of(sample.parts.label_fields(), sample.offset);
      rows_.add(stack, labels_.resolve(set, context_.tables, context_.builder), sample.parts.values(), sample.offset);
      check_size(context_, sample.offset);
    }
    const std::size_t done = spans_[block.end - 1].begin;
    if (done < forgotten_ + kForgetStep) return;
    forgotten_ = done;
    forget(context_.input, forgotten_);
  }

  std::string_view whole_;
  const std::vector<SampleSpan>& spans_;
  const SampleContext& context_;
  std::size_t next_ = 0;  ///< span that no block holds yet
  std::atomic<std::uint64_t> expanded_{0};
  ExpansionBudget budget_;
  RowWriter rows_;
  LabelSets labels_;
  std::size_t forgotten_ = 0;
};

}  // namespace

SampleRemarks add_samples(std::string_view whole, const std::vector<SampleSpan>& spans, const SampleContext& context) {
  std::uint64_t bytes = 0;
  for (const SampleSpan& span : spans) bytes += span.size;
  // A frame takes two bytes or more of a large profile; memory that stays unused is never touched.
  context.builder.reserve_stacks(spans.size(), static_cast<std::size_t>(bytes / 2));
  context.builder.reserve_rows(spans.size());
  const StackTable& stacks = context.builder.dictionary().stacks;
  prefer_large_pages(stacks.frame.data(), stacks.frame.capacity() * sizeof(FrameId));
  return InBlocks(whole, spans, context).add_all();
}

void StreamedSamples::add(std::string_view payload, std::uint64_t offset) {
  ids_.clear();
  parts_.decode(payload, offset,
                [&](const char* p, const char* end) { ids_.append(p, static_cast<std::size_t>(end - p)); });
  if (rows_.empty()) {
    values_per_sample_ = parts_.values().size();
    first_offset_ = offset;
  }
  if (parts_.values().size() != values_per_sample_) {
    fail_malformed("mismatch: sample has " + std::to_string(parts_.values().size()) + " values, the first one has " +
                       std::to_string(values_per_sample_),
                   offset);
  }
  const Row row{stack_row(ids_, offset), labels_.row_of(parts_.label_fields(), offset)};
  const auto hash_of = [](const Row& r) { return mix64((static_cast<std::uint64_t>(r.stack) << 32) | r.labels); };
  const std::uint64_t hash = hash_of(row);
  std::uint32_t at = row_index_.find(
      hash, [&](std::uint32_t r) { return rows_[r].stack == row.stack && rows_[r].labels == row.labels; });
  if (at == HashIndex::kAbsent) {
    if (rows_.size() > kMaxRows) fail(ErrorCode::limit, "too many samples: expected fewer than 2^32 - 16", offset);
    at = static_cast<std::uint32_t>(rows_.size());
    rows_.push_back(row);
    values_.resize(values_.size() + values_per_sample_);
    row_index_.insert(hash, at);
  }
  for (std::size_t i = 0; i < values_per_sample_; ++i) {
    std::int64_t& sum = values_[at * values_per_sample_ + i];
    has_negative_ = has_negative_ || parts_.values()[i] < 0;
    if (!checked_add(sum, parts_.values()[i], sum)) {
      fail(ErrorCode::limit, "sum of the samples of one stack is beyond 2^63-1, expected it to fit in 64 bits", offset);
    }
  }
}

std::uint32_t StreamedSamples::stack_row(std::string_view ids, std::uint64_t offset) {
  const Hash128 hash = hash_bytes(ids);
  const std::uint32_t row = stacks_.find(keyed_hash(hash), [&](std::uint32_t r) { return stack_hash_[r] == hash; });
  if (row != HashIndex::kAbsent) return row;
  if (stack_hash_.size() > kMaxRows) fail(ErrorCode::limit, "too many stacks: expected fewer than 2^32 - 16", offset);
  stack_bytes_.append(ids);
  stack_end_.push_back(stack_bytes_.size());
  stack_offset_.push_back(offset);
  stack_hash_.push_back(hash);
  const auto id = static_cast<std::uint32_t>(stack_hash_.size() - 1);
  stacks_.insert(keyed_hash(hash), id);
  return id;
}

std::vector<StackId> StreamedSamples::resolve_stacks(const SampleContext& context) {
  std::vector<StackId> out;
  FrameScratch frames;
  ExpansionBudget budget(context.input_bytes);
  const char* p = stack_bytes_.data();
  for (std::size_t i = 0; i < stack_end_.size(); ++i) {
    const char* const end = stack_bytes_.data() + stack_end_[i];
    frames.clear();
    try {
      context.locations.append_frames(p, end, stack_offset_[i], frames);
    } catch (const protozero::exception& error) {
      fail_malformed(std::string("location ids cannot be decoded: ") + error.what() + ", expected varints",
                     stack_offset_[i]);
    }
    budget.spend(frames.size(), stack_offset_[i]);
    out.push_back(context.builder.stack(frames.view()));
    check_size(context, stack_offset_[i]);
    p = end;
  }
  stack_bytes_ = {};
  return out;
}

SampleRemarks StreamedSamples::finish(const SampleContext& context) {
  if (empty()) return {};
  check_value_count(values_per_sample_, context.columns.size(), first_offset_);
  const std::vector<StackId> stacks = resolve_stacks(context);
  RowWriter writer(context);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const LabelSetId set = labels_.resolve(rows_[row].labels, context.tables, context.builder);
    writer.add(stacks[rows_[row].stack], set, std::span(values_).subspan(row * values_per_sample_, values_per_sample_),
               stack_offset_[rows_[row].stack]);
  }
  return {has_negative_ || writer.has_negative(), labels_.found_base()};
}

}  // namespace snapdiff::formats::pprof
