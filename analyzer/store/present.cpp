#include "analyzer/store/present.hpp"

namespace snapdiff::store {
namespace {

std::string key_of(std::string_view sha256, std::string_view name, std::int64_t position) {
  std::string key(sha256);
  key.append(" ").append(std::to_string(position)).append(" ").append(name);
  return key;
}

}  // namespace

Present::Present(sqlite3* db, const std::set<std::string_view>& sources, std::string_view series) {
  // The plus keeps SQLite from putting the value into the expression of the index, which it would then not use.
  Statement select(db,
                   "SELECT snapshot.id, source_name, position FROM source CROSS JOIN snapshot CROSS JOIN series WHERE"
                   " substr(sha256, 1, 16) = substr(?2, 1, 16) AND +sha256 = ?2 AND snapshot.source = source.id AND"
                   " series.id = snapshot.series AND series.name = ?1");
  for (const std::string_view sha256 : sources) {
    if (sha256.empty()) continue;
    select.bind_text(1, series).bind_text(2, sha256);
    while (select.step()) ids_.emplace(key_of(sha256, select.text(1), select.integer(2)), select.integer(0));
    select.reset();
  }
}

std::int64_t Present::find(const SnapshotFacts& facts) const {
  if (facts.source.sha256.empty()) return 0;
  const auto at = ids_.find(key_of(facts.source.sha256, facts.source.name, facts.position));
  return at == ids_.end() ? 0 : at->second;
}

void Present::add(const SnapshotFacts& facts, std::int64_t id) {
  if (!facts.source.sha256.empty()) ids_.emplace(key_of(facts.source.sha256, facts.source.name, facts.position), id);
}

}  // namespace snapdiff::store
