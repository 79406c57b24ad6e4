#pragma once

#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/snapshot_builder.hpp"

namespace snapdiff::formats::v8 {

/// Kinds of nodes while their names are still rows of a string table that comes later. A kind is (type, name) for
/// objects, closures and the like; the type alone where the name is the contents of one value (strings, numbers)
/// or of the machine's own book-keeping.
class TypeTable {
 public:
  explicit TypeTable(const std::vector<std::string>& node_types);

  /// Whether nodes of this type are distinguished by name.
  bool is_named(std::uint64_t type) const { return unnamed_row_[type] == kNamed; }

  /// Counts a node of `bytes` and gives its row. False in `fits` when a sum leaves 64 bits.
  std::uint32_t add(std::uint32_t type, std::uint32_t name, std::int64_t bytes, bool& fits);

  /// Of the nodes of a row these get rows of their own, which the caller adds.
  void leave_out(std::uint32_t row, std::int64_t count, std::int64_t bytes) {
    rows_[row].elsewhere += count;
    rows_[row].bytes_elsewhere += bytes;
  }
  /// The name of the nodes of a row.
  template <class StringOf>
  std::string called(std::uint32_t row, const SnapshotBuilder& builder, StringOf string_of) const {
    const Row& kind = rows_[row];
    return shown(kind, builder, unnamed_row_[kind.type] == kNamed ? string_of(kind.name) : StringId{});
  }

  /// Rows of the graph's table for the rows of this one: kinds whose names turn out equal become one.
  /// `string_of` gives the text of a row of the string table. Adds the snapshot's rows, too.
  template <class StringOf>
  std::vector<std::uint32_t> finish(SnapshotBuilder& builder, ObjectTypeTable& out, StringOf string_of) const {
    std::vector<StringId> names;
    names.reserve(rows_.size());
    for (const Row& row : rows_) names.push_back(unnamed_row_[row.type] == kNamed ? string_of(row.name) : StringId{});
    return merge(builder, out, names);
  }

 private:
  struct Row {
    std::uint32_t type = 0;
    std::uint32_t name = 0;
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    std::int64_t elsewhere = 0, bytes_elsewhere = 0;  // within the two above
  };
  static constexpr std::uint32_t kNamed = 0xffffffffU;
  std::string shown(const Row& kind, const SnapshotBuilder& builder, StringId name) const;
  std::vector<std::uint32_t> merge(SnapshotBuilder& builder, ObjectTypeTable& out,
                                   const std::vector<StringId>& names) const;

  const std::vector<std::string>& node_types_;
  std::vector<std::uint32_t> unnamed_row_;  // by type: its only row, or kNamed
  std::vector<Row> rows_;
  HashIndex index_;
};

}  // namespace snapdiff::formats::v8
