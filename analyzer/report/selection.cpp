#include "analyzer/report/selection.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "analyzer/base/number_text.hpp"
#include "analyzer/document/terms.hpp"

namespace snapdiff::report {

namespace {

std::uint64_t size_of_row(const GrowthReport& report, std::size_t row) {
  const std::uint64_t flat = magnitude(report.rows[row].value.growth());
  if (report.cumulative.empty()) return flat;
  return std::max(flat, magnitude(report.cumulative[row].value.growth()));
}

bool is_unchanged(const GrowthReport& report, std::size_t row) {
  const GrowthRow& r = report.rows[row];
  const bool flat = r.grew == 0 && r.shrank == 0 && r.value.growth() == 0 && r.objects.growth() == 0;
  if (report.cumulative.empty() || !flat) return flat;
  const CumulativeChange& cumulative = report.cumulative[row];
  return cumulative.grew == 0 && cumulative.shrank == 0 && cumulative.value.growth() == 0;
}

/// A row of a series that is there neither at its start nor at its end.
bool is_absent(const GrowthReport& report, std::size_t row) {
  const GrowthRow& r = report.rows[row];
  return r.value == Change{} && r.objects == Change{} && report.cumulative.empty();
}

}  // namespace

void add(Others& others, const GrowthRow& row) {
  ++others.rows;
  others.value += row.value;
  others.objects += row.objects;
}

std::string others_name(const Others& others) { return others_text(others.rows); }

Unchanged unchanged_rows(const GrowthReport& report, const Style& style) {
  const bool by_change = report.options.sort == SortKey::change || report.options.sort == SortKey::growth;
  return by_change && style.max_rows != 0 ? Unchanged::hidden : Unchanged::shown;
}

std::size_t most_rows(const GrowthReport& report, const Style& style) {
  const std::size_t limit = style.max_rows == 0 ? report.rows.size() : style.max_rows;
  return report.series_length > 0 ? std::min(limit, report.series.whole_rows()) : limit;
}

Selection select_rows(const GrowthReport& report, const Style& style, Unchanged unchanged) {
  std::vector<std::uint32_t> order(report.rows.size());
  std::iota(order.begin(), order.end(), 0U);
  if (style.cumulative && !report.cumulative.empty()) {
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::uint32_t row) { return magnitude(report.cumulative[row].value.growth()); });
  }
  const std::size_t limit = most_rows(report, style);
  const std::uint64_t floor = style.min_bytes > 0 ? static_cast<std::uint64_t>(style.min_bytes) : 0;
  Selection out;
  out.rows.reserve(std::min(limit, order.size()));
  double variance = 0;
  std::size_t before = style.first_row;
  for (const std::uint32_t row : order) {
    if (unchanged == Unchanged::hidden && is_absent(report, row)) continue;
    const bool hidden =
        (unchanged == Unchanged::hidden && is_unchanged(report, row)) || size_of_row(report, row) < floor;
    if (!hidden && before > 0) {
      --before;
    } else if (!hidden && out.rows.size() < limit) {
      out.rows.push_back(row);
      continue;
    }
    const GrowthRow& r = report.rows[row];
    ++out.others.rows;
    out.others.value += r.value;
    if (report.has_objects) out.others.objects += r.objects;
    out.others.changed = out.others.changed || !is_unchanged(report, row);
    variance += r.error * r.error;
  }
  out.others.error = std::sqrt(variance);
  return out;
}

Selection select_rows(const TopReport& report, const Style& style) {
  std::vector<std::uint32_t> order(report.rows.size());
  std::iota(order.begin(), order.end(), 0U);
  if (style.cumulative && report.options.by != GroupBy::stack) {
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::uint32_t row) { return magnitude(report.rows[row].cumulative); });
  }
  const std::size_t limit = style.max_rows == 0 ? order.size() : style.max_rows;
  const std::uint64_t floor = style.min_bytes > 0 ? static_cast<std::uint64_t>(style.min_bytes) : 0;
  Selection out;
  double variance = 0;
  std::size_t before = style.first_row;
  for (const std::uint32_t row : order) {
    const TopRow& r = report.rows[row];
    const bool hidden = std::max(magnitude(r.value), magnitude(r.cumulative)) < floor;
    if (!hidden && before > 0) {
      --before;
    } else if (!hidden && out.rows.size() < limit) {
      out.rows.push_back(row);
      continue;
    }
    ++out.others.rows;
    out.others.value += {0, r.value};
    out.others.objects += {0, r.objects};
    variance += r.error * r.error;
  }
  out.others.error = std::sqrt(variance);
  return out;
}

bool within_error(const GrowthReport& report, const GrowthRow& row) {
  return report.has_error && document::within_error(static_cast<double>(row.value.growth()), row.error);
}

}  // namespace snapdiff::report
