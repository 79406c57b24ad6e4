#include "analyzer/diff/side.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::diff {
namespace {

Status too_large(const Side& side) {
  return beyond_64_bits("sum of " + side.columns.value->type.name + " in " + side.ref.snapshot->facts.source.name);
}

/// Every row is an entry as it stands: the only one of its stack, which is visible, and not empty.
bool rows_are_entries(const Side& side) {
  const std::vector<StackId>& stacks = side.ref.snapshot->samples.stack;
  const Columns& columns = side.columns;
  for (std::size_t row = 0; row < stacks.size(); ++row) {
    if (row > 0 && stacks[row] == stacks[row - 1]) return false;
    if (side.seen->fate[index_of(stacks[row])] != Fate::visible) return false;
    if (columns.value->value[row] == 0 && (columns.objects == nullptr || columns.objects->value[row] == 0))
      return false;
  }
  return true;
}

/// False: a sum does not fit.
bool lend_rows(Side& side, bool uncertain) {
  const std::vector<std::int64_t>& values = side.columns.value->value;
  side.stack.lend(side.ref.snapshot->samples.stack);
  side.value.lend(values);
  bool fits = true;
  for (const std::int64_t value : values) fits &= checked_add(side.total, value, side.total);
  if (side.columns.objects != nullptr) {
    const std::vector<std::int64_t>& objects = side.columns.objects->value;
    side.objects.lend(objects);
    for (const std::int64_t count : objects) fits &= checked_add(side.total_objects, count, side.total_objects);
  }
  if (!uncertain) return fits;
  resize_on_all_cores(side.variance, values.size());
  for_each_block(values.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) side.variance[row] = row_variance(side, row);
  });
  for (const double variance : side.variance) side.total_variance += variance;
  return fits;
}

}  // namespace

Blur blur_of(const SnapshotFacts& facts) {
  switch (facts.sampling) {
    case Sampling::exact: return {Blur::Kind::none, 0};
    case Sampling::poisson:
      if (facts.period <= 1) return {facts.period == 1 ? Blur::Kind::none : Blur::Kind::unknown, 0};
      return {Blur::Kind::known, static_cast<double>(facts.period)};
    case Sampling::unknown: break;
  }
  return {Blur::Kind::unknown, 0};
}

double sampling_variance(double bytes, double counts, double period, bool of_counts) {
  bytes = std::abs(bytes);
  counts = std::abs(counts);
  if (bytes == 0) return 0;
  if (counts == 0) return of_counts ? 0 : bytes * period;
  const double size = bytes / counts;
  const double odds = std::expm1(size / period);  // (1 - p) / p == 1 / odds
  return of_counts ? counts / odds : bytes * size / odds;
}

double row_variance(const Side& side, std::size_t row) {
  const Columns& columns = side.columns;
  double variance = 0;
  if (side.blur.kind == Blur::Kind::known && columns.bytes != nullptr) {
    const double counts = columns.counts != nullptr ? static_cast<double>(columns.counts->value[row]) : 0;
    variance = sampling_variance(static_cast<double>(columns.bytes->value[row]), counts, side.blur.period,
                                 columns.counts != nullptr && columns.value == columns.counts);
  }
  if (side.rounded) {
    const auto half =
        static_cast<double>(columns.half_units != nullptr ? columns.half_units->value[row] : columns.value->half_unit);
    variance += half * half;
  }
  return variance;
}

Status summarise(Side& side, const Summary& how) {
  const SampleTable& samples = side.ref.snapshot->samples;
  const Columns& columns = side.columns;
  const std::vector<std::int64_t>& values = columns.value->value;
  const std::vector<std::int64_t>* objects = columns.objects != nullptr ? &columns.objects->value : nullptr;
  side.blur = blur_of(side.ref.snapshot->facts);
  const bool blurred = side.blur.kind == Blur::Kind::known && columns.bytes != nullptr;
  if (side.blur.kind == Blur::Kind::known && columns.bytes == nullptr) side.blur.kind = Blur::Kind::unknown;
  side.rounded = columns.half_units != nullptr || columns.value->half_unit != 0;
  const bool uncertain = how.keep_variance && (blurred || side.rounded);
  const bool some_unknown = !columns.value->known.empty();
  if (some_unknown) {
    side.unknown_values =
        static_cast<std::uint64_t>(std::count(columns.value->known.begin(), columns.value->known.end(), 0));
  }

  if (!how.keep_rows && !some_unknown && rows_are_entries(side)) {
    return lend_rows(side, uncertain) ? ok() : too_large(side);
  }

  const std::size_t rows = samples.size();
  std::vector<StackId>& side_stack = side.stack.own();
  std::vector<std::int64_t>& side_value = side.value.own();
  std::vector<std::int64_t>& side_objects = side.objects.own();
  side_stack.reserve(rows);
  side_value.reserve(rows);
  if (objects != nullptr) side_objects.reserve(rows);
  if (uncertain) side.variance.reserve(rows);
  if (how.keep_rows) side.entry_of_row.assign(rows, Side::kNoEntry);

  // A list that leaves rows out and has one of 0 says that it was 0; a row that is not there may have been anything.
  const bool lists_zeros = !side.ref.snapshot->facts.complete && columns.half_units != nullptr;
  bool fits = true;
  for (std::size_t row = 0; row < rows;) {
    const std::size_t first = row;
    const StackId stack = samples.stack[row];
    std::int64_t value = 0;
    std::int64_t count = 0;
    double variance = 0;
    bool empty = true;
    bool is_unknown = false;
    for (; row < rows && samples.stack[row] == stack; ++row) {
      const std::int64_t row_count = objects != nullptr ? (*objects)[row] : 0;
      if (some_unknown && !columns.value->is_known(row)) {
        is_unknown = true;
        empty = false;
      }
      empty = empty && !lists_zeros;
      if (values[row] == 0 && row_count == 0) continue;
      empty = false;
      fits &= checked_add(value, values[row], value) && checked_add(count, row_count, count);
      if (uncertain) variance += row_variance(side, row);
    }
    if (empty) continue;
    fits &= checked_add(side.total, value, side.total) && checked_add(side.total_objects, count, side.total_objects);
    side.total_variance += variance;
    const Fate fate = side.seen->fate[index_of(stack)];
    if (fate != Fate::visible) {
      const bool filtered = fate == Fate::filtered;
      std::int64_t& sum = filtered ? side.filtered : side.unattributed;
      std::int64_t& sum_objects = filtered ? side.filtered_objects : side.unattributed_objects;
      fits &= checked_add(sum, value, sum) && checked_add(sum_objects, count, sum_objects);
      continue;
    }
    if (how.keep_rows) {
      for (std::size_t r = first; r < row; ++r) side.entry_of_row[r] = static_cast<std::uint32_t>(side_stack.size());
    }
    side_stack.push_back(stack);
    side_value.push_back(value);
    if (objects != nullptr) side_objects.push_back(count);
    if (uncertain) side.variance.push_back(variance);
    if (is_unknown) {
      side.unknown.resize(side_stack.size(), 0);
      side.unknown.back() = 1;
    }
  }
  if (!side.unknown.empty()) side.unknown.resize(side_stack.size(), 0);
  return fits ? ok() : too_large(side);
}

}  // namespace snapdiff::diff
