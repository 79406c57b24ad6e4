#pragma once

#include "formats/pprof/columns.hpp"
#include "formats/pprof/resolve.hpp"

namespace snapdiff::formats::pprof {

/// Label sets by their bytes in the file: a million samples share few sets, and only each new one
/// is decoded.
class LabelSets {
 public:
  /// Row of the set written as `fields` (its Label fields with tags, one after the other), which
  /// are in the sample at `offset`. Equal bytes, equal row; row 0 is no labels.
  std::uint32_t row_of(std::string_view fields, std::uint64_t offset);
  std::size_t size() const { return hash_.size(); }
  /// What was given to row_of() when it returned the row first; not of row 0.
  std::string_view fields(std::uint32_t row) const {
    return std::string_view(bytes_).substr(end_[row - 1], end_[row] - end_[row - 1]);
  }
  std::uint64_t offset(std::uint32_t row) const { return offset_[row]; }

  /// The set in the model; decodes it when first asked.
  /// Throws Failure.
  LabelSetId resolve(std::uint32_t row, const ProfileTables& tables, SnapshotBuilder& builder);

  /// Whether a set that was resolved marks the sample as that of a base ("pprof::base").
  bool found_base() const { return found_base_; }

 private:
  LabelSetId decode(std::uint32_t row, const ProfileTables& tables, SnapshotBuilder& builder);

  std::string bytes_;
  std::vector<std::uint64_t> end_{0};     // by row: bytes_[end_[row - 1] .. end_[row])
  std::vector<std::uint64_t> offset_{0};  // by row: of the first sample that has it
  std::vector<Hash128> hash_{Hash128{}};
  std::vector<std::uint32_t> resolved_{0};
  HashIndex index_;
  bool found_base_ = false;
};

/// Where a sample's payload lies in an input that is all in memory (at most 256 MiB).
struct SampleSpan {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

/// What samples are resolved against and put into.
struct SampleContext {
  const ProfileTables& tables;
  const Locations& locations;
  const std::vector<ColumnPlan>& columns;
  SnapshotBuilder& builder;
  std::uint64_t input_bytes = 0;  ///< decompressed size; bounds what stacks may expand to
  Input& input;
};

/// What was seen in the values and labels of all samples.
struct SampleRemarks {
  bool has_negative = false;
  bool has_base_label = false;
};

/// The parts of one sample.
class SampleParts {
 public:
  /// Decodes one sample. `on_ids(p, end)` is called with each run of bytes that holds location
  /// ids as varints, in order.
  /// Throws Failure with `offset` (of the payload's first byte) added.
  template <class OnIds>
  void decode(std::string_view payload, std::uint64_t offset, OnIds on_ids);

  const std::vector<std::int64_t>& values() const { return values_; }
  std::string_view label_fields() const { return label_fields_; }

 private:
  void add_label_field(const char* begin, const char* end);

  std::vector<std::int64_t> values_;
  std::string_view label_fields_;
  std::string joined_labels_;  // label_fields_, where they do not stand side by side
};

/// Samples that all lie in memory: each is decoded straight into frames and interned. For stacks
/// that are nearly all different, as in a profile with one sample per stack. `whole` is the input's last view; what
/// lies before a sample is forgotten with it, so that text and stacks of a large profile are not in memory both.
SampleRemarks add_samples(std::string_view whole, const std::vector<SampleSpan>& spans, const SampleContext& context);

/// Samples of an input of any length: kept by distinct stack (the bytes of its location ids) and
/// label set, values summed; memory is bounded by the distinct ones.
class StreamedSamples {
 public:
  /// Throws Failure.
  void add(std::string_view payload, std::uint64_t offset);
  bool empty() const { return rows_.empty(); }
  SampleRemarks finish(const SampleContext& context);

 private:
  struct Row {
    std::uint32_t stack = 0;
    std::uint32_t labels = 0;
  };
  std::uint32_t stack_row(std::string_view ids, std::uint64_t offset);
  std::vector<StackId> resolve_stacks(const SampleContext& context);

  SampleParts parts_;
  std::string ids_;
  std::string stack_bytes_;
  std::vector<std::uint64_t> stack_end_;
  std::vector<std::uint64_t> stack_offset_;
  std::vector<Hash128> stack_hash_;
  HashIndex stacks_;
  LabelSets labels_;
  std::vector<Row> rows_;
  std::vector<std::int64_t> values_;  // values_per_sample_ for each row
  HashIndex row_index_;
  std::size_t values_per_sample_ = 0;
  std::uint64_t first_offset_ = 0;
  bool has_negative_ = false;
};

template <class OnIds>
void SampleParts::decode(std::string_view payload, std::uint64_t offset, OnIds on_ids) {
  values_.clear();
  label_fields_ = {};
  const char* p = payload.data();
  const char* const end = p + payload.size();
  const auto chunk_end = [&] {
    const std::uint64_t length = protozero::decode_varint(&p, end);
    if (length > static_cast<std::uint64_t>(end - p)) throw protozero::end_of_buffer_exception{};
    return p + length;
  };
  try {
    while (p != end) {
      const char* const field = p;
      const std::uint64_t tag = protozero::decode_varint(&p, end);
      switch (tag) {
        case bytes_field(1): {
          const char* const stop = chunk_end();
          on_ids(p, stop);
          p = stop;
          break;
        }
        case varint_field(1): {
          const char* const id = p;
          protozero::skip_varint(&p, end);
          on_ids(id, p);
          break;
        }
        case bytes_field(2): {
          const char* const stop = chunk_end();
          while (p != stop) values_.push_back(static_cast<std::int64_t>(next_varint(p, stop)));
          break;
        }
        case varint_field(2): values_.push_back(static_cast<std::int64_t>(protozero::decode_varint(&p, end))); break;
        case bytes_field(3):
          p = chunk_end();
          add_label_field(field, p);
          break;
        default: {
          protozero::pbf_reader rest(field, static_cast<std::size_t>(end - field));
          rest.next();
          skip_unknown(rest, 3);
          p = rest.data().data();
        }
      }
    }
  } catch (const protozero::exception& error) {
    fail_malformed(std::string("sample cannot be decoded: ") + error.what() + ", expected a protobuf field",
                   offset + static_cast<std::uint64_t>(p - payload.data()));
  }
}

}  // namespace snapdiff::formats::pprof
