#include "analyzer/cli/recording.hpp"

#include <utility>

#include "analyzer/cli/exit_codes.hpp"

namespace snapdiff::cli {

Recording::Recording(StoreChoice choice, const Loaded& loaded, const DiffOptions& options, const Terminal& terminal)
    : choice_(std::move(choice)),
      snapshots_(loaded.snapshots),
      options_(options),
      quiet_(!terminal.stdout_is_terminal && !terminal.stderr_is_terminal) {
  for (const LoadedSnapshot& s : snapshots_) any_new_ = any_new_ || !s.stored;
  if (!choice_.in_memory()) thread_ = std::jthread([this] { work(); });
}

void Recording::work() { status_ = store_all(); }

Status Recording::store_all() {
  Result<store::Store> store =
      store::Store::open(choice_.path, any_new_ ? store::Access::create : store::Access::write);
  if (!store) return std::move(store).error();
  const std::string series = default_series(snapshots_);
  for (const LoadedSnapshot& s : snapshots_) {
    if (s.stored) {
      ids_.push_back(*s.stored);
      continue;
    }
    const Result<store::Imported> imported = store->add(*s.ref.snapshot, series);
    if (!imported) return imported.error();
    ids_.push_back(imported->id);
  }
  return store->remember({ids_, options_to_json(options_)});
}

int Recording::finish() {
  if (!thread_.joinable()) return kExitDone;
  thread_.join();
  if (!status_) {
    if (!any_new_) return kExitDone;  // only the memory of this comparison is missing
    if (choice_.is_explicit) {
      say_error(status_.error());
      return exit_code_of(status_.error().code);
    }
    say("warning: not stored: " + escape_for_terminal(status_.error().text()));
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
