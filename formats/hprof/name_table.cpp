#include "formats/hprof/name_table.hpp"

namespace snapdiff::formats::hprof {

void NameTable::add(std::uint64_t id, std::string_view text) {
  const std::uint64_t hash = mix64(id);
  if (index_.find(hash, [&](std::uint32_t row) { return id_[row] == id; }) != HashIndex::kAbsent) return;
  const StringId row = texts_.append(text);
  id_.push_back(id);
  index_.insert(hash, static_cast<std::uint32_t>(row));
}

std::optional<std::string_view> NameTable::find(std::uint64_t id) const {
  const std::uint32_t row = index_.find(mix64(id), [&](std::uint32_t r) { return id_[r] == id; });
  if (row == HashIndex::kAbsent) return std::nullopt;
  return texts_[StringId{row}];
}

}  // namespace snapdiff::formats::hprof
