#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "snapdiff/api.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff {

/// Values of rows at every snapshot of a series. Rows are kept whole where that is in proportion to what is known;
/// else, as where each of many snapshots has rows of its own, only the known values are kept, and all others are 0.
/// Filled snapshot by snapshot: the steps of a row's calls to add() and mark_unknown() never descend. Read after
/// finish().
class SeriesValues {
 public:
  /// Whole rows may take this many values, and this many for each known one.
  static constexpr std::size_t kFree = std::size_t{1} << 23;
  static constexpr std::size_t kPerValue = 64;

  SeriesValues() = default;
  /// Zeros. `known`: about how many values will be added.
  SNAPDIFF_API SeriesValues(std::size_t rows, std::size_t length, std::size_t known);

  std::size_t rows() const { return rows_; }
  std::size_t length() const { return length_; }
  std::size_t size() const { return rows_ * length_; }
  bool empty() const { return size() == 0; }
  bool sparse() const { return sparse_; }
  /// How many rows can be written out whole in proportion to what is known; all where rows are kept whole.
  std::size_t whole_rows() const {
    return sparse_ ? std::min(rows_, std::max<std::size_t>(1, (kFree + kPerValue * entries_.size()) / length_)) : rows_;
  }

  /// Values may be marked as unknown from here on.
  void allow_unknown() {
    has_unknown_ = true;
    if (!sparse_) unknown_.assign(whole_.size(), 0);
  }
  bool has_unknown() const { return has_unknown_; }
  /// What is added here is no value of a source but that of the line between its neighbours.
  void mark_unknown(std::size_t row, std::size_t step) {
    if (sparse_) {
      entries_.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(step) | kUnknown, 0});
    } else {
      unknown_[row * length_ + step] = 1;
    }
  }
  /// False: the sum does not fit.
  [[nodiscard]] bool add(std::size_t row, std::size_t step, std::int64_t value) {
    if (!sparse_) return checked_add(whole_[row * length_ + step], value, whole_[row * length_ + step]);
    if (value != 0) entries_.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(step), value});
    return true;
  }
  /// All is added. False: a sum does not fit.
  [[nodiscard]] bool finish() { return !sparse_ || sort_entries(); }
  /// One more row, kept whole as all rows before it. For tables that are made row by row.
  void push_row(std::span<const std::int64_t> values) {
    length_ = values.size();
    ++rows_;
    whole_.insert(whole_.end(), values.begin(), values.end());
  }

  std::int64_t at(std::size_t row, std::size_t step) const {
    if (!sparse_) return whole_[row * length_ + step];
    const Entry* const entry = find(row, step);
    return entry == nullptr ? 0 : entry->value;
  }
  bool known(std::size_t row, std::size_t step) const {
    if (!has_unknown_) return true;
    if (!sparse_) return unknown_[row * length_ + step] == 0;
    const Entry* const entry = find(row, step);
    return entry == nullptr || (entry->step & kUnknown) == 0;
  }
  /// The whole row; `scratch` holds it where it isn't kept so.
  std::span<const std::int64_t> row(std::size_t row, std::vector<std::int64_t>& scratch) const {
    if (!sparse_) return {whole_.data() + row * length_, length_};
    scratch.assign(length_, 0);
    for_each(row, [&](std::size_t step, std::int64_t value) { scratch[step] = value; });
    return scratch;
  }
  std::vector<std::int64_t> values(std::size_t row) const {
    std::vector<std::int64_t> scratch;
    const std::span<const std::int64_t> whole = this->row(row, scratch);
    return {whole.begin(), whole.end()};
  }
  /// visit(step, value) in the order of steps, at least for all values that are not 0.
  template <class Visit>
  void for_each(std::size_t row, Visit visit) const {
    if (sparse_) {
      for (const Entry& entry : entries_of(row)) visit(std::size_t{entry.step & ~kUnknown}, entry.value);
    } else {
      const std::int64_t* const values = whole_.data() + row * length_;
      for (std::size_t step = 0; step < length_; ++step) visit(step, values[step]);
    }
  }
  /// visit(step) for each unknown value of the row.
  template <class Visit>
  void for_each_unknown(std::size_t row, Visit visit) const {
    if (!has_unknown_) return;
    if (sparse_) {
      for (const Entry& entry : entries_of(row)) {
        if ((entry.step & kUnknown) != 0) visit(std::size_t{entry.step & ~kUnknown});
      }
      return;
    }
    for (std::size_t step = 0; step < length_; ++step) {
      if (unknown_[row * length_ + step] != 0) visit(step);
    }
  }
  /// 1 for each known value of the row, 0 for each unknown one.
  void known_row(std::size_t row, std::vector<std::uint8_t>& out) const {
    out.assign(length_, 1);
    for_each_unknown(row, [&](std::size_t step) { out[step] = 0; });
  }
  /// Adds the row to `sums`, which has `length()` numbers.
  void add_to(std::span<double> sums, std::size_t row) const {
    for_each(row, [&](std::size_t step, std::int64_t value) { sums[step] += static_cast<double>(value); });
  }
  /// The sums fit.
  void add_to(std::span<std::int64_t> sums, std::size_t row) const {
    for_each(row, [&](std::size_t step, std::int64_t value) { sums[step] += value; });
  }
  struct Range {
    std::int64_t least = 0, most = 0;
  };
  /// Of a row with one value at least.
  Range range(std::size_t row) const {
    if (!sparse_) {
      const auto first = whole_.begin() + static_cast<std::ptrdiff_t>(row * length_);
      const auto [least, most] = std::minmax_element(first, first + static_cast<std::ptrdiff_t>(length_));
      return {*least, *most};
    }
    const std::span<const Entry> entries = entries_of(row);
    const bool all = entries.size() == length_;
    Range out = all ? Range{entries.front().value, entries.front().value} : Range{};
    for (const Entry& entry : entries) out = {std::min(out.least, entry.value), std::max(out.most, entry.value)};
    return out;
  }

  /// Moves row `from` to `to`, which is not after it.
  void move_row(std::size_t from, std::size_t to) {
    if (from == to) return;
    if (sparse_) {
      runs_[to] = runs_[from];
      return;
    }
    std::copy_n(place(whole_, from), length_, place(whole_, to));
    if (has_unknown_) std::copy_n(place(unknown_, from), length_, place(unknown_, to));
  }
  /// Keeps the first rows.
  void cut(std::size_t rows) {
    rows_ = rows;
    if (sparse_) {
      runs_.resize(rows);
      return;
    }
    whole_.resize(rows * length_);
    if (has_unknown_) unknown_.resize(rows * length_);
  }
  /// These rows, in this order.
  SeriesValues only(std::span<const std::uint32_t> rows) const {
    std::size_t known = 0;
    for (const std::uint32_t row : rows) known += sparse_ ? runs_[row].count : length_;
    SeriesValues out(rows.size(), length_, known);
    if (has_unknown_) out.allow_unknown();
    for (std::size_t to = 0; to < rows.size(); ++to) {
      // Sums of single values always fit.
      for_each(rows[to], [&](std::size_t step, std::int64_t value) { (void)out.add(to, step, value); });
      for_each_unknown(rows[to], [&](std::size_t step) { out.mark_unknown(to, step); });
    }
    (void)out.finish();
    return out;
  }
  /// Row i is the one that was order[i].
  void permute(std::span<const std::uint32_t> order) {
    if (sparse_) {
      std::vector<Run> runs(order.size());
      for (std::size_t i = 0; i < order.size(); ++i) runs[i] = runs_[order[i]];
      runs_ = std::move(runs);
      return;
    }
    permute_rows(whole_, order);
    if (has_unknown_) permute_rows(unknown_, order);
  }

 private:
  static constexpr std::uint32_t kUnknown = 1U << 31U;  // of a step: more snapshots than 2^31 there are never

  struct Entry {
    std::uint32_t row;
    std::uint32_t step;
    std::int64_t value;
  };
  struct Run {
    std::size_t first = 0, count = 0;
  };

  std::span<const Entry> entries_of(std::size_t row) const {
    return std::span(entries_).subspan(runs_[row].first, runs_[row].count);
  }
  const Entry* find(std::size_t row, std::size_t step) const {
    const std::span<const Entry> entries = entries_of(row);
    const auto found =
        std::lower_bound(entries.begin(), entries.end(), step,
                         [](const Entry& entry, std::size_t wanted) { return (entry.step & ~kUnknown) < wanted; });
    return found != entries.end() && (found->step & ~kUnknown) == step ? &*found : nullptr;
  }

  /// By row, the steps of each as they came; values of one place are added up.
  SNAPDIFF_API bool sort_entries();

  template <class T>
  typename std::vector<T>::iterator place(std::vector<T>& values, std::size_t row) const {
    return values.begin() + static_cast<std::ptrdiff_t>(row * length_);
  }
  /// Where they are: of a long series they are the largest thing in memory.
  template <class T>
  void permute_rows(std::vector<T>& values, std::span<const std::uint32_t> order) const {
    std::vector<bool> placed(order.size(), false);
    std::vector<T> first(length_);
    for (std::size_t start = 0; start < order.size(); ++start) {
      if (placed[start] || order[start] == start) continue;
      std::copy_n(place(values, start), length_, first.begin());
      std::size_t to = start;
      for (placed[to] = true; order[to] != start; placed[to] = true) {
        std::copy_n(place(values, order[to]), length_, place(values, to));
        to = order[to];
      }
      std::copy_n(first.begin(), length_, place(values, to));
    }
  }

  std::size_t rows_ = 0, length_ = 0;
  bool sparse_ = false, has_unknown_ = false;
  std::vector<std::int64_t> whole_;    ///< `length_` for each row; empty where sparse
  std::vector<std::uint8_t> unknown_;  ///< parallel to whole_, 1: unknown; empty without such
  std::vector<Entry> entries_;         ///< sparse: by row and step, after finish()
  std::vector<Run> runs_;              ///< sparse: of each row, in entries_
};

}  // namespace snapdiff
