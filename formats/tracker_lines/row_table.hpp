#pragma once

#include "analyzer/base/hash_index.hpp"
#include "formats/tracker_lines/json_line.hpp"

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
  void add(StackId stack, LabelSetId labels, std::optional<std::int64_t> bytes, std::optional<std::int64_t> count) {
    has_bytes_ = has_bytes_ || bytes;
    has_count_ = has_count_ || count;
    const auto unknown = static_cast<std::uint8_t>((bytes ? 0 : kBytesUnknown) | (count ? 0 : kCountUnknown));
    if (all_as_before_) {
      if (is_as_before(stack, labels)) return append(stack, labels, bytes.value_or(0), count.value_or(0), unknown);
      make_index();
    }
    const auto [row, is_new] = rows_.intern(hash_of(stack, labels), stack_.size(), [&](std::uint32_t r) {
      return stack_[r] == stack && labels_[r] == labels;
    });
    if (is_new) return append(stack, labels, bytes.value_or(0), count.value_or(0), unknown);
    add_to(bytes_[row], bytes.value_or(0), "sum over the rows of one key is");
    add_to(count_[row], count.value_or(0), "sum over the rows of one key is");
    unknown_[row] |= unknown;
  }

  bool empty() const { return stack_.empty(); }

  /// Keys of the rows in the order of their first appearance, for the snapshot after this one.
  std::vector<std::uint64_t> keys() const {
    std::vector<std::uint64_t> out;
    out.reserve(stack_.size());
    for (std::size_t row = 0; row < stack_.size(); ++row) out.push_back(key_of(stack_[row], labels_[row]));
    return out;
  }

  /// The rows in the model's order, with the columns that any row has; rows of zeros are left out.
  /// Throws Failure (limit) when the total of a column leaves 64 bits.
  SampleTable samples() const {
    // Key and row, so that sorting touches no other memory.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    order.reserve(stack_.size());
    for (std::uint32_t row = 0; row < stack_.size(); ++row) {
      const bool is_zero = bytes_[row] == 0 && count_[row] == 0 &&
                           ((unknown_[row] & kBytesUnknown) == 0 || !has_bytes_) &&
                           ((unknown_[row] & kCountUnknown) == 0 || !has_count_);
      if (is_zero) continue;
      order.emplace_back(key_of(stack_[row], labels_[row]), row);
    }
    if (!std::is_sorted(order.begin(), order.end())) std::sort(order.begin(), order.end());

    SampleTable out;
    out.stack.reserve(order.size());
    out.labels.reserve(order.size());
    for (const auto& [key, row] : order) {
      out.stack.push_back(stack_[row]);
      out.labels.push_back(labels_[row]);
    }
    const auto add_column = [&](SampleType type, const std::vector<std::int64_t>& values, std::uint8_t unknown) {
      Column column;
      column.type = std::move(type);
      column.value.reserve(order.size());
      std::int64_t sum = 0;
      for (std::size_t place = 0; place < order.size(); ++place) {
        const std::uint32_t row = order[place].second;
        const bool known = (unknown_[row] & unknown) == 0;
        if (!known && column.known.empty()) column.known.assign(order.size(), 1);
        if (!known) column.known[place] = 0;
        column.value.push_back(known ? values[row] : 0);
        if (!checked_add(sum, column.value.back(), sum))
          fail(ErrorCode::limit, "total of " + column.type.name + " is beyond 2^63-1, expected it to fit in 64 bits");
      }
      out.columns.push_back(std::move(column));
    };
    if (has_bytes_) add_column({"inuse_space", "bytes"}, bytes_, kBytesUnknown);
    if (has_count_) add_column({"inuse_objects", "count"}, count_, kCountUnknown);
    return out;
  }

  /// Sum of the column, nullopt when a row does not know or the sum leaves 64 bits.
  std::optional<std::int64_t> total_bytes() const { return total(bytes_, kBytesUnknown); }
  std::optional<std::int64_t> total_count() const { return total(count_, kCountUnknown); }

 private:
  static constexpr std::uint8_t kBytesUnknown = 1;
  static constexpr std::uint8_t kCountUnknown = 2;
  std::optional<std::int64_t> total(const std::vector<std::int64_t>& values, std::uint8_t unknown) const {
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < values.size(); ++row) {
      if ((unknown_[row] & unknown) != 0 || !checked_add(sum, values[row], sum)) return std::nullopt;
    }
    return sum;
  }

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

  void append(StackId stack, LabelSetId labels, std::int64_t bytes, std::int64_t count, std::uint8_t unknown) {
    if (stack_.empty()) {
      stack_.reserve(before_.size());
      labels_.reserve(before_.size());
      bytes_.reserve(before_.size());
      count_.reserve(before_.size());
      unknown_.reserve(before_.size());
    }
    stack_.push_back(stack);
    labels_.push_back(labels);
    bytes_.push_back(bytes);
    count_.push_back(count);
    unknown_.push_back(unknown);
  }

  void make_index() {
    all_as_before_ = false;
    rows_.reserve(std::max(stack_.size(), before_.size()));
    for (std::uint32_t row = 0; row < stack_.size(); ++row) rows_.insert(hash_of(stack_[row], labels_[row]), row);
  }

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
