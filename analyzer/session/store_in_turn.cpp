#include "analyzer/session/store_in_turn.hpp"

namespace snapdiff::session {
namespace {

/// Of which a file may hold very many: a log's, or those with few rows.
bool is_small(const Snapshot& snapshot) {
  constexpr std::size_t kFewRows = 256;
  return snapshot.samples.size() <= kFewRows && snapshot.allocator == nullptr;
}

/// In one transaction, which holds a lock meanwhile.
constexpr std::size_t kRowsTogether = 65'536;

}  // namespace

Result<std::vector<store::Imported>> store_in_turn(
    store::Store& store, const std::vector<std::pair<const Snapshot*, std::string>>& snapshots) {
  std::vector<store::Imported> all;
  for (std::size_t i = 0; i < snapshots.size();) {
    const std::string& series = snapshots[i].second;
    std::vector<const Snapshot*> together{snapshots[i].first};
    const bool small = is_small(*together.front());
    std::size_t rows = together.front()->samples.size();
    for (++i; small && i < snapshots.size() && snapshots[i].second == series && is_small(*snapshots[i].first); ++i) {
      rows += snapshots[i].first->samples.size();
      if (rows > kRowsTogether) break;
      together.push_back(snapshots[i].first);
    }
    const Result<std::vector<store::Imported>> imported = store.add_all(together, series);
    if (!imported) return imported.error();
    all.insert(all.end(), imported->begin(), imported->end());
  }
  return all;
}

}  // namespace snapdiff::session
