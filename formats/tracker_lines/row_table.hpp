#pragma once

#include "analyzer/base/hash_index.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::tracker_lines {

/// The rows of the open snapshot, rows of equal stack and labels summed as they come: memory grows with distinct rows.
/// A sum with an unknown part is unknown.
///
/// Most writers name the rows of each snapshot in the same order. As long as the rows are those of the snapshot before,
/// in its order, none can be there already, and no index is made.
class RowTable {
 public:
  /// `before`: distinct keys (key_of) of the snapshot before, or whatever; must outlive the adding.
  explicit RowTable(const std::vector<std::uint64_t>& before) : before_(before) {}

  /// Throws Failure (limit) when a sum leaves 64 bits.
  void add(StackId stack, LabelSetId labels, std::optional<std::int64_t> bytes, std::optional<std::int64_t> count);

  bool empty() const { return stack_.empty(); }

  /// Keys of the rows in the order of their first appearance, for the snapshot after this one.
  std::vector<std::uint64_t> keys() const;

  /// The rows in the model's order, with the columns that any row has; rows of zeros are left out.
  /// Throws Failure (limit) when the total of a column leaves 64 bits.
  SampleTable samples() const;

  /// Sum of the column, nullopt when a row does not know or the sum leaves 64 bits.
  std::optional<std::int64_t> total_bytes() const { return total(bytes_, kBytesUnknown); }
  std::optional<std::int64_t> total_count() const { return total(count_, kCountUnknown); }

 private:
  static constexpr std::uint8_t kBytesUnknown = 1;
  static constexpr std::uint8_t kCountUnknown = 2;
  std::optional<std::int64_t> total(const std::vector<std::int64_t>& values, std::uint8_t unknown) const;

  static std::uint64_t key_of(StackId stack, LabelSetId labels) {
    return (static_cast<std::uint64_t>(stack) << 32) | static_cast<std::uint64_t>(labels);
  }
  // Not mixed: rows that come in the order of their stacks lie side by side in the index.
  static std::uint64_t hash_of(StackId stack, LabelSetId labels) {
    return static_cast<std::uint64_t>(stack) + static_cast<std::uint64_t>(labels) * 0x9e3779b1U;
  }
  bool is_as_before(StackId stack, LabelSetId labels) const {
    return stack_.size() < before_.size() && before_[stack_.size()] == key_of(stack, labels);
  }
  void append(StackId stack, LabelSetId labels, std::int64_t bytes, std::int64_t count, std::uint8_t unknown);
  void make_index();

  const std::vector<std::uint64_t>& before_;
  bool all_as_before_ = true;
  HashIndex rows_;  // empty while all_as_before_
  std::vector<StackId> stack_;
  std::vector<LabelSetId> labels_;
  std::vector<std::int64_t> bytes_;
  std::vector<std::int64_t> count_;
  std::vector<std::uint8_t> unknown_;
  bool has_bytes_ = false;
  bool has_count_ = false;
};

}  // namespace snapdiff::formats::tracker_lines
