#include "analyzer/session/compared.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/session/list_text.hpp"
#include "analyzer/session/naming.hpp"
#include "analyzer/session/series_identity.hpp"
#include "analyzer/session/view_json.hpp"

namespace snapdiff::session {
namespace {

// What was last compared, or the newest series where there is nothing of the kind.
struct Remembered {
  std::vector<SnapshotId> ids;
  std::string options_json;  // "": it was not compared
};

Remembered remembered(store::Store& store, Fallback fallback) {
  std::optional<store::Comparison> last = value_or_throw(store.last_comparison());
  const std::optional<SnapshotId> newest = value_or_throw(store.newest());
  if (!newest) fail({ErrorCode::usage, "the store is empty: nothing to compare", std::nullopt, store.path()});
  if (last && !last->snapshots.empty()) {
    // Pictures are of what was compared; for the others a series that came in since is the newer one.
    const std::optional<SnapshotId> then = newest_from_json(last->options_json);
    if (fallback == Fallback::with_view || !then || *then >= *newest)
      return Remembered{last->snapshots, last->options_json};
  }
  return Remembered{value_or_throw(store.series_with(*newest))->snapshots, ""};
}

// "snapdiff.db: last compared: web, 12 snapshots"
std::string choice_text(const std::string& path, const Loaded& loaded, bool was_compared) {
  std::set<std::string> names;
  for (const LoadedSnapshot& item : loaded.snapshots) names.insert(item.ref.series);
  return path + (was_compared ? ": last compared: " : ": newest series: ") + list_text({names.begin(), names.end()}) +
         ", " + counted(loaded.snapshots.size(), "snapshot");
}

Compared load_from_store(const DiffOptions& view, const Request& request, Fallback fallback, store::Parts parts) {
  store::Store store = value_or_throw(open_store(choose_store(request.store), store::Access::read));
  Compared compared;
  compared.options = view;
  const Remembered last = remembered(store, fallback);
  // The view that was asked for wins as a whole; an untouched one takes the remembered view.
  if (fallback == Fallback::with_view && !last.options_json.empty() && view == DiffOptions{})
    compared.options = options_from_json(last.options_json);
  compared.loaded = value_or_throw(load_stored(store, last.ids, request.watch, parts));
  compared.loaded.chosen = choice_text(store.path(), compared.loaded, !last.options_json.empty());
  value_or_throw(name_addresses(compared.loaded, request));
  return compared;
}

bool is_directory(const Operand& operand) {
  const auto* const path = std::get_if<PathOperand>(&operand.what);
  return path != nullptr && path->is_directory;
}

/// Nobody said that what it means is one series.
bool gathers(const Operand& operand) {
  return is_directory(operand) || std::holds_alternative<LabelOperand>(operand.what) ||
         std::holds_alternative<RangeOperand>(operand.what);
}

/// Several operands with directories among them: each is one side.
Loaded load_sides(const std::vector<Operand>& operands, const Request& request, store::Parts parts) {
  Loaded sides;
  for (const Operand& operand : operands) {
    Loaded loaded = value_or_throw(load_operands({operand}, request, is_directory(operand), parts));
    if (is_directory(operand)) {
      value_or_throw(keep_one_series(loaded, request.series, operand.text));
      const std::size_t count = loaded.snapshots.size();
      if (count > 1) {
        loaded.snapshots.erase(loaded.snapshots.begin(), loaded.snapshots.end() - 1);
        loaded.notes.add(Severity::info, operand.text + " means its last snapshot, " + loaded.snapshots.back().ref.ref +
                                             " of " + std::to_string(count));
      }
    }
    for (LoadedSnapshot& item : loaded.snapshots) sides.snapshots.push_back(std::move(item));
    for (LeftOut& one : loaded.left_out) sides.left_out.push_back(std::move(one));
    sides.notes.add_all(loaded.notes);
    sides.named = sides.named || loaded.named;
  }
  sides.order_note = "in the order given";
  return sides;
}

}  // namespace

Result<Compared> load_compared(const std::vector<std::string>& texts, const DiffOptions& view, const Request& request,
                               Fallback fallback, store::Parts parts, Several several) {
  return guarded([&]() -> Compared {
    if (texts.empty() && request.series.empty()) return load_from_store(view, request, fallback, parts);
    std::vector<Operand> operands = value_or_throw(parse_operands(texts));
    if (operands.empty()) operands.push_back(series_operand(request.series));
    const bool is_one = operands.size() == 1;
    const bool sides = !is_one && std::any_of(operands.begin(), operands.end(), is_directory);
    Loaded loaded =
        sides ? load_sides(operands, request, parts) : value_or_throw(load_operands(operands, request, is_one, parts));
    if (is_one && gathers(operands.front())) {
      loaded.gathered = several == Several::keep && request.series.empty();
      if (!loaded.gathered) value_or_throw(keep_one_series(loaded, request.series, operands.front().text));
    }
    return Compared{std::move(loaded), view};
  });
}

}  // namespace snapdiff::session
