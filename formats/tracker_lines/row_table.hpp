#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::tracker_lines {

/// The rows of the open snapshot, rows of equal stack and labels summed as they come: memory grows with distinct rows.
/// A sum with an unknown part is unknown.
class RowTable {
 public:
  /// Throws FatalError (limit) when a sum leaves 64 bits.
  void add(StackId stack, LabelSetId labels, std::optional<std::int64_t> bytes, std::optional<std::int64_t> count);

  bool empty() const { return stack_.empty(); }

  /// The rows in the model's order, with the columns that any row has; rows of zeros are left out.
  /// Throws FatalError (limit) when the total of a column leaves 64 bits.
  SampleTable samples() const;

  /// Sum of the column, nullopt when a row does not know or the sum leaves 64 bits.
  std::optional<std::int64_t> total_bytes() const { return total(bytes_, kBytesUnknown); }
  std::optional<std::int64_t> total_count() const { return total(count_, kCountUnknown); }

 private:
  static constexpr std::uint8_t kBytesUnknown = 1;
  static constexpr std::uint8_t kCountUnknown = 2;
  std::optional<std::int64_t> total(const std::vector<std::int64_t>& values, std::uint8_t unknown) const;

  HashIndex rows_;
  std::vector<StackId> stack_;
  std::vector<LabelSetId> labels_;
  std::vector<std::int64_t> bytes_;
  std::vector<std::int64_t> count_;
  std::vector<std::uint8_t> unknown_;
  bool has_bytes_ = false;
  bool has_count_ = false;
};

}  // namespace snapdiff::formats::tracker_lines
