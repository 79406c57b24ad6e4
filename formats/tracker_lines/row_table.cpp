#include "formats/tracker_lines/row_table.hpp"

#include "formats/tracker_lines/json_line.hpp"

namespace snapdiff::formats::tracker_lines {

void RowTable::add(StackId stack, LabelSetId labels, std::optional<std::int64_t> bytes,
                   std::optional<std::int64_t> count) {
  has_bytes_ = has_bytes_ || bytes;
  has_count_ = has_count_ || count;
  const auto unknown = static_cast<std::uint8_t>((bytes ? 0 : kBytesUnknown) | (count ? 0 : kCountUnknown));
  if (all_as_before_) {
    if (is_as_before(stack, labels)) {
      append(stack, labels, bytes.value_or(0), count.value_or(0), unknown);
      return;
    }
    make_index();
  }
  const std::uint64_t hash = hash_of(stack, labels);
  const std::uint32_t row =
      rows_.find(hash, [&](std::uint32_t r) { return stack_[r] == stack && labels_[r] == labels; });
  if (row == HashIndex::kAbsent) {
    rows_.insert(hash, static_cast<std::uint32_t>(stack_.size()));
    append(stack, labels, bytes.value_or(0), count.value_or(0), unknown);
    return;
  }
  if (!checked_add(bytes_[row], bytes.value_or(0), bytes_[row]) ||
      !checked_add(count_[row], count.value_or(0), count_[row]))
    fail(ErrorCode::limit, "sum over the rows of one key is beyond 2^63-1, expected it to fit in 64 bits");
  unknown_[row] |= unknown;
}

void RowTable::append(StackId stack, LabelSetId labels, std::int64_t bytes, std::int64_t count, std::uint8_t unknown) {
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

void RowTable::make_index() {
  all_as_before_ = false;
  rows_.reserve(std::max(stack_.size(), before_.size()));
  for (std::uint32_t row = 0; row < stack_.size(); ++row) rows_.insert(hash_of(stack_[row], labels_[row]), row);
}

std::vector<std::uint64_t> RowTable::keys() const {
  std::vector<std::uint64_t> out;
  out.reserve(stack_.size());
  for (std::size_t row = 0; row < stack_.size(); ++row) out.push_back(key_of(stack_[row], labels_[row]));
  return out;
}

SampleTable RowTable::samples() const {
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

std::optional<std::int64_t> RowTable::total(const std::vector<std::int64_t>& values, std::uint8_t unknown) const {
  std::int64_t sum = 0;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if ((unknown_[row] & unknown) != 0 || !checked_add(sum, values[row], sum)) return std::nullopt;
  }
  return sum;
}

}  // namespace snapdiff::formats::tracker_lines
