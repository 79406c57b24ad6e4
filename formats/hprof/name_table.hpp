#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/input/number_rows.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::hprof {

/// Texts of the records `string` by their ids.
class NameTable {
 public:
  /// Of two texts under one id the first one stays.
  void add(std::uint64_t id, std::string_view text) {
    const std::size_t known = ids_.size();
    if (ids_.intern(id) == known) texts_.append(text);
  }
  std::optional<std::string_view> find(std::uint64_t id) const {
    const std::uint32_t row = ids_.find(id);
    if (row == NumberRows::kAbsent) return std::nullopt;
    return texts_[StringId{row + 1}];
  }

 private:
  StringTable texts_;  // row 0 is ""
  NumberRows ids_;
};

}  // namespace snapdiff::formats::hprof
