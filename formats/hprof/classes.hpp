#pragma once

#include "formats/hprof/object_sizes.hpp"
#include "formats/input/number_rows.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::hprof {

inline constexpr std::uint8_t kObject = 2;  ///< type of a value: an id

/// Bytes of a value of this type in a dump; 0 for types that do not exist.
inline std::uint32_t value_bytes(std::uint8_t type, std::uint32_t id_bytes) {
  switch (type) {
    case kObject: return id_bytes;
    case 4:             // boolean
    case 8: return 1;   // byte
    case 5:             // char
    case 9: return 2;   // short
    case 6:             // float
    case 10: return 4;  // int
    case 7:             // double
    case 11: return 8;  // long
    default: return 0;
  }
}

/// What an edge is called: a field, by the id of its name and the class that has it.
struct FieldName {
  std::uint64_t name = 0;
  std::uint32_t class_row = 0;
};

/// A field of instances that holds a reference.
struct ReferenceField {
  std::uint32_t offset = 0;  ///< in the bytes of an instance
  std::uint32_t label = 0;   ///< row of ClassTable::field_name
};

/// What the file says of one class, in the order in which it says it.
struct ClassRow {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint64_t id = 0;
  std::uint64_t name = 0;   ///< id of a string; has_name
  std::uint64_t super = 0;  ///< id of a class, 0 for none
  bool has_name = false;
  bool is_dumped = false;
  bool is_laid_out = false;
  bool is_summed = false;
  bool has_loader = false;           ///< not the virtual machine's own: the class goes when nothing holds its loader
  std::uint32_t own_bytes = 0;       ///< fields of its own
  std::uint32_t own_references = 0;  ///< how many of those are references
  OwnFields own;                     ///< the same fields by their size
  std::uint32_t begin = 0;           ///< own references: rows begin .. begin + own_references of ClassTable's
  std::uint64_t bytes = 0;           ///< with those of all ancestors; is_summed
  std::uint64_t references = 0;      ///< as bytes
  FieldEnds ends{};                  ///< as bytes, with the gaps
  std::uint32_t holder = kNone;      ///< nearest ancestor with references of its own; is_summed
  std::size_t layout_begin = 0;      ///< is_laid_out
  std::size_t layout_end = 0;
};

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

enum class Summed : std::uint8_t { done, ancestor_missing, circle };

class ClassTable {
 public:
  /// The row of this id, new when it was not heard of.
  std::uint32_t row_of(std::uint64_t id) {
    const std::uint32_t row = ids_.intern(id);
    if (row == rows_.size()) rows_.emplace_back().id = id;
    return row;
  }

  std::optional<std::uint32_t> find(std::uint64_t id) const {
    const std::uint32_t row = ids_.find(id);
    return row == NumberRows::kAbsent ? std::nullopt : std::optional(row);
  }

  ClassRow& operator[](std::uint32_t row) { return rows_[row]; }
  const ClassRow& operator[](std::uint32_t row) const { return rows_[row]; }
  std::size_t size() const { return rows_.size(); }

  /// A label for a field that holds a reference.
  std::uint32_t add_field(std::uint64_t name, std::uint32_t class_row) {
    field_name.push_back({name, class_row});
    return static_cast<std::uint32_t>(field_name.size() - 1);
  }

  /// A reference field of the class that is being read, at `offset` of its own bytes.
  void add_own_reference(std::uint32_t row, std::uint32_t offset, std::uint32_t label) {
    if (rows_[row].own_references++ == 0) rows_[row].begin = static_cast<std::uint32_t>(own_.size());
    own_.push_back({offset, label});
  }

  /// Fills bytes and references of a class from its ancestors. Each class is looked at once.
  Summed sum(std::uint32_t row) {
    if (rows_[row].is_summed) return Summed::done;
    chain_.clear();
    for (std::uint32_t at = row; !rows_[at].is_summed;) {
      if (!rows_[at].is_dumped) return Summed::ancestor_missing;
      if (chain_.size() == rows_.size()) return Summed::circle;
      chain_.push_back(at);
      if (rows_[at].super == 0) break;
      const std::optional<std::uint32_t> super = find(rows_[at].super);
      if (!super) return Summed::ancestor_missing;
      at = *super;
    }
    for (std::size_t i = chain_.size(); i-- > 0;) {
      ClassRow& each = rows_[chain_[i]];
      each.bytes = each.own_bytes;
      each.references = each.own_references;
      FieldEnds begin = field_starts();
      if (each.super != 0) {
        const ClassRow& super = rows_[*find(each.super)];
        each.bytes += super.bytes;
        each.references += super.references;
        begin = super.ends;
        each.holder = super.own_references > 0 ? *find(each.super) : super.holder;
      }
      each.ends = field_ends(begin, each.own);
      each.is_summed = true;
    }
    return Summed::done;
  }

  /// The reference fields of instances, own ones first, then those of the ancestors; sum() must be done.
  std::span<const ReferenceField> layout(std::uint32_t row) {
    ClassRow& of = rows_[row];
    if (!of.is_laid_out) {
      of.layout_begin = layout_.size();
      // Ancestors without references are passed by: a long line of them would cost each time.
      for (std::uint32_t at = row; at != ClassRow::kNone; at = rows_[at].holder) {
        const ClassRow& each = rows_[at];
        const auto before = static_cast<std::uint32_t>(of.bytes - each.bytes);
        for (std::uint32_t i = 0; i < each.own_references; ++i) {
          const ReferenceField& field = own_[each.begin + i];
          layout_.push_back({before + field.offset, field.label});
        }
      }
      of.layout_end = layout_.size();
      of.is_laid_out = true;
    }
    return std::span(layout_).subspan(of.layout_begin, of.layout_end - of.layout_begin);
  }

  std::vector<FieldName> field_name;

 private:
  std::vector<ClassRow> rows_;
  NumberRows ids_;
  std::vector<ReferenceField> own_;
  std::vector<ReferenceField> layout_;
  std::vector<std::uint32_t> chain_;
};

}  // namespace snapdiff::formats::hprof
