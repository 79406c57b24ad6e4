#include "analyzer/cli/compare.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/naming.hpp"
#include "analyzer/cli/series_choice.hpp"
#include "analyzer/diff/diff.hpp"

namespace snapdiff::cli {
namespace {

// What was last compared, or the newest series where there is nothing of the kind.
struct Remembered {
  std::vector<SnapshotId> ids;
  std::string options_json;  // "": it was not compared
};

Result<Remembered> remembered(store::Store& store, Fallback fallback) {
  Result<std::optional<store::Comparison>> last = store.last_comparison();
  if (!last) return std::move(last).error();
  const Result<std::optional<SnapshotId>> newest = store.newest();
  if (!newest) return newest.error();
  if (!*newest) return Error{ErrorCode::usage, "the store is empty: nothing to compare", std::nullopt, store.path()};
  if (*last && !(*last)->snapshots.empty()) {
    // Pictures are of what was compared; for the others a series that came in since is the newer one.
    const std::optional<SnapshotId> then = newest_from_json((*last)->options_json);
    if (fallback == Fallback::with_view || !then || *then >= **newest)
      return Remembered{(*last)->snapshots, (*last)->options_json};
  }
  Result<std::vector<store::SeriesInfo>> listed = store.list();
  if (!listed) return std::move(listed).error();
  Remembered out;
  for (const auto& snapshot : listed->back().snapshots) out.ids.push_back(snapshot.id);
  return out;
}

// "snapdiff.db: last compared: web, 12 snapshots"
std::string choice_text(const std::string& path, const Loaded& loaded, bool was_compared) {
  std::set<std::string> names;
  for (const LoadedSnapshot& item : loaded.snapshots) names.insert(item.ref.series);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  const std::size_t count = loaded.snapshots.size();
  return path + (was_compared ? ": last compared: " : ": newest series: ") + text + ", " + std::to_string(count) +
         (count == 1 ? " snapshot" : " snapshots");
}

Result<Compared> load_from_store(const Options& options, const Terminal& terminal, Fallback fallback,
                                 store::Parts parts) {
  Result<store::Store> store = open_store(choose_store(options), store::Access::read);
  if (!store) return std::move(store).error();
  const Result<DiffOptions> wanted = diff_options(options);
  if (!wanted) return wanted.error();
  Compared compared;
  compared.options = *wanted;
  const Result<Remembered> last = remembered(*store, fallback);
  if (!last) return last.error();
  // The view of the command line wins as a whole; an untouched one takes the remembered view.
  if (fallback == Fallback::with_view && !last->options_json.empty() && *wanted == DiffOptions{})
    compared.options = options_from_json(last->options_json);
  Result<Loaded> loaded = load_stored(*store, last->ids, parts);
  if (!loaded) return std::move(loaded).error();
  compared.loaded = *std::move(loaded);
  compared.loaded.chosen = choice_text(store->path(), compared.loaded, !last->options_json.empty());
  if (Status named = name_addresses(compared.loaded, options, terminal); !named) return std::move(named).error();
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
Result<Loaded> load_sides(const std::vector<Operand>& operands, const Options& options, const Terminal& terminal,
                          store::Parts parts) {
  Loaded sides;
  for (const Operand& operand : operands) {
    Result<Loaded> loaded = load_operands({operand}, options, terminal, is_directory(operand), parts);
    if (!loaded) return std::move(loaded).error();
    if (is_directory(operand)) {
      if (Status one = keep_one_series(*loaded, options.series, operand.text); !one) return std::move(one).error();
      const std::size_t count = loaded->snapshots.size();
      if (count > 1) {
        loaded->snapshots.erase(loaded->snapshots.begin(), loaded->snapshots.end() - 1);
        loaded->notes.add(Severity::info, operand.text + " means its last snapshot, " +
                                              loaded->snapshots.back().ref.ref + " of " + std::to_string(count));
      }
    }
    for (LoadedSnapshot& item : loaded->snapshots) sides.snapshots.push_back(std::move(item));
    for (LeftOut& one : loaded->left_out) sides.left_out.push_back(std::move(one));
    sides.notes.add_all(loaded->notes);
    sides.named = sides.named || loaded->named;
  }
  sides.order_note = "in the order given";
  return sides;
}

}  // namespace

Result<Compared> load_compared(const Options& options, const Terminal& terminal, Fallback fallback, store::Parts parts,
                               Several several) {
  if (options.operands.empty() && options.series.empty()) return load_from_store(options, terminal, fallback, parts);
  const Result<DiffOptions> wanted = diff_options(options);
  if (!wanted) return wanted.error();
  Result<std::vector<Operand>> operands = parse_operands(options.operands);
  if (!operands) return operands.error();
  if (operands->empty()) operands->push_back(series_operand(options.series));
  const bool is_one = operands->size() == 1;
  const bool sides = !is_one && std::any_of(operands->begin(), operands->end(), is_directory);
  Result<Loaded> loaded = sides ? load_sides(*operands, options, terminal, parts)
                                : load_operands(*operands, options, terminal, is_one, parts);
  if (!loaded) return std::move(loaded).error();
  if (is_one && gathers(operands->front())) {
    loaded->gathered = several == Several::keep && options.series.empty();
    if (!loaded->gathered) {
      if (Status one = keep_one_series(*loaded, options.series, operands->front().text); !one)
        return std::move(one).error();
    }
  }
  return Compared{*std::move(loaded), *wanted};
}

int fail(const Error& error) {
  say_error(error, error.code == ErrorCode::internal ? "this is a bug in snapdiff" : "");
  return exit_code_of(error.code);
}

Result<report::Style> style_of(const Options& options, const Terminal& terminal) {
  const Result<report::Form> form = form_of(options);
  if (!form) return form.error();
  report::Style style;
  style.form = *form;
  style.width = terminal.width;
  style.colour = terminal.colour;
  style.utf8 = terminal.utf8;
  style.thousands = terminal.stdout_is_terminal ? " " : "";
  style.max_rows =
      options.rows.value_or(style.form == report::Form::text || style.form == report::Form::markdown ? 20 : 0);
  style.cumulative = options.cumulative;
  style.min_bytes = options.min_bytes.value_or(0);
  return style;
}

Result<Question> understand(const Options& options, const Terminal& terminal) {
  Question question;
  Result<report::Style> style = style_of(options, terminal);
  if (!style) return std::move(style).error();
  question.style = *std::move(style);
  Result<DiffOptions> view = diff_options(options);
  if (!view) return std::move(view).error();
  question.view = *std::move(view);
  Result<std::vector<Operand>> operands = parse_operands(options.operands);
  if (!operands) return std::move(operands).error();
  question.operands = *std::move(operands);
  return question;
}

int tell_notes(const Loaded& loaded, const Options& options) {
  for (const LoadedSnapshot& s : loaded.snapshots) {
    for (const Note& note : s.ref.snapshot->facts.notes.all()) {
      if (note.severity == Severity::info) continue;
      const std::string times =
          note.count > 1 ? " (" + report::count_text(static_cast<std::int64_t>(note.count)) + " times)" : "";
      say((note.severity == Severity::data_loss ? "partial: " : "warning: ") +
          escape_for_terminal(s.ref.ref + ": " + note.text) + times);
    }
  }
  if (!loaded.chosen.empty()) say("note: " + escape_for_terminal(loaded.chosen));
  for (const LeftOut& one : loaded.left_out) say("warning: left out: " + escape_for_terminal(one.why));
  for (const Note& note : loaded.notes.all()) say_note(note);
  return options.strict && loaded.partial() ? kExitBadInput : kExitDone;
}

}  // namespace snapdiff::cli
