#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "snapdiff/hash_index.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::hprof {

/// Texts of the records `string` by their ids.
class NameTable {
 public:
  /// Of two texts under one id the first one stays.
  void add(std::uint64_t id, std::string_view text);
  std::optional<std::string_view> find(std::uint64_t id) const;

 private:
  StringTable texts_;
  std::vector<std::uint64_t> id_{0};  // by row of texts_, whose row 0 is ""
  HashIndex index_;
};

}  // namespace snapdiff::formats::hprof
