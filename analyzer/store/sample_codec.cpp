#include "analyzer/store/sample_codec.hpp"

#include <algorithm>
#include <span>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/store/bytes.hpp"
#include "analyzer/store/column_chunk.hpp"

namespace snapdiff::store {
namespace {

// Columns of a chunk: stack gaps, labels, bits of unknown values, then for each value column the
// changes and the mean sizes that could not be taken from the row before.
constexpr std::size_t kHeadColumns = 3;
constexpr std::size_t column_total(std::size_t values) { return kHeadColumns + 2 * values; }

std::uint64_t key_of(const SampleTable& table, std::size_t row) {
  return (static_cast<std::uint64_t>(table.stack[row]) << 32) | static_cast<std::uint64_t>(table.labels[row]);
}

std::uint64_t value_of(const SampleTable& table, std::size_t column, std::uint32_t row) {
  return row == ChangedRow::kNoRow ? 0 : static_cast<std::uint64_t>(table.columns[column].value[row]);
}

bool is_known(const SampleTable& table, std::size_t column, std::uint32_t row) {
  return row == ChangedRow::kNoRow || table.columns[column].is_known(row);
}

/// Bytes per object, 0 where that says nothing.
std::uint64_t mean_size(std::uint64_t objects, std::uint64_t bytes) {
  const auto count = static_cast<std::int64_t>(objects);
  const auto size = static_cast<std::int64_t>(bytes);
  return count > 0 && size > 0 ? static_cast<std::uint64_t>(size / count) : 0;
}

bool differs(const SampleTable& before, std::size_t b, const SampleTable& after, std::size_t a) {
  for (std::size_t c = 0; c < after.columns.size(); ++c) {
    if (before.columns[c].value[b] != after.columns[c].value[a]) return true;
    if (before.columns[c].is_known(b) != after.columns[c].is_known(a)) return true;
  }
  return false;
}

std::string encode_chunk(const SampleTable& before, const SampleTable& after, std::span<const ChangedRow> rows,
                         std::span<const int> count_column, int level) {
  const std::size_t values = after.columns.size();
  std::vector<std::string> out(column_total(values));
  std::uint64_t last_stack = 0;
  std::uint64_t last_labels = 0;
  bool first = true;
  bool any_labels = false;
  bool any_unknown = false;
  for (const ChangedRow& row : rows) {
    const std::uint64_t key = row.after != ChangedRow::kNoRow ? key_of(after, row.after) : key_of(before, row.before);
    const std::uint64_t stack = key >> 32;
    const std::uint64_t labels = key & 0xffffffffU;
    put_varint(out[0], stack - last_stack);
    put_varint(out[1], !first && stack == last_stack ? labels - last_labels - 1 : labels);
    any_labels = any_labels || out[1].back() != 0;
    last_stack = stack;
    last_labels = labels;
    first = false;
    for (std::size_t c = 0; c < values; c += 8) {
      unsigned bits = 0;
      for (std::size_t i = c; i < std::min(values, c + 8); ++i)
        bits |= is_known(after, i, row.after) ? 0U : 1U << (i - c);
      out[2].push_back(static_cast<char>(bits));
      any_unknown = any_unknown || bits != 0;
    }
  }
  if (!any_labels) out[1].clear();
  if (!any_unknown) out[2].clear();

  // Mean size of the pair before in the same row: in use and allocated objects have one size.
  std::vector<std::uint64_t> hints(rows.size());
  for (std::size_t c = 0; c < values; ++c) {
    std::string& changes = out[kHeadColumns + 2 * c];
    std::string& sizes = out[kHeadColumns + 2 * c + 1];
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const ChangedRow& row = rows[r];
      const std::uint64_t was = value_of(before, c, row.before);
      std::uint64_t change = value_of(after, c, row.after) - was;
      if (count_column[c] >= 0) {
        const auto o = static_cast<std::size_t>(count_column[c]);
        const std::uint64_t objects_were = value_of(before, o, row.before);
        const std::uint64_t objects_change = value_of(after, o, row.after) - objects_were;
        std::uint64_t size = mean_size(objects_were, was);
        if (size == 0) {
          size = mean_size(objects_change, change);
          put_varint(sizes, zigzag(size - hints[r]));
        }
        hints[r] = size;
        change -= size * objects_change;
      }
      put_varint(changes, zigzag(change));
    }
  }
  return pack_columns(out, level);
}

struct Keys {
  std::vector<std::uint64_t> key;
  std::vector<std::string_view> columns;
};

Keys decode_keys(std::string_view blob, std::size_t values, std::string& buffer) {
  Keys keys;
  keys.columns = unpack_columns(blob, column_total(values), buffer);
  ByteReader gaps(keys.columns[0]);
  ByteReader label_column(keys.columns[1]);
  const bool any_labels = label_column.left() > 0;
  std::uint64_t stack = 0;
  std::uint64_t labels = 0;
  bool first = true;
  while (gaps.left() > 0) {
    const std::uint64_t gap = gaps.varint();
    std::uint64_t label = any_labels ? label_column.varint() : 0;
    if (!first && gap == 0) {
      if (label > 0xffffffffU) fail(ErrorCode::malformed, "label set out of range");
      label += labels + 1;
    }
    if (gap > 0xffffffffU || stack + gap > 0xffffffffU || label > 0xffffffffU)
      fail(ErrorCode::malformed, "stack or label set out of range");
    stack += gap;
    labels = label;
    first = false;
    keys.key.push_back((stack << 32) | labels);
    if (keys.key.size() > kChunkRows) fail(ErrorCode::malformed, "more than " + std::to_string(kChunkRows) + " rows");
  }
  if (any_labels) label_column.expect_end();
  const std::size_t mask_bytes = (values + 7) / 8;
  if (!keys.columns[2].empty() && keys.columns[2].size() != keys.key.size() * mask_bytes)
    fail(ErrorCode::malformed, std::to_string(keys.columns[2].size()) + " bytes of unknown flags, expected " +
                                   std::to_string(keys.key.size() * mask_bytes));
  if (values % 8 != 0) {
    for (std::size_t last = mask_bytes - 1; last < keys.columns[2].size(); last += mask_bytes) {
      if ((static_cast<std::uint8_t>(keys.columns[2][last]) >> (values % 8)) != 0)
        fail(ErrorCode::malformed, "unknown flag of a column that is not there");
    }
  }
  return keys;
}

}  // namespace

std::vector<int> count_column_of(const std::vector<Column>& columns) {
  constexpr std::string_view kSpace = "_space";
  std::vector<int> pair(columns.size(), -1);
  for (std::size_t c = 1; c < columns.size(); ++c) {
    const SampleType& type = columns[c].type;
    if (type.unit != "bytes") continue;
    if (type.name.ends_with(kSpace)) {
      const std::string objects = type.name.substr(0, type.name.size() - kSpace.size()) + "_objects";
      for (std::size_t o = 0; o < c; ++o) {
        if (columns[o].type.name == objects) pair[c] = static_cast<int>(o);
      }
    }
    if (pair[c] < 0 && columns[c - 1].type.unit == "count") pair[c] = static_cast<int>(c - 1);
  }
  return pair;
}

std::vector<ChangedRow> all_rows(const SampleTable& after) {
  std::vector<ChangedRow> rows(after.size());
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row].after = static_cast<std::uint32_t>(row);
  return rows;
}

std::vector<ChangedRow> changed_rows(const SampleTable& before, const SampleTable& after) {
  std::vector<ChangedRow> rows;
  std::size_t b = 0;
  std::size_t a = 0;
  while (b < before.size() || a < after.size()) {
    ChangedRow row;
    const bool only_before = a == after.size() || (b < before.size() && key_of(before, b) < key_of(after, a));
    const bool only_after = b == before.size() || (a < after.size() && key_of(after, a) < key_of(before, b));
    const bool same = !only_before && !only_after && !differs(before, b, after, a);
    if (!only_after) row.before = static_cast<std::uint32_t>(b++);
    if (!only_before) row.after = static_cast<std::uint32_t>(a++);
    if (!same) rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> encode_samples(const SampleTable& before, const SampleTable& after,
                                        const std::vector<ChangedRow>& rows) {
  const std::vector<int> count_column = count_column_of(after.columns);
  const int level = compression_level(rows.size() * after.columns.size() * 2);
  std::vector<std::string> blobs((rows.size() + kChunkRows - 1) / kChunkRows);
  for_each_parallel(blobs.size(), rows.size(), [&](std::size_t chunk) {
    const std::size_t at = chunk * kChunkRows;
    const auto part = std::span(rows).subspan(at, std::min(kChunkRows, rows.size() - at));
    blobs[chunk] = encode_chunk(before, after, part, count_column, level);
  });
  return blobs;
}

SampleDecoder::SampleDecoder(const SampleTable& before, std::size_t rows) : before_(before) {
  const std::size_t expected = std::max(before_.size(), rows);
  // The rows of before_ are in memory: about this number will be here.
  const auto make_room = [&](auto& column) {
    column.reserve(expected);
    fill_soon(column.data(), std::min(expected, before_.size()) * sizeof(*column.data()));
  };
  make_room(after_.stack);
  make_room(after_.labels);
  for (const Column& column : before_.columns) {
    after_.columns.push_back(Column{column.type, {}, {}, column.half_unit});
    make_room(after_.columns.back().value);
  }
}

void SampleDecoder::copy_until(std::uint64_t key) {
  std::size_t end = next_;
  while (end < before_.size() && key_of(before_, end) < key) ++end;
  if (end == next_) return;
  const auto append = [this, end](auto& to, const auto& from) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(next_),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const std::size_t rows = after_.size();
  append(after_.stack, before_.stack);
  append(after_.labels, before_.labels);
  for (std::size_t c = 0; c < after_.columns.size(); ++c) {
    Column& to = after_.columns[c];
    const Column& from = before_.columns[c];
    append(to.value, from.value);
    if (from.known.empty() && to.known.empty()) continue;
    if (to.known.empty()) to.known.assign(rows, 1);
    if (from.known.empty()) {
      to.known.insert(to.known.end(), end - next_, 1);
    } else {
      append(to.known, from.known);
    }
  }
  next_ = end;
}

void SampleDecoder::add_chunk(std::string_view blob) {
  const std::size_t values = after_.columns.size();
  std::string buffer;
  const Keys keys = decode_keys(blob, values, buffer);
  const std::size_t rows = keys.key.size();
  if (rows > 0) {
    if (any_ && keys.key[0] <= last_key_) fail(ErrorCode::malformed, "rows out of order");
    last_key_ = keys.key.back();
    any_ = true;
  }

  std::vector<std::uint32_t> before_row(rows, ChangedRow::kNoRow);
  for (std::size_t r = 0, b = next_; r < rows; ++r) {
    while (b < before_.size() && key_of(before_, b) < keys.key[r]) ++b;
    if (b < before_.size() && key_of(before_, b) == keys.key[r]) before_row[r] = static_cast<std::uint32_t>(b);
  }

  const std::vector<int> count_column = count_column_of(after_.columns);
  std::vector<std::vector<std::uint64_t>> now(values, std::vector<std::uint64_t>(rows));
  std::vector<std::uint64_t> hints(rows);
  for (std::size_t c = 0; c < values; ++c) {
    ByteReader changes(keys.columns[kHeadColumns + 2 * c]);
    ByteReader sizes(keys.columns[kHeadColumns + 2 * c + 1]);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::uint64_t was = value_of(before_, c, before_row[r]);
      std::uint64_t change = unzigzag(changes.varint());
      if (count_column[c] >= 0) {
        const auto o = static_cast<std::size_t>(count_column[c]);
        const std::uint64_t objects_were = value_of(before_, o, before_row[r]);
        std::uint64_t size = mean_size(objects_were, was);
        if (size == 0) size = hints[r] + unzigzag(sizes.varint());
        hints[r] = size;
        change += size * (now[o][r] - objects_were);
      }
      now[c][r] = was + change;
    }
    changes.expect_end();
    sizes.expect_end();
  }

  const std::size_t mask_bytes = (values + 7) / 8;
  const std::string_view unknown = keys.columns[2];
  for (std::size_t r = 0; r < rows; ++r) {
    copy_until(keys.key[r]);
    if (before_row[r] != ChangedRow::kNoRow) next_ = before_row[r] + std::size_t{1};
    bool any_value = false;
    for (std::size_t c = 0; c < values; ++c) any_value = any_value || now[c][r] != 0;
    if (!unknown.empty()) {
      for (const char mask : unknown.substr(r * mask_bytes, mask_bytes)) any_value = any_value || mask != 0;
    }
    if (!any_value) continue;
    const std::size_t row = after_.size();
    after_.stack.push_back(static_cast<StackId>(keys.key[r] >> 32));
    after_.labels.push_back(static_cast<LabelSetId>(keys.key[r] & 0xffffffffU));
    for (std::size_t c = 0; c < values; ++c) {
      Column& column = after_.columns[c];
      const bool is_unknown =
          !unknown.empty() && ((static_cast<std::uint8_t>(unknown[r * mask_bytes + c / 8]) >> (c % 8)) & 1) != 0;
      column.value.push_back(static_cast<std::int64_t>(now[c][r]));
      if (!is_unknown && column.known.empty()) continue;
      column.known.resize(row, 1);
      column.known.push_back(is_unknown ? 0 : 1);
    }
  }
}

SampleTable SampleDecoder::finish() {
  copy_until(~std::uint64_t{0});
  for (Column& column : after_.columns) {
    if (std::find(column.known.begin(), column.known.end(), 0) == column.known.end()) column.known.clear();
  }
  return std::move(after_);
}

std::vector<std::uint64_t> chunk_keys(std::string_view blob, std::size_t columns) {
  std::string buffer;
  return decode_keys(blob, columns, buffer).key;
}

}  // namespace snapdiff::store
