#include "formats/pprof/label_sets.hpp"
#include "formats/input/read_failure.hpp"
#include "snapdiff/keyed_hash.hpp"

#include <limits>

namespace snapdiff::formats::pprof {
namespace {

constexpr std::uint32_t kUnresolved = std::numeric_limits<std::uint32_t>::max();

struct RawLabel {
  std::int64_t key = 0;
  std::int64_t text = 0;
  std::int64_t number = 0;
  std::int64_t unit = 0;
};

RawLabel read_label(protozero::pbf_reader in) {
  RawLabel out;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case varint_field(1): out.key = in.get_int64(); break;
      case varint_field(2): out.text = in.get_int64(); break;
      case varint_field(3): out.number = in.get_int64(); break;
      case varint_field(4): out.unit = in.get_int64(); break;
      default: skip_unknown(in, 4);
    }
  }
  return out;
}

/// What a number without a unit counts, by pprof's rule.
std::string_view default_unit(std::string_view key) {
  return key == "alignment" || key == "request" ? std::string_view("bytes") : key;
}

}  // namespace

std::uint32_t LabelSets::row_of(std::string_view fields, std::uint64_t offset) {
  if (fields.empty()) return 0;
  const Hash128 hash = hash_bytes(fields);
  const std::uint32_t row = index_.find(keyed_hash(hash), [&](std::uint32_t r) { return hash_[r] == hash; });
  if (row != HashIndex::kAbsent) return row;
  if (size() >= kUnresolved - 1) fail(ErrorCode::limit, "too many label sets: expected fewer than 2^32 - 2", offset);
  bytes_.append(fields);
  end_.push_back(bytes_.size());
  offset_.push_back(offset);
  hash_.push_back(hash);
  resolved_.push_back(kUnresolved);
  const auto id = static_cast<std::uint32_t>(size() - 1);
  index_.insert(keyed_hash(hash), id);
  return id;
}

LabelSetId LabelSets::resolve(std::uint32_t row, const ProfileTables& tables, SnapshotBuilder& builder) {
  if (resolved_[row] == kUnresolved) resolved_[row] = static_cast<std::uint32_t>(decode(row, tables, builder));
  return LabelSetId{resolved_[row]};
}

LabelSetId LabelSets::decode(std::uint32_t row, const ProfileTables& tables, SnapshotBuilder& builder) {
  const std::uint64_t offset = offset_[row];
  std::vector<Label> set;
  read_message(fields(row), offset, "label", [&](protozero::pbf_reader& in) {
    while (in.next()) {
      const RawLabel raw = read_label(in.get_message());
      const std::string_view key = tables.text(raw.key, offset);
      const std::string_view unit = tables.text(raw.unit, offset);
      Label label;
      label.key = builder.string(key);
      if (raw.text != 0) {
        label.text = builder.string(tables.text(raw.text, offset));
      } else if (raw.number != 0 || raw.unit != 0) {
        label.is_number = true;
        label.number = raw.number;
        label.unit = builder.string(unit.empty() ? default_unit(key) : unit);
      } else {
        builder.notes().add(Severity::info, "label without a value (or the number 0 without a unit) left out", offset);
        continue;
      }
      found_base_ = found_base_ || key == "pprof::base";
      set.push_back(label);
    }
  });
  return builder.labels(std::move(set));
}

}  // namespace snapdiff::formats::pprof
