#include "analyzer/story/growth_paths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/base/row_values.hpp"
#include "analyzer/document/match_words.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::story {
namespace {

constexpr std::size_t kShares = 16;  ///< of the rows that did not change, side by side
constexpr std::uint32_t kNone = HashIndex::kAbsent;

std::uint64_t hash_of(std::span<const std::uint32_t> path) {
  std::uint64_t hash = path.size();
  for (const std::uint32_t function : path) hash = (hash ^ function) * 0x9e3779b97f4a7c15U;
  return mix64(hash);
}

/// Whether the row's value changed at all: at every snapshot of a series, else at both ends.
bool is_changed(const GrowthReport& report, std::size_t row) {
  const Change& value = report.rows[row].value;
  if (value.baseline != value.current) return true;
  const auto [least, most] = range_of(report, row);
  return least != most;
}

double peak_of(const GrowthReport& report, std::size_t row) {
  const Change& value = report.rows[row].value;
  const std::int64_t most = std::max({value.baseline, value.current, range_of(report, row).most});
  return std::max(0.0, static_cast<double>(most));
}

std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

}  // namespace

/// Rows that changed, ascending; and by their key, the order in which stacks lie in memory, those that did not.
struct GrowthPaths::Parted {
  struct Row {
    double peak = 0;
    std::uint32_t row = kNone;  ///< kNone where the key has no row
    bool changed = false;
  };
  std::vector<std::uint32_t> changed;
  std::vector<Row> by_key;
  HashIndex table;  ///< of the paths of changed rows, by their number
};

void GrowthPaths::part(const GrowthReport& report, Parted& out) {
  resize_on_all_cores(out.by_key, report.stacks.size());
  const auto list_changed = [&](std::size_t begin, std::size_t end, std::vector<std::uint32_t>& rows) {
    for (std::size_t row = begin; row < end; ++row) {
      const bool changed = is_changed(report, row);
      if (changed) rows.push_back(static_cast<std::uint32_t>(row));
      out.by_key[report.rows[row].key] = {changed ? 0 : peak_of(report, row), static_cast<std::uint32_t>(row), changed};
    }
  };
  out.changed = listed_in_blocks<std::uint32_t>(report.rows.size(), list_changed);
}

GrowthPaths::GrowthPaths(const GrowthReport& report) : report_(&report) {
  if (report.view == nullptr || report.stacks.empty()) return;
  function_count_ = report.view->function_count();
  if (function_count_ == 0) return;
  types_ = document::lists_types(report);
  Parted parted;
  part(report, parted);
  std::vector<std::uint32_t> path_of_row(report.rows.size(), kNone);
  read_changed(parted, path_of_row);
  read_level(parted, path_of_row);
  add_up(path_of_row);
}

/// Paths are read in the order of keys, by several threads, and numbered in the order of rows.
void GrowthPaths::read_changed(Parted& parted, std::vector<std::uint32_t>& path_of_row) {
  struct Place {
    std::uint64_t hash = 0;
    std::uint32_t begin = 0, size = 0;  ///< in the block of its key
  };
  const std::size_t keys = parted.by_key.size();
  std::vector<Place> places;
  resize_on_all_cores(places, keys);
  inlined_ = restore_inlined(*report_);
  std::vector<std::vector<std::uint32_t>> blocks(blocks_of(keys));
  for_each_block(keys, [&](std::size_t block, std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> path;
    std::vector<std::uint32_t>& all = blocks[block];
    for (std::size_t key = begin; key < end; ++key) {
      if (!parted.by_key[key].changed) continue;
      report_->view->own_path(report_->stacks[key], path);
      if (const auto longer = inlined_.find(static_cast<std::uint32_t>(key)); longer != inlined_.end())
        path = longer->second;
      places[key] = {hash_of(path), static_cast<std::uint32_t>(all.size()), static_cast<std::uint32_t>(path.size())};
      all.insert(all.end(), path.begin(), path.end());
    }
  });
  const auto key_of = [&](std::size_t i) { return report_->rows[parted.changed[i]].key; };
  const auto path_of = [&](std::size_t i) {
    const std::uint32_t key = key_of(i);
    return std::span<const std::uint32_t>(blocks[key / kBlockRows]).subspan(places[key].begin, places[key].size);
  };
  const LargeColumn<std::uint32_t> first = parted.table.add_all(
      parted.changed.size(), [&](std::uint32_t i) { return places[key_of(i)].hash; },
      [&](std::uint32_t a, std::uint32_t b) { return std::ranges::equal(path_of(a), path_of(b)); });

  std::vector<std::uint32_t> first_with_path;
  std::uint32_t next_function = 0;
  paths_.reserve(first.size());
  for (std::uint32_t i = 0; i < first.size(); ++i) {
    const auto size = static_cast<std::uint32_t>(path_of(i).size());
    if (size == 0) continue;
    std::uint32_t& number = path_of_row[parted.changed[i]];
    if (first[i] != i) {
      number = path_of_row[parted.changed[first[i]]];
      continue;
    }
    number = static_cast<std::uint32_t>(paths_.size());
    GrowthPath& added = paths_.emplace_back();
    added.first_function = next_function;
    added.functions = size;
    next_function += size;
    first_with_path.push_back(i);
  }
  resize_on_all_cores(functions_, next_function);
  for_each_block(paths_.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      std::ranges::copy(path_of(first_with_path[p]),
                        functions_.begin() + static_cast<std::ptrdiff_t>(paths_[p].first_function));
    }
  });
  // A row without a path has no number: it is found under any, and then its path differs.
  parted.table.renumber([&](std::uint32_t i) {
    const std::uint32_t number = path_of_row[parted.changed[i]];
    return number == kNone ? 0 : number;
  });
}

/// Of what did not change only the bytes matter, unless it shares a path with what did.
void GrowthPaths::read_level(const Parted& parted, std::vector<std::uint32_t>& path_of_row) {
  const std::size_t keys = parted.by_key.size();
  const auto find = [&](std::span<const std::uint32_t> path) {
    return parted.table.find(hash_of(path),
                             [&](std::uint32_t number) { return std::ranges::equal(functions(paths_[number]), path); });
  };
  std::vector<std::vector<double>> shares(keys < kBlockRows ? 1 : kShares);
  for_each_parallel(shares.size(), keys, [&](std::size_t share) {
    std::vector<double>& through = shares[share];
    through.assign(function_count_, 0);
    std::vector<std::uint32_t> path;
    const std::size_t last = keys * (share + 1) / shares.size();
    for (std::size_t key = keys * share / shares.size(); key < last; ++key) {
      const auto& [peak, row, changed] = parted.by_key[key];
      if (changed || row == kNone) continue;
      report_->view->own_path(report_->stacks[key], path);
      if (path.empty()) continue;
      path_of_row[row] = find(path);
      if (path_of_row[row] != kNone) continue;
      for (const std::uint32_t function : path) through[function] += peak;
    }
  });
  level_ = std::move(shares.front());
  for (std::size_t share = 1; share < shares.size(); ++share) {
    for (std::size_t function = 0; function < function_count_; ++function) level_[function] += shares[share][function];
  }
}

bool GrowthPaths::is_inlined(std::uint32_t row, std::uint32_t function) const {
  if (!inlined_.contains(report_->rows[row].key)) return false;
  std::vector<std::uint32_t> path;
  report_->view->own_path(report_->stacks[report_->rows[row].key], path);
  return std::find(path.begin(), path.end(), function) == path.end();
}

void GrowthPaths::take_rise(std::size_t p, double rise) { paths_[p].growth = whole_number(rise); }

void GrowthPaths::add_up(std::span<const std::uint32_t> path_of_row) {
  for (std::uint32_t r = 0; r < path_of_row.size(); ++r) {
    if (path_of_row[r] == kNone) continue;
    const GrowthRow& row = report_->rows[r];
    GrowthPath& sum = paths_[path_of_row[r]];
    sum.growth = bounded_sum(sum.growth, row.value.growth());
    sum.current += static_cast<double>(row.value.current);
    sum.peak += peak_of(*report_, r);
    if (std::isfinite(row.error)) sum.variance += row.error * row.error;
    ++sum.rows;
  }
  std::uint32_t next = 0;
  for (GrowthPath& path : paths_) {
    path.first_row = next;
    next += path.rows;
    path.rows = 0;
  }
  rows_.resize(next);
  for (std::uint32_t r = 0; r < path_of_row.size(); ++r) {
    if (path_of_row[r] == kNone) continue;
    GrowthPath& path = paths_[path_of_row[r]];
    rows_[path.first_row + path.rows++] = r;
  }
}

}  // namespace snapdiff::story
