#include "analyzer/session/recording.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/session/series_identity.hpp"
#include "analyzer/session/view_json.hpp"

namespace snapdiff::session {

StoreChoice store_for_reading(const Request& request, const Loaded& loaded) {
  StoreChoice choice = choose_store(request.store);
  const bool any_file = std::any_of(loaded.snapshots.begin(), loaded.snapshots.end(),
                                    [](const LoadedSnapshot& item) { return !item.stored; });
  if (any_file && !choice.is_explicit) return {":memory:", false};
  return choice;
}

Recording::Recording(StoreChoice choice, const Loaded& loaded, const DiffOptions& options, std::string series)
    : snapshots_(loaded.snapshots),
      options_(options),
      series_(std::move(series)),
      named_(loaded.named),
      gathered_(loaded.gathered) {
  done_.choice = std::move(choice);
  done_.is_kept = !done_.choice.in_memory();
  for (const LoadedSnapshot& s : snapshots_) done_.any_file = done_.any_file || !s.stored;
  if (done_.is_kept) thread_ = std::jthread([this] { work(); });
}

Recording::~Recording() { decide(false); }

void Recording::decide(bool wanted) {
  if (!std::exchange(decided_, true)) decision_.set_value(wanted);
}

void Recording::work() {
  std::error_code ignored;
  const bool was_there = std::filesystem::exists(done_.choice.path, ignored);
  std::optional<store::Store> prepared = draft();
  if (!decision_.get_future().get()) return;
  if (!prepared || !prepared->publish()) {
    prepared.reset();
    done_.ids.clear();
    done_.status = guarded([&] {
      const store::Access access = done_.any_file ? store::Access::create : store::Access::write;
      store::Store store = value_or_throw(store::Store::open(done_.choice.path, access));
      add_all(store);
    });
  }
  done_.created = !was_there && done_.added && done_.status;
}

std::optional<store::Store> Recording::draft() {
  std::error_code ignored;
  const auto exists = [&] { return std::filesystem::exists(done_.choice.path, ignored); };
  if (exists() || std::any_of(snapshots_.begin(), snapshots_.end(), [](const auto& s) { return s.stored; }))
    return std::nullopt;
  Result<store::Store> store = store::Store::draft(done_.choice.path);
  if (!store || !guarded([&] { add_all(*store); })) return std::nullopt;
  return *std::move(store);
}

void Recording::add_all(store::Store& store) {
  SeriesNames names(store);
  std::vector<std::string> series(snapshots_.size(), series_);
  for (std::size_t i = 0; i < snapshots_.size(); ++i) {
    if (!series_.empty() || snapshots_[i].stored) continue;
    series[i] = value_or_throw(gathered_ ? names.name_for(snapshots_[i]) : names.name_beside(snapshots_[i]));
  }
  std::vector<std::pair<const Snapshot*, std::string>> fresh;
  for (std::size_t i = 0; i < snapshots_.size(); ++i) {
    if (!snapshots_[i].stored) fresh.emplace_back(snapshots_[i].ref.snapshot.get(), std::move(series[i]));
  }
  const std::vector<store::Imported> imported = value_or_throw(store_in_turn(store, fresh));
  auto next = imported.begin();
  for (const LoadedSnapshot& s : snapshots_) {
    done_.added = done_.added || (!s.stored && !next->was_present);
    done_.ids.push_back(s.stored ? *s.stored : (next++)->id);
  }
  if (named_) {
    std::set<const Dictionary*> done;
    for (const LoadedSnapshot& s : snapshots_) {
      const Dictionary* const dictionary = s.ref.snapshot->dictionary.get();
      if (done.insert(dictionary).second) value_or_throw(store.take_names(*dictionary));
    }
  }
  value_or_throw(store.remember({done_.ids, options_to_json(options_, value_or_throw(store.newest()))}));
}

Recorded Recording::finish(const Watch& watch) {
  if (!thread_.joinable()) return done_;
  decide(true);
  in_stage(watch, "storing", [&] { thread_.join(); });
  return std::move(done_);
}

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
