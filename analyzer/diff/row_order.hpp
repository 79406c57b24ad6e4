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

/// Where a row goes, smallest first, ties left open; see SortKey.
std::uint64_t sort_key(SortKey by, const Change& value, const Change& objects);

/// The order of rows 0 .. keys.size() - 1 by their keys; runs of equal keys are handed to
/// `sort_ties`, possibly from several threads at once.
std::vector<std::uint32_t> order_rows(std::span<const std::uint64_t> keys,
                                      const std::function<void(std::span<std::uint32_t>)>& sort_ties);

}  // namespace snapdiff::diff
