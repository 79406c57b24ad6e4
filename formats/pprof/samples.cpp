#include "formats/pprof/samples.hpp"

#include <algorithm>
#include <array>

#include "analyzer/base/large_pages.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/input/window_input.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"

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

SampleRemarks add_samples(std::string_view whole, const std::vector<SampleSpan>& spans, const SampleContext& context) {
  // One sample is decoded ahead of the one that is interned: see SnapshotBuilder::prepare_stack().
  struct Decoded {
    SampleParts parts;
    FrameScratch frames;
    Hash128 hash;
    std::uint64_t offset = 0;
  };
  std::array<Decoded, 2> decoded;
  ExpansionBudget budget(context.input_bytes);
  RowWriter rows(context);
  LabelSets labels;
  const auto decode = [&](const SampleSpan& span, Decoded& out) {
    out.offset = span.begin;
    out.frames.clear();
    out.parts.decode(whole.substr(span.begin, span.size), out.offset, [&](const char* p, const char* end) {
      context.locations.append_frames(p, end, out.offset, out.frames);
    });
    budget.spend(out.frames.size(), out.offset);
    check_value_count(out.parts.values().size(), context.columns.size(), out.offset);
    out.hash = context.builder.prepare_stack(out.frames.view());
  };
  const auto intern = [&](const Decoded& in) {
    const StackId stack = context.builder.stack(in.frames.view(), in.hash);
    const std::uint32_t set = labels.row_of(in.parts.label_fields(), in.offset);
    rows.add(stack, labels.resolve(set, context.tables, context.builder), in.parts.values(), in.offset);
    check_size(context, in.offset);
  };

  std::uint64_t bytes = 0;
  for (const SampleSpan& span : spans) bytes += span.size;
  // A frame takes two bytes or more of a large profile; memory that stays unused is never touched.
  context.builder.reserve_stacks(spans.size(), static_cast<std::size_t>(bytes / 2));
  context.builder.reserve_rows(spans.size());
  const StackTable& stacks = context.builder.dictionary().stacks;
  prefer_large_pages(stacks.frame.data(), stacks.frame.capacity() * sizeof(FrameId));
  std::size_t forgotten = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    decode(spans[i], decoded[i % 2]);
    if (i == 0) continue;
    intern(decoded[(i - 1) % 2]);
    if (spans[i].begin < forgotten + kForgetStep) continue;
    forgotten = spans[i].begin;
    forget(context.input, forgotten);
  }
  if (!spans.empty()) intern(decoded[(spans.size() - 1) % 2]);
  return {rows.has_negative(), labels.found_base()};
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
