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

/// Values of rows at every snapshot of a series. Rows are kept whole, or as their changes where there are many values
/// and that takes less memory: a row is 0 before its first change, and keeps each value up to the next one.
/// Filled snapshot by snapshot: the steps of a row's calls to add() and mark_unknown() never descend. All of them are
/// made once more where again() says so. Read after finish().
class SeriesValues {
 public:
  /// Whole rows may take this many values, and this many for each known one.
  static constexpr std::size_t kFree = std::size_t{1} << 23;
  static constexpr std::size_t kPerValue = 64;

  SeriesValues() = default;
  /// Zeros. `known`: about how many values will be added. `keep_whole`: mark_unknown() may come after finish(), unless
  /// the table is sparse.
  SNAPDIFF_API SeriesValues(std::size_t rows, std::size_t length, std::size_t known, bool keep_whole = false);

  std::size_t rows() const { return rows_; }
  std::size_t length() const { return length_; }
  std::size_t size() const { return rows_ * length_; }
  bool empty() const { return size() == 0; }
  /// Rows kept whole would be out of proportion to what is known, as where each of many snapshots has rows of its own.
  bool sparse() const { return sparse_; }
  /// Several threads may add to different places of different steps; else the steps come in order, from one thread.
  bool takes_any_order() const { return fill_ == Fill::none; }
  /// A row costs as much as it has changes, not as the series is long.
  bool keeps_changes() const { return !runs_.empty(); }
  /// How many rows can be written out whole in proportion to what is known; all where that is so for all.
  std::size_t whole_rows() const {
    return sparse_ ? std::min(rows_, std::max<std::size_t>(1, (kFree + kPerValue * added_) / length_)) : rows_;
  }

  /// Values may be marked as unknown from here on.
  void allow_unknown() {
    has_unknown_ = true;
    unknown_.assign(whole_.size(), 0);
  }
  bool has_unknown() const { return has_unknown_; }
  /// What is added here is no value of a source but that of the line between its neighbours.
  void mark_unknown(std::size_t row, std::size_t step) {
    if (fill_ == Fill::none) {
      unknown_[row * length_ + step] = 1;
    } else {
      at_step(row, step).unknown = kUnknown;
    }
  }
  /// False: the sum does not fit.
  [[nodiscard]] bool add(std::size_t row, std::size_t step, std::int64_t value) {
    if (fill_ == Fill::none) return checked_add(whole_[row * length_ + step], value, whole_[row * length_ + step]);
    if (value == 0) return true;
    Open& open = at_step(row, step);
    return checked_add(open.value, value, open.value);
  }
  /// All is added. Whether it has to be added once more: changes are counted first, so that they take no more memory
  /// than they need.
  [[nodiscard]] SNAPDIFF_API bool again();
  /// As again(), with all that `fill` adds: called once or twice.
  template <class Fill>
  void fill_by(Fill fill) {
    do fill();
    while (again());
  }
  /// One more row, kept whole as all rows before it. For tables that are made row by row.
  void push_row(std::span<const std::int64_t> values) {
    length_ = values.size();
    ++rows_;
    whole_.insert(whole_.end(), values.begin(), values.end());
  }

  std::int64_t at(std::size_t row, std::size_t step) const {
    if (!keeps_changes()) return whole_[row * length_ + step];
    const std::size_t change = find(row, step);
    return change == kNone ? 0 : values_[change];
  }
  bool known(std::size_t row, std::size_t step) const {
    if (!has_unknown_) return true;
    if (!keeps_changes()) return unknown_[row * length_ + step] == 0;
    const std::size_t change = find(row, step);
    return change == kNone || (steps_[change] & kUnknown) == 0;
  }
  /// The whole row; `scratch` holds it where it isn't kept so.
  std::span<const std::int64_t> row(std::size_t row, std::vector<std::int64_t>& scratch) const {
    if (!keeps_changes()) return {whole_.data() + row * length_, length_};
    scratch.assign(length_, 0);
    for_each_run(row, [&](std::size_t first, std::size_t end, std::int64_t value, bool) {
      std::fill(scratch.begin() + static_cast<std::ptrdiff_t>(first),
                scratch.begin() + static_cast<std::ptrdiff_t>(end), value);
    });
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
    if (keeps_changes()) {
      for_each_run(row, [&](std::size_t first, std::size_t end, std::int64_t value, bool) {
        for (std::size_t step = first; step < end && value != 0; ++step) visit(step, value);
      });
    } else {
      const std::int64_t* const values = whole_.data() + row * length_;
      for (std::size_t step = 0; step < length_; ++step) visit(step, values[step]);
    }
  }
  /// visit(step) for each unknown value of the row.
  template <class Visit>
  void for_each_unknown(std::size_t row, Visit visit) const {
    if (!has_unknown_) return;
    if (keeps_changes()) {
      return for_each_run(row, [&](std::size_t first, std::size_t end, std::int64_t, bool unknown) {
        for (std::size_t step = first; step < end && unknown; ++step) visit(step);
      });
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
  /// The values of several rows, added up: `sums` has `length()` zeros. All their sums fit.
  void sum_up(std::span<const std::uint32_t> rows, std::span<std::int64_t> sums) const {
    if (!keeps_changes()) {
      for (const std::uint32_t row : rows) add_to(sums, row);
      return;
    }
    // Modulo 2^64, in which a difference always fits.
    const auto add = [&](std::size_t step, std::int64_t value, std::int64_t before) {
      sums[step] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums[step]) +
                                             static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(before));
    };
    for (const std::uint32_t row : rows) {
      std::int64_t before = 0;
      for_each_run(row, [&](std::size_t first, std::size_t, std::int64_t value, bool) {
        add(first, value, std::exchange(before, value));
      });
    }
    for (std::size_t step = 1; step < sums.size(); ++step) add(step, sums[step - 1], 0);
  }
  struct Range {
    std::int64_t least = 0, most = 0;
  };
  /// Of a row with one value at least.
  Range range(std::size_t row) const {
    if (!keeps_changes()) {
      const auto first = whole_.begin() + static_cast<std::ptrdiff_t>(row * length_);
      const auto [least, most] = std::minmax_element(first, first + static_cast<std::ptrdiff_t>(length_));
      return {*least, *most};
    }
    const Run& run = runs_[row];
    const bool all = run.count > 0 && (steps_[run.first] & ~kUnknown) == 0;
    Range out = all ? Range{values_[run.first], values_[run.first]} : Range{};
    for (std::size_t i = run.first; i < run.first + run.count; ++i)
      out = {std::min(out.least, values_[i]), std::max(out.most, values_[i])};
    return out;
  }

  /// Moves row `from` to `to`, which is not after it.
  void move_row(std::size_t from, std::size_t to) {
    if (from == to) return;
    if (keeps_changes()) {
      runs_[to] = runs_[from];
      return;
    }
    std::copy_n(place(whole_, from), length_, place(whole_, to));
    if (has_unknown_) std::copy_n(place(unknown_, from), length_, place(unknown_, to));
  }
  /// Keeps the first rows.
  void cut(std::size_t rows) {
    rows_ = rows;
    if (keeps_changes()) {
      runs_.resize(rows);
      return;
    }
    whole_.resize(rows * length_);
    if (has_unknown_) unknown_.resize(rows * length_);
  }
  /// These rows, in this order.
  SeriesValues only(std::span<const std::uint32_t> rows) const {
    SeriesValues out(rows.size(), length_, rows.size() * length_);
    if (has_unknown_) out.allow_unknown();
    out.fill_by([&] {
      for (std::size_t to = 0; to < rows.size(); ++to) {
        for (std::size_t step = 0; step < length_; ++step) {
          (void)out.add(to, step, at(rows[to], step));  // sums of single values always fit
          if (!known(rows[to], step)) out.mark_unknown(to, step);
        }
      }
    });
    return out;
  }
  /// Row i is the one that was order[i].
  void permute(std::span<const std::uint32_t> order) {
    if (keeps_changes()) {
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
  static constexpr std::size_t kNone = ~std::size_t{0};

  struct Run {
    std::size_t first = 0, count = 0;
  };
  /// The last step of a row that something was added to, and what the row holds since its last change.
  struct Open {
    std::int64_t value = 0, before = 0;
    std::uint32_t step = 0, unknown = 0, unknown_before = 0;
  };
  /// add() adds to whole rows, counts changes, or puts them in their places.
  enum class Fill : std::uint8_t { none, counts, places };

  /// visit(first step, end, value, unknown) for each value of a row.
  template <class Visit>
  void for_each_run(std::size_t row, Visit visit) const {
    const std::size_t last = runs_[row].first + runs_[row].count;
    for (std::size_t i = runs_[row].first; i < last; ++i) {
      const std::size_t end = i + 1 < last ? std::size_t{steps_[i + 1] & ~kUnknown} : length_;
      visit(std::size_t{steps_[i] & ~kUnknown}, end, values_[i], (steps_[i] & kUnknown) != 0);
    }
  }
  /// The change that holds at this step; kNone before the first one.
  std::size_t find(std::size_t row, std::size_t step) const {
    const auto first = steps_.begin() + static_cast<std::ptrdiff_t>(runs_[row].first);
    const auto after = std::upper_bound(first, first + static_cast<std::ptrdiff_t>(runs_[row].count), step,
                                        [](std::size_t wanted, std::uint32_t at) { return wanted < (at & ~kUnknown); });
    return after == first ? kNone : static_cast<std::size_t>(after - steps_.begin()) - 1;
  }
  /// The sum for this step of the row.
  Open& at_step(std::size_t row, std::size_t step) {
    ++added_;
    Open& open = open_[row];
    if (open.step != step) close(row, open, static_cast<std::uint32_t>(step));
    return open;
  }
  /// The row continues at step `next`; steps that nothing was added to are 0.
  void close(std::size_t row, Open& open, std::uint32_t next) {
    change(row, open, open.step, open.value, open.unknown);
    if (next > open.step + 1) change(row, open, open.step + 1, 0, 0);
    open.value = 0;
    open.unknown = 0;
    open.step = next;
  }
  void change(std::size_t row, Open& open, std::uint32_t step, std::int64_t value, std::uint32_t unknown) {
    if (value == open.before && unknown == open.unknown_before) return;
    open.before = value;
    open.unknown_before = unknown;
    Run& run = runs_[row];
    if (fill_ == Fill::places) {
      steps_[run.first + run.count] = step | unknown;
      values_[run.first + run.count] = value;
    }
    ++run.count;
  }

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
  std::size_t added_ = 0;  ///< values, where changes were counted
  bool sparse_ = false, has_unknown_ = false;
  Fill fill_ = Fill::none;
  std::vector<std::int64_t> whole_;    ///< `length_` for each row; empty where changes are kept
  std::vector<std::uint8_t> unknown_;  ///< parallel to whole_, 1: unknown; empty without such
  std::vector<std::uint32_t> steps_;   ///< of changes, by row and step, with kUnknown
  std::vector<std::int64_t> values_;   ///< of changes: the value up to the next one
  std::vector<Run> runs_;              ///< changes of each row; empty where rows are kept whole
  std::vector<Open> open_;             ///< of each row, until all is added
};

}  // namespace snapdiff
