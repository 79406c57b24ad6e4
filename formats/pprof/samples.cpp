#include "formats/pprof/samples.hpp"

#include <mutex>

#include "formats/input/window_input.hpp"

namespace snapdiff::formats::pprof {
namespace {

constexpr std::uint32_t kUnresolved = std::numeric_limits<std::uint32_t>::max();

struct RawLabel {
  std::int64_t key = 0;
  std::int64_t text = 0;
  std::int64_t number = 0;
  std::int64_t unit = 0;
};

RawLabel read_label(protozero::pbf_reader in) {
  RawLabel out;
  read_numbers_of(in, out.key, out.text, out.number, out.unit);
  return out;
}

/// What a number without a unit counts, by pprof's rule.
std::string_view default_unit(std::string_view key) {
  return key == "alignment" || key == "request" ? std::string_view("bytes") : key;
}

constexpr std::size_t kMaxRows = 0xfffffff0;

void check_size(const SampleContext& context, std::uint64_t offset) {
  if (context.builder.dictionary().stacks.size() > kMaxRows || context.builder.row_count() > kMaxRows)
    fail(ErrorCode::limit, "too many stacks or samples: expected fewer than 2^32 - 16", offset);
}

/// A location that stands for a thousand inlined lines is referred to in one byte: without a
/// bound a small file could ask for any amount of memory and time. Real profiles have up to 4
/// lines per location, and ids of 2 bytes.
class ExpansionBudget {
 public:
  explicit ExpansionBudget(std::uint64_t input_bytes) : most_(kFreeFrames + kFramesPerByte * input_bytes) {}
  void spend(std::size_t frames, std::uint64_t offset) {
    if (spent_.fetch_add(frames, std::memory_order_relaxed) + frames <= most_) return;
    fail(ErrorCode::limit,
         "stacks expand to too many frames: expected at most " + std::to_string(most_) + " for an input of this size",
         offset);
  }

 private:
  static constexpr std::uint64_t kFreeFrames = 16 * 1024 * 1024;
  static constexpr std::uint64_t kFramesPerByte = 4;
  std::uint64_t most_;
  std::atomic<std::uint64_t> spent_ = 0;
};

void check_value_count(std::size_t values, std::size_t columns, std::uint64_t offset) {
  if (columns == 0)
    fail_malformed("missing sample type information: there are samples, expected a sample_type", offset);
  if (values != columns)
    fail_malformed("mismatch: sample has " + std::to_string(values) + " values, " + std::to_string(columns) +
                       " sample types declared",
                   offset);
}

/// The value in the unit of its column.
std::int64_t scaled(const ColumnPlan& column, std::int64_t value, std::uint64_t offset) {
  std::int64_t out = 0;
  if (!__builtin_mul_overflow(value, column.factor, &out)) return out;
  fail(ErrorCode::limit, "value of " + column.type.name + " is beyond 2^63-1 bytes", offset);
}

/// Gives memory of the input back up to the first block that is not finished.
class Forgetting {
 public:
  Forgetting(Input& input, const std::vector<SampleSpan>& spans)
      : input_(input), spans_(spans), finished_(blocks_of(spans.size()), false) {}
  void finished(std::size_t block) {
    const std::lock_guard<std::mutex> hold(mutex_);
    finished_[block] = true;
    while (next_ < finished_.size() && finished_[next_]) ++next_;
    if (next_ < finished_.size()) forget(input_, spans_[next_ * kBlockRows].begin);
  }

 private:
  Input& input_;
  const std::vector<SampleSpan>& spans_;
  std::mutex mutex_;
  std::vector<bool> finished_;
  std::size_t next_ = 0;
};

/// Samples that all lie in memory. Each block of them is decoded by one thread.
class SampleBlocks {
 public:
  SampleBlocks(std::string_view whole, const std::vector<SampleSpan>& spans, const SampleContext& context)
      : whole_(whole), spans_(spans), context_(context), budget_(context.input_bytes) {
    labels_.resize(blocks_of(spans.size()));
    resize_on_all_cores(set_, spans.size());
    values_.resize(context.columns.size());
    for (std::vector<std::int64_t>& column : values_) resize_on_all_cores(column, spans.size());
  }

  SampleRemarks add() {
    Forgetting forgetting(context_.input, spans_);
    context_.builder.reserve_stacks(spans_.size(), expected_frames());
    std::vector<StackId> stacks = context_.builder.stacks(
        spans_.size(), [&](std::size_t begin, std::size_t end, const SnapshotBuilder::TakeStack& take) {
          read(begin, end, take);
          forgetting.finished(begin / kBlockRows);
        });
    const bool has_base = resolve_labels();
    context_.builder.set_rows(std::move(stacks), std::move(set_), std::move(values_));
    return {has_negative_, has_base};
  }

  /// Throws the failure of the first sample that has one, if any has.
  void check_in_order() {
    for (std::size_t sample = 0; sample < spans_.size(); ++sample)
      read(sample, sample + 1, [](std::size_t, std::span<const FrameId>) {});
  }

 private:
  std::string_view payload(std::size_t sample) const {
    return whole_.substr(spans_[sample].begin, spans_[sample].size);
  }

  /// Frames of all samples, as far as the builder keeps them, from every 64th of them. An input cannot ask for more
  /// memory than its own size explains.
  std::size_t expected_frames() const {
    constexpr std::size_t kEvery = 64;
    if (spans_.empty()) return 0;
    SampleParts parts;
    FrameScratch frames;
    std::size_t seen = 0;
    for (std::size_t sample = 0; sample < spans_.size(); sample += kEvery) {
      frames.clear();
      read_stack(sample, parts, frames);
      if (context_.builder.keeps(frames.view())) seen += frames.size();
    }
    const std::size_t samples = (spans_.size() + kEvery - 1) / kEvery;
    const std::size_t of_all = seen * spans_.size() / samples;
    return std::min<std::size_t>(of_all + of_all / 64, context_.input_bytes);
  }

  void read_stack(std::size_t sample, SampleParts& parts, FrameScratch& frames) const {
    const std::uint64_t offset = spans_[sample].begin;
    parts.decode(payload(sample), offset,
                 [&](const char* p, const char* last) { context_.locations.append_frames(p, last, offset, frames); });
  }

  /// Stacks, values and label sets of samples of one block.
  template <class Take>
  void read(std::size_t begin, std::size_t end, const Take& take) {
    constexpr std::size_t kTogether = 65'536;  // threads that spent each stack on its own would wait for each other
    LabelSets& labels = labels_[begin / kBlockRows];
    SampleParts parts;
    FrameScratch frames;
    std::size_t unspent = 0;
    for (std::size_t sample = begin; sample < end; ++sample) {
      const std::uint64_t offset = spans_[sample].begin;
      frames.clear();
      read_stack(sample, parts, frames);
      check_value_count(parts.values().size(), context_.columns.size(), offset);
      for (std::size_t c = 0; c < values_.size(); ++c) {
        values_[c][sample] = scaled(context_.columns[c], parts.values()[c], offset);
        if (parts.values()[c] < 0) has_negative_.store(true, std::memory_order_relaxed);
      }
      set_[sample] = LabelSetId{labels.row_of(parts.label_fields(), offset)};
      unspent += frames.size();
      if (unspent >= kTogether || sample + 1 == end) budget_.spend(std::exchange(unspent, 0), offset);
      take(sample, frames.view());
    }
  }

  /// Sets of the blocks become those of the profile, numbered as they come. Returns whether one is that of a base.
  bool resolve_labels() {
    LabelSets all;
    std::vector<std::vector<LabelSetId>> of_block;
    for (const LabelSets& block : labels_) {
      std::vector<LabelSetId>& known = of_block.emplace_back(1, LabelSetId{});
      for (std::uint32_t row = 1; row < block.size(); ++row)
        known.push_back(
            all.resolve(all.row_of(block.fields(row), block.offset(row)), context_.tables, context_.builder));
    }
    labels_.clear();
    if (all.size() == 1) return false;
    for_each_block(spans_.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
      for (std::size_t sample = begin; sample < end; ++sample) set_[sample] = of_block[block][index_of(set_[sample])];
    });
    return all.found_base();
  }

  std::string_view whole_;
  const std::vector<SampleSpan>& spans_;
  const SampleContext& context_;
  ExpansionBudget budget_;
  std::vector<LabelSets> labels_;                  // of each block
  std::vector<LabelSetId> set_;                    // by sample: of its block, then of the profile
  std::vector<std::vector<std::int64_t>> values_;  // by column and sample
  std::atomic<bool> has_negative_ = false;
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
  SampleBlocks blocks(whole, spans, context);
  try {
    return blocks.add();
  } catch (const Failure&) {
    // Threads meet faults in any order.
    SampleBlocks(whole, spans, context).check_in_order();
    throw;
  }
}

void StreamedSamples::add(std::string_view payload, std::uint64_t offset) {
  ids_.clear();
  parts_.decode(payload, offset,
                [&](const char* p, const char* end) { ids_.append(p, static_cast<std::size_t>(end - p)); });
  if (rows_.empty()) {
    values_per_sample_ = parts_.values().size();
    first_offset_ = offset;
  }
  if (parts_.values().size() != values_per_sample_)
    fail_malformed("mismatch: sample has " + std::to_string(parts_.values().size()) + " values, the first one has " +
                       std::to_string(values_per_sample_),
                   offset);
  const Row row{stack_row(ids_, offset), labels_.row_of(parts_.label_fields(), offset)};
  const std::uint64_t hash = mix64(std::uint64_t{row.stack} << 32 | row.labels);
  const auto [at, is_new] = row_index_.intern(hash, rows_.size(), [&](std::uint32_t r) {
    return rows_[r].stack == row.stack && rows_[r].labels == row.labels;
  });
  if (is_new) {
    if (rows_.size() > kMaxRows) fail(ErrorCode::limit, "too many samples: expected fewer than 2^32 - 16", offset);
    rows_.push_back(row);
    values_.resize(values_.size() + values_per_sample_);
  }
  for (std::size_t i = 0; i < values_per_sample_; ++i) {
    std::int64_t& sum = values_[at * values_per_sample_ + i];
    has_negative_ = has_negative_ || parts_.values()[i] < 0;
    add_to(sum, parts_.values()[i], "sum of the samples of one stack is", offset);
  }
}

std::uint32_t StreamedSamples::stack_row(std::string_view ids, std::uint64_t offset) {
  const Hash128 hash = hash_bytes(ids);
  const auto [row, is_new] =
      stacks_.intern(keyed_hash(hash), stack_hash_.size(), [&](std::uint32_t r) { return stack_hash_[r] == hash; });
  if (!is_new) return row;
  if (stack_hash_.size() > kMaxRows) fail(ErrorCode::limit, "too many stacks: expected fewer than 2^32 - 16", offset);
  stack_bytes_.append(ids);
  stack_end_.push_back(stack_bytes_.size());
  stack_offset_.push_back(offset);
  stack_hash_.push_back(hash);
  return row;
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
  std::vector<std::int64_t> values(values_per_sample_);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const std::uint64_t offset = stack_offset_[rows_[row].stack];
    for (std::size_t c = 0; c < values.size(); ++c)
      values[c] = scaled(context.columns[c], values_[row * values_per_sample_ + c], offset);
    const LabelSetId set = labels_.resolve(rows_[row].labels, context.tables, context.builder);
    context.builder.add_row(stacks[rows_[row].stack], set, values);
  }
  return {has_negative_, labels_.found_base()};
}

std::uint32_t LabelSets::row_of(std::string_view fields, std::uint64_t offset) {
  if (fields.empty()) return 0;
  const Hash128 hash = hash_bytes(fields);
  const auto [row, is_new] = index_.intern(keyed_hash(hash), size(), [&](std::uint32_t r) { return hash_[r] == hash; });
  if (!is_new) return row;
  if (size() >= kUnresolved - 1) fail(ErrorCode::limit, "too many label sets: expected fewer than 2^32 - 2", offset);
  bytes_.append(fields);
  end_.push_back(bytes_.size());
  offset_.push_back(offset);
  hash_.push_back(hash);
  resolved_.push_back(kUnresolved);
  return row;
}

LabelSetId LabelSets::resolve(std::uint32_t row, const ProfileTables& tables, SnapshotBuilder& builder) {
  if (resolved_[row] == kUnresolved) resolved_[row] = static_cast<std::uint32_t>(decode(row, tables, builder));
  return LabelSetId{resolved_[row]};
}

LabelSetId LabelSets::decode(std::uint32_t row, const ProfileTables& tables, SnapshotBuilder& builder) {
  const std::uint64_t offset = offset_[row];
  std::vector<Label> set;
  read_message(fields(row), offset, "label", [&](protozero::pbf_reader& in) {
    while (in.next()) {
      const RawLabel raw = read_label(in.get_message());
      const std::string_view key = tables.text(raw.key, offset);
      const std::string_view unit = tables.text(raw.unit, offset);
      Label label;
      label.key = builder.string(key);
      if (raw.text != 0) {
        label.text = builder.string(tables.text(raw.text, offset));
      } else if (raw.number != 0 || raw.unit != 0) {
        label.is_number = true;
        label.number = raw.number;
        label.unit = builder.string(unit.empty() ? default_unit(key) : unit);
      } else {
        builder.notes().add(Severity::info, "label without a value (or the number 0 without a unit) left out", offset);
        continue;
      }
      found_base_ = found_base_ || key == "pprof::base";
      set.push_back(label);
    }
  });
  return builder.labels(std::move(set));
}

}  // namespace snapdiff::formats::pprof
