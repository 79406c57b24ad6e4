#pragma once

#include <array>
#include <tuple>

#include "formats/input/graph_parts.hpp"
#include "formats/input/type_row.hpp"

namespace snapdiff::formats::v8 {

constexpr std::array<std::string_view, 10> kUnnamed = {
    "hidden",       "array", "string", "code", "regexp", "number", "symbol", "bigint", "concatenated string",
    "sliced string"};

/// Kinds of nodes while their names are still rows of a string table that comes later. A kind is (type, name) for
/// objects, closures and the like; the type alone where the name is the contents of one value (strings, numbers)
/// or of the machine's own book-keeping.
class TypeTable {
 public:
  explicit TypeTable(const std::vector<std::string>& node_types) : node_types_(node_types) {
    for (const std::string& type : node_types) {
      if (std::find(kUnnamed.begin(), kUnnamed.end(), type) == kUnnamed.end()) {
        unnamed_row_.push_back(kNamed);
      } else {
        unnamed_row_.push_back(static_cast<std::uint32_t>(rows_.size()));
        rows_.push_back({.type = static_cast<std::uint32_t>(unnamed_row_.size() - 1)});
      }
    }
  }

  /// Whether nodes of this type are distinguished by name.
  bool is_named(std::uint64_t type) const { return unnamed_row_[type] == kNamed; }

  /// Counts a node of `bytes` and gives its row. False in `fits` when a sum leaves 64 bits.
  std::uint32_t add(std::uint32_t type, std::uint32_t name, std::int64_t bytes, bool& fits) {
    std::uint32_t row = unnamed_row_[type];
    if (row == kNamed) {
      bool is_new = false;
      std::tie(row, is_new) =
          index_.intern(mix64(std::uint64_t{type} << 32 | name), rows_.size(),
                        [&](std::uint32_t r) { return rows_[r].name == name && rows_[r].type == type; });
      if (is_new) rows_.push_back({.type = type, .name = name});
    }
    ++rows_[row].count;
    fits = checked_add(rows_[row].bytes, bytes, rows_[row].bytes);
    return row;
  }

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
  /// Objects by their constructor's name; others say what they are, since a class `Session` is a closure, too.
  std::string shown(const Row& kind, const SnapshotBuilder& builder, StringId name) const {
    const std::string& type = node_types_[kind.type];
    const std::string text(builder.dictionary().strings[name]);
    if (text.empty()) return "(" + type + ")";
    return type == "object" ? text : text + " (" + type + ")";
  }

  std::vector<std::uint32_t> merge(SnapshotBuilder& builder, ObjectTypeTable& out,
                                   const std::vector<StringId>& names) const {
    std::vector<std::uint32_t> graph_row(rows_.size(), 0);
    TypeRows seen;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const Row& kind = rows_[row];
      if (kind.count == 0) continue;
      const std::string name = shown(kind, builder, names[row]);
      const std::int64_t values[] = {kind.count - kind.elsewhere, kind.bytes - kind.bytes_elsewhere};
      if (values[0] > 0) add_type_row(builder, name, values);

      const StringId kind_id = builder.string(node_types_[kind.type]);
      const StringId name_id = names[row] == StringId{} ? builder.string(name) : names[row];
      graph_row[row] = seen.row(out, kind_id, name_id);
    }
    return graph_row;
  }

  const std::vector<std::string>& node_types_;
  std::vector<std::uint32_t> unnamed_row_;  // by type: its only row, or kNamed
  std::vector<Row> rows_;
  HashIndex index_;
};

}  // namespace snapdiff::formats::v8
