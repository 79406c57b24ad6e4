#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/number_rows.hpp"

namespace snapdiff::formats::heap_text {

/// Names that the dump itself gives for addresses (Go's comments, the symbolized wrapper).
class SymbolTable {
 public:
  struct Line {
    FunctionId function{};
    std::int32_t line = 0;
  };

  /// Innermost function first. The first entry for an address stays.
  void add(std::uint64_t address, std::span<const Line> innermost_first) {
    const std::size_t known = table_.size();
    if (table_.intern(address) < known) return;
    lines_.insert(lines_.end(), innermost_first.begin(), innermost_first.end());
    begin_.push_back(lines_.size());
  }

  /// What is known of the return address `address`. Writers key by the address inside the call
  /// (one less) or by the return address itself, depending on their age.
  std::span<const Line> find(std::uint64_t address) const {
    std::uint32_t row = table_.find(address - 1);
    if (row == NumberRows::kAbsent) row = table_.find(address);
    if (row == NumberRows::kAbsent) return {};
    return std::span(lines_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }
  bool contains(std::uint64_t address) const { return table_.find(address) != NumberRows::kAbsent; }
  bool empty() const { return begin_.size() == 1; }

 private:
  NumberRows table_;
  std::vector<Line> lines_;
  std::vector<std::uint64_t> begin_{0};
};

}  // namespace snapdiff::formats::heap_text
