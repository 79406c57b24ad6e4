#include "analyzer/cli/compare.hpp"

#include <utility>

#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/naming.hpp"
#include "analyzer/diff/diff.hpp"

namespace snapdiff::cli {
namespace {

Result<Compared> load_from_store(const Options& options, const Terminal& terminal, Fallback fallback,
                                 store::Parts parts) {
  Result<store::Store> store = open_store(choose_store(options), store::Access::read);
  if (!store) return std::move(store).error();
  const Result<DiffOptions> wanted = diff_options(options);
  if (!wanted) return wanted.error();
  Compared compared;
  compared.options = *wanted;
  std::vector<SnapshotId> ids;
  if (fallback == Fallback::last_comparison) {
    Result<std::optional<store::Comparison>> last = store->last_comparison();
    if (!last) return std::move(last).error();
    if (*last) {
      ids = (*last)->snapshots;
      // The view of the command line wins as a whole; an untouched one takes the remembered view.
      if (*wanted == DiffOptions{}) compared.options = options_from_json((*last)->options_json);
    }
  }
  if (ids.empty()) {
    Result<std::vector<store::SeriesInfo>> listed = store->list();
    if (!listed) return std::move(listed).error();
    if (listed->empty())
      return Error{ErrorCode::usage, "the store is empty: nothing to compare", std::nullopt, store->path()};
    for (const auto& snapshot : listed->back().snapshots) ids.push_back(snapshot.id);
  }
  Result<Loaded> loaded = load_stored(*store, ids, parts);
  if (!loaded) return std::move(loaded).error();
  compared.loaded = *std::move(loaded);
  if (Status named = name_addresses(compared.loaded, options, terminal); !named) return std::move(named).error();
  return compared;
}

}  // namespace

Result<Compared> load_compared(const Options& options, const Terminal& terminal, Fallback fallback,
                               store::Parts parts) {
  if (options.operands.empty()) return load_from_store(options, terminal, fallback, parts);
  const Result<DiffOptions> wanted = diff_options(options);
  if (!wanted) return wanted.error();
  const Result<std::vector<Operand>> operands = parse_operands(options.operands);
  if (!operands) return operands.error();
  Result<Loaded> loaded = load_operands(*operands, options, terminal, operands->size() == 1, parts);
  if (!loaded) return std::move(loaded).error();
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
  for (const Note& note : loaded.notes.all()) say_note(note);
  return options.strict && loaded.partial() ? kExitBadInput : kExitDone;
}

}  // namespace snapdiff::cli
