#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/pprof/profile_tables.hpp"

namespace snapdiff::formats::pprof {

/// Label sets by their bytes in the file: a million samples share few sets, and only each new one
/// is decoded.
class LabelSets {
 public:
  /// Row of the set written as `fields` (its Label fields with tags, one after the other), which
  /// are in the sample at `offset`. Equal bytes, equal row; row 0 is no labels.
  std::uint32_t row_of(std::string_view fields, std::uint64_t offset);
  std::size_t size() const { return hash_.size(); }
  /// What was given to row_of() when it returned the row first; not of row 0.
  std::string_view fields(std::uint32_t row) const {
    return std::string_view(bytes_).substr(end_[row - 1], end_[row] - end_[row - 1]);
  }
  std::uint64_t offset(std::uint32_t row) const { return offset_[row]; }

  /// The set in the model; decodes it when first asked.
  /// Throws Failure.
  LabelSetId resolve(std::uint32_t row, const ProfileTables& tables, SnapshotBuilder& builder);

  /// Whether a set that was resolved marks the sample as that of a base ("pprof::base").
  bool found_base() const { return found_base_; }

 private:
  LabelSetId decode(std::uint32_t row, const ProfileTables& tables, SnapshotBuilder& builder);

  std::string bytes_;
  std::vector<std::uint64_t> end_{0};     // by row: bytes_[end_[row - 1] .. end_[row])
  std::vector<std::uint64_t> offset_{0};  // by row: of the first sample that has it
  std::vector<Hash128> hash_{Hash128{}};
  std::vector<std::uint32_t> resolved_{0};
  HashIndex index_;
  bool found_base_ = false;
};

}  // namespace snapdiff::formats::pprof
