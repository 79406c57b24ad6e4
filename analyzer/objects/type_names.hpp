#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/retention.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::objects {

/// Texts of several snapshots in one id space; 0 is "".
class Names {
 public:
  Names() : texts_{""}, hashes_{hash_bytes("")} { index_.insert(keyed_hash(hashes_[0]), 0); }
  std::uint32_t id(std::string_view text) {
    const Hash128 hash = hash_bytes(text);
    const std::uint32_t row = index_.find(keyed_hash(hash), [&](std::uint32_t r) { return texts_[r] == text; });
    if (row != HashIndex::kAbsent) return row;
    texts_.emplace_back(text);
    hashes_.push_back(hash);
    const auto made = static_cast<std::uint32_t>(texts_.size() - 1);
    index_.insert(keyed_hash(hash), made);
    return made;
  }
  const std::string& text(std::uint32_t id) const { return texts_[id]; }
  /// The same for the same text, whatever came before it.
  std::uint64_t hash(std::uint32_t id) const { return hashes_[id].low; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  std::vector<Hash128> hashes_;
  HashIndex index_;
};

/// Per row of the graph's types the id of its type_text().
inline std::vector<std::uint32_t> type_names(const ObjectGraph& graph, const Dictionary& d, Names& names) {
  std::vector<std::uint32_t> out;
  out.reserve(graph.types.size());
  for (std::size_t row = 0; row < graph.types.size(); ++row)
    out.push_back(names.id(type_text(d.strings[graph.types.kind[row]], d.strings[graph.types.name[row]])));
  return out;
}

/// Errors: usage, where a snapshot has no graph.
Status check_graphs(const std::vector<SnapshotRef>& snapshots);

/// The rows that were found last, by three numbers: objects near each other ask for few.
class RecentRows {
 public:
  static constexpr std::uint32_t kAbsent = 0xffffffffU;
  /// Where the row of these numbers is kept: its own, or kAbsent.
  std::uint32_t& row(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    Entry& entry = entries_[(a + b * 5 + c * 17) % entries_.size()];
    if (entry.a != a || entry.b != b || entry.c != c) entry = {a, b, c, kAbsent};
    return entry.row;
  }

 private:
  struct Entry {
    std::uint32_t a = 0, b = 0, c = 0;
    std::uint32_t row = kAbsent;
  };
  std::array<Entry, 64> entries_;
};

/// Bytes of one object, 0 where the format has no sizes.
inline std::int64_t bytes_of(const ObjectGraph& graph, std::size_t node) {
  return graph.self_bytes.empty() ? 0 : graph.self_bytes[node];
}

}  // namespace snapdiff::objects
