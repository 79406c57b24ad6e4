#include "analyzer/cli/recording.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/series_identity.hpp"
#include "analyzer/cli/store_in_turn.hpp"

namespace snapdiff::cli {

StoreChoice store_for_reading(const Options& options, const Loaded& loaded) {
  StoreChoice choice = choose_store(options);
  const bool any_file = std::any_of(loaded.snapshots.begin(), loaded.snapshots.end(),
                                    [](const LoadedSnapshot& item) { return !item.stored; });
  if (any_file && !choice.is_explicit) return {":memory:", false};
  return choice;
}

Recording::Recording(StoreChoice choice, const Loaded& loaded, const DiffOptions& options, const Terminal& terminal,
                     std::string series)
    : choice_(std::move(choice)),
      snapshots_(loaded.snapshots),
      options_(options),
      series_(std::move(series)),
      named_(loaded.named),
      on_terminal_(terminal.stderr_is_terminal),
      gathered_(loaded.gathered),
      quiet_(!terminal.stdout_is_terminal && !terminal.stderr_is_terminal) {
  for (const LoadedSnapshot& s : snapshots_) any_new_ = any_new_ || !s.stored;
  if (!choice_.in_memory()) thread_ = std::jthread([this] { work(); });
}

Recording::~Recording() { decide(false); }

void Recording::decide(bool wanted) {
  if (!std::exchange(decided_, true)) decision_.set_value(wanted);
}

void Recording::work() {
  std::error_code ignored;
  const bool was_there = std::filesystem::exists(choice_.path, ignored);
  std::optional<store::Store> prepared = draft();
  if (!decision_.get_future().get()) return;
  if (!prepared || !prepared->publish()) {
    prepared.reset();
    ids_.clear();
    status_ = store_all();
  }
  created_ = !was_there && added_ && status_;
}

std::optional<store::Store> Recording::draft() {
  std::error_code ignored;
  const auto exists = [&] { return std::filesystem::exists(choice_.path, ignored); };
  if (exists() || std::any_of(snapshots_.begin(), snapshots_.end(), [](const auto& s) { return s.stored; }))
    return std::nullopt;
  Result<store::Store> store = store::Store::draft(choice_.path);
  if (!store || !add_all(*store)) return std::nullopt;
  return *std::move(store);
}

Status Recording::add_all(store::Store& store) {
  SeriesNames names(store);
  std::vector<std::string> series(snapshots_.size(), series_);
  for (std::size_t i = 0; i < snapshots_.size(); ++i) {
    if (!series_.empty() || snapshots_[i].stored) continue;
    Result<std::string> name = gathered_ ? names.name_for(snapshots_[i]) : names.name_beside(snapshots_[i]);
    if (!name) return std::move(name).error();
    series[i] = *std::move(name);
  }
  std::vector<std::pair<const Snapshot*, std::string>> fresh;
  for (std::size_t i = 0; i < snapshots_.size(); ++i) {
    if (!snapshots_[i].stored) fresh.emplace_back(snapshots_[i].ref.snapshot.get(), std::move(series[i]));
  }
  const Result<std::vector<store::Imported>> imported = store_in_turn(store, fresh);
  if (!imported) return imported.error();
  auto next = imported->begin();
  for (const LoadedSnapshot& s : snapshots_) {
    added_ = added_ || (!s.stored && !next->was_present);
    ids_.push_back(s.stored ? *s.stored : (next++)->id);
  }
  if (named_) {
    std::set<const Dictionary*> done;
    for (const LoadedSnapshot& s : snapshots_) {
      const Dictionary* const dictionary = s.ref.snapshot->dictionary.get();
      if (!done.insert(dictionary).second) continue;
      if (const Result<std::size_t> taken = store.take_names(*dictionary); !taken) return taken.error();
    }
  }
  return remember(store);
}

Status Recording::remember(store::Store& store) {
  const Result<std::optional<SnapshotId>> newest = store.newest();
  if (!newest) return newest.error();
  return store.remember({ids_, options_to_json(options_, *newest)});
}

Status Recording::store_all() {
  Result<store::Store> store =
      store::Store::open(choice_.path, any_new_ ? store::Access::create : store::Access::write);
  if (!store) return std::move(store).error();
  return add_all(*store);
}

void Recording::tell_where() const {
  std::string refs;
  const auto name = [&](std::size_t i) { return "@" + std::to_string(static_cast<std::int64_t>(ids_[i])); };
  if (ids_.size() <= 4) {
    for (std::size_t i = 0; i < ids_.size(); ++i) refs += (i == 0 ? "" : ", ") + name(i);
  } else {
    refs = name(0) + " to " + name(ids_.size() - 1);
  }
  // Who named a store knows what to do with it.
  const std::string next = choice_.is_explicit || quiet_ ? "" : ". Next: snapdiff render --pdf";
  say((created_ ? "created " : "stored in ") + escape_for_terminal(choice_.path) +
      (created_ ? ": stored as " : " as ") + refs + next);
}

int Recording::finish() {
  if (!thread_.joinable()) return kExitDone;
  decide(true);
  in_stage(on_terminal_, "storing", [&] { thread_.join(); });
  if (!status_) {
    if (!any_new_) return kExitDone;  // only the memory of this comparison is missing
    if (choice_.is_explicit) {
      say_error(status_.error());
      return exit_code_of(status_.error().code);
    }
    say("warning: not stored: " + escape_for_terminal(words_of(status_.error())));
    return kExitDone;
  }
  if (created_ || (added_ && !quiet_)) tell_where();
  return kExitDone;
}

}  // namespace snapdiff::cli
