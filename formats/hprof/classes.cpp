#include "formats/hprof/classes.hpp"

namespace snapdiff::formats::hprof {

std::uint32_t ClassTable::row_of(std::uint64_t id) {
  const std::uint32_t row = ids_.intern(id);
  if (row == rows_.size()) rows_.emplace_back().id = id;
  return row;
}

std::optional<std::uint32_t> ClassTable::find(std::uint64_t id) const {
  const std::uint32_t row = ids_.find(id);
  return row == NumberRows::kAbsent ? std::nullopt : std::optional(row);
}

Summed ClassTable::sum(std::uint32_t row) {
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

std::span<const ReferenceField> ClassTable::layout(std::uint32_t row) {
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

}  // namespace snapdiff::formats::hprof
