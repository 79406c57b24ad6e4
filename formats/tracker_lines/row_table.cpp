#include "formats/tracker_lines/row_table.hpp"

#include <array>
#include <span>

#include "formats/tracker_lines/line_error.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats::tracker_lines {

void RowTable::add(StackId stack, LabelSetId labels, std::optional<std::int64_t> bytes,
                   std::optional<std::int64_t> count) {
  has_bytes_ = has_bytes_ || bytes;
  has_count_ = has_count_ || count;
  const auto unknown = static_cast<std::uint8_t>((bytes ? 0 : kBytesUnknown) | (count ? 0 : kCountUnknown));
  const std::uint64_t hash = mix64((static_cast<std::uint64_t>(stack) << 32) | static_cast<std::uint64_t>(labels));
  const std::uint32_t row =
      rows_.find(hash, [&](std::uint32_t r) { return stack_[r] == stack && labels_[r] == labels; });
  if (row == HashIndex::kAbsent) {
    rows_.insert(hash, static_cast<std::uint32_t>(stack_.size()));
    stack_.push_back(stack);
    labels_.push_back(labels);
    bytes_.push_back(bytes.value_or(0));
    count_.push_back(count.value_or(0));
    unknown_.push_back(unknown);
    return;
  }
  if (!checked_add(bytes_[row], bytes.value_or(0), bytes_[row]) ||
      !checked_add(count_[row], count.value_or(0), count_[row])) {
    throw FatalError{
        {ErrorCode::limit, "sum over the rows of one key is beyond 2^63-1, expected it to fit in 64 bits"}};
  }
  unknown_[row] |= unknown;
}

void RowTable::give_to(SnapshotBuilder& builder) const {
  std::size_t columns = 0;
  if (has_bytes_) columns = builder.add_column({"inuse_space", "bytes"}) + 1;
  if (has_count_) columns = builder.add_column({"inuse_objects", "count"}) + 1;
  std::array<std::int64_t, 2> values{};
  std::array<std::uint8_t, 2> known{};
  for (std::size_t row = 0; row < stack_.size(); ++row) {
    std::size_t c = 0;
    const auto put = [&](std::int64_t value, std::uint8_t unknown) {
      values[c] = value;
      known[c] = (unknown_[row] & unknown) == 0 ? 1 : 0;
      ++c;
    };
    if (has_bytes_) put(bytes_[row], kBytesUnknown);
    if (has_count_) put(count_[row], kCountUnknown);
    builder.add_row(stack_[row], labels_[row], std::span(values).first(columns), std::span(known).first(columns));
  }
}

std::optional<std::int64_t> RowTable::total(const std::vector<std::int64_t>& values, std::uint8_t unknown) const {
  std::int64_t sum = 0;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if ((unknown_[row] & unknown) != 0 || !checked_add(sum, values[row], sum)) return std::nullopt;
  }
  return sum;
}

}  // namespace snapdiff::formats::tracker_lines
