#include "analyzer/cli/recording.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/progress.hpp"

namespace snapdiff::cli {

Recording::Recording(StoreChoice choice, const Loaded& loaded, const DiffOptions& options, const Terminal& terminal)
    : choice_(std::move(choice)),
      snapshots_(loaded.snapshots),
      options_(options),
      named_(loaded.named),
      on_terminal_(terminal.stderr_is_terminal),
      quiet_(!terminal.stdout_is_terminal && !terminal.stderr_is_terminal) {
  for (const LoadedSnapshot& s : snapshots_) any_new_ = any_new_ || !s.stored;
  if (!choice_.in_memory()) thread_ = std::jthread([this] { work(); });
}

Recording::~Recording() { decide(false); }

void Recording::decide(bool wanted) {
  if (!std::exchange(decided_, true)) decision_.set_value(wanted);
}

void Recording::work() {
  std::optional<store::Store> prepared = draft();
  if (!decision_.get_future().get() || (prepared && prepared->publish())) return;
  prepared.reset();
  ids_.clear();
  status_ = store_all();
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
  const std::string series = default_series(snapshots_);
  const auto is_small = [](const LoadedSnapshot& s) {
    return !s.stored && s.ref.snapshot->samples.size() == 0 && s.ref.snapshot->allocator == nullptr;
  };
  if (snapshots_.size() > 1 && std::all_of(snapshots_.begin(), snapshots_.end(), is_small)) {
    std::vector<const Snapshot*> together;
    for (const LoadedSnapshot& s : snapshots_) together.push_back(s.ref.snapshot.get());
    const Result<std::vector<store::Imported>> imported = store.add_all(together, series);
    if (!imported) return imported.error();
    for (const store::Imported& one : *imported) ids_.push_back(one.id);
    return store.remember({ids_, options_to_json(options_)});
  }
  for (const LoadedSnapshot& s : snapshots_) {
    if (s.stored) {
      ids_.push_back(*s.stored);
      continue;
    }
    const Result<store::Imported> imported = store.add(*s.ref.snapshot, series);
    if (!imported) return imported.error();
    ids_.push_back(imported->id);
  }
  if (named_) {
    std::set<const Dictionary*> done;
    for (const LoadedSnapshot& s : snapshots_) {
      const Dictionary* const dictionary = s.ref.snapshot->dictionary.get();
      if (!done.insert(dictionary).second) continue;
      if (const Result<std::size_t> taken = store.take_names(*dictionary); !taken) return taken.error();
    }
  }
  return store.remember({ids_, options_to_json(options_)});
}

Status Recording::store_all() {
  Result<store::Store> store =
      store::Store::open(choice_.path, any_new_ ? store::Access::create : store::Access::write);
  if (!store) return std::move(store).error();
  return add_all(*store);
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
  if (any_new_ && !quiet_) {
    std::string refs;
    const auto name = [&](std::size_t i) { return "@" + std::to_string(static_cast<std::int64_t>(ids_[i])); };
    if (ids_.size() <= 4) {
      for (std::size_t i = 0; i < ids_.size(); ++i) refs += (i == 0 ? "" : ", ") + name(i);
    } else {
      refs = name(0) + " to " + name(ids_.size() - 1);
    }
    const std::string where = choice_.is_explicit ? " --db " + choice_.path : "";
    say("stored in " + escape_for_terminal(choice_.path) + " as " + refs + ". Next: snapdiff render --pdf" +
        escape_for_terminal(where));
  }
  return kExitDone;
}

}  // namespace snapdiff::cli
