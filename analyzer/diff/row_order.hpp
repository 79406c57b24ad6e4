#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::diff {

struct SortItem {
  std::uint64_t key;
  std::uint32_t row;
};

/// By key, ascending; equal keys keep their order.
void sort_items(std::vector<SortItem>& items);

/// What rows are ordered by, smallest first.
struct RowKeys {
  std::vector<std::uint64_t> key;   ///< see SortKey
  std::vector<std::uint64_t> size;  ///< for rows of equal key: the larger one first, whichever side it is large on

  /// Room for `rows` rows. By name only their names count.
  void resize(SortKey by, std::size_t rows);
  void set(SortKey by, std::size_t row, const Change& value, const Change& objects);
};

/// The order of rows by their keys; runs of rows that are equal in them are handed to `sort_ties`, possibly from
/// several threads at once.
std::vector<std::uint32_t> order_rows(const RowKeys& keys,
                                      const std::function<void(std::span<std::uint32_t>)>& sort_ties);

}  // namespace snapdiff::diff
