#include "formats/v8/type_table.hpp"

#include <array>

#include "formats/input/graph_parts.hpp"
#include "formats/input/type_row.hpp"

namespace snapdiff::formats::v8 {
namespace {

constexpr std::array<std::string_view, 10> kUnnamed = {
    "hidden",       "array", "string", "code", "regexp", "number", "symbol", "bigint", "concatenated string",
    "sliced string"};

std::uint64_t hash_of(std::uint32_t a, std::uint32_t b) { return mix64((static_cast<std::uint64_t>(a) << 32) | b); }

}  // namespace

TypeTable::TypeTable(const std::vector<std::string>& node_types) : node_types_(node_types) {
  for (const std::string& type : node_types) {
    if (std::find(kUnnamed.begin(), kUnnamed.end(), type) == kUnnamed.end()) {
      unnamed_row_.push_back(kNamed);
    } else {
      unnamed_row_.push_back(static_cast<std::uint32_t>(rows_.size()));
      rows_.push_back({.type = static_cast<std::uint32_t>(unnamed_row_.size() - 1)});
    }
  }
}

std::uint32_t TypeTable::add(std::uint32_t type, std::uint32_t name, std::int64_t bytes, bool& fits) {
  std::uint32_t row = unnamed_row_[type];
  if (row == kNamed) {
    const std::uint64_t hash = hash_of(type, name);
    row = index_.find(hash, [&](std::uint32_t r) { return rows_[r].name == name && rows_[r].type == type; });
    if (row == HashIndex::kAbsent) {
      row = static_cast<std::uint32_t>(rows_.size());
      rows_.push_back({.type = type, .name = name});
      index_.insert(hash, row);
    }
  }
  ++rows_[row].count;
  fits = checked_add(rows_[row].bytes, bytes, rows_[row].bytes);
  return row;
}

/// Objects by their constructor's name; others say what they are, since a class `Session` is a closure, too.
std::string TypeTable::shown(const Row& kind, const SnapshotBuilder& builder, StringId name) const {
  const std::string& type = node_types_[kind.type];
  const std::string text(builder.dictionary().strings[name]);
  if (text.empty()) return "(" + type + ")";
  return type == "object" ? text : text + " (" + type + ")";
}

std::vector<std::uint32_t> TypeTable::merge(SnapshotBuilder& builder, ObjectTypeTable& out,
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

}  // namespace snapdiff::formats::v8
