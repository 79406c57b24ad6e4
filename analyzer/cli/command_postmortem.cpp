#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/recorded.hpp"
#include "analyzer/cli/written_answer.hpp"
#include "analyzer/session/files.hpp"
#include "analyzer/session/postmortem_documents.hpp"
#include "analyzer/session/postmortem_series.hpp"
#include "analyzer/session/resident_parts.hpp"

namespace snapdiff::cli {
namespace {

struct PostmortemArguments {
  std::string folder = "postmortem";
  std::optional<std::int64_t> limit;
  std::vector<std::string> hint_files;
  bool print_hints = false;
  bool redact = false;
  std::string key_file;
  std::string paper = "a4";
  bool open = false;
};

struct Settings {
  DiffOptions view;
  std::optional<std::int64_t> limit;
  session::DocumentOptions documents;
  postmortem::Rules rules;
  std::optional<postmortem::Redactor> redactor;
};

Settings settings_of(const Options& options, const PostmortemArguments& wanted) {
  Settings out;
  out.documents.rows = options.rows;
  out.documents.paper = wanted.paper == "letter" ? render::Paper::letter : render::Paper::a4;
  out.limit = wanted.limit;
  out.rules = value_or_throw(postmortem::built_in_rules());
  for (const std::string& path : wanted.hint_files) {
    const std::string text = value_or_throw(session::read_small_file(path));
    out.rules = value_or_throw(postmortem::parse_rules(text, path, out.rules));
  }
  if (!wanted.key_file.empty()) {
    const std::string key = value_or_throw(session::read_small_file(wanted.key_file));
    if (key.size() < 16)
      fail({ErrorCode::usage, "too short a key: found " + std::to_string(key.size()) + " B, expected 16 or more",
            std::nullopt, wanted.key_file});
    out.redactor.emplace(key);
  } else if (wanted.redact) {
    out.redactor.emplace("");
  }
  return out;
}

/// Snapshots out of files go to a store beside the report, where the user names none. Redacted ones are kept only
/// where he does: a store holds the names.
session::StoreChoice store_of(const Options& options, const PostmortemArguments& wanted, const Loaded& loaded) {
  session::StoreChoice choice = session::choose_store(options.db);
  const bool stored = std::any_of(loaded.snapshots.begin(), loaded.snapshots.end(),
                                  [](const LoadedSnapshot& item) { return item.stored.has_value(); });
  if (choice.is_explicit || stored) return choice;
  if (wanted.redact || !wanted.key_file.empty()) return {":memory:", true};
  return {(std::filesystem::path(wanted.folder) / "snapdiff.db").string(), true};
}

/// Writes the documents of one series into `folder`, which is made where it is missing, and says so of each; `open`
/// shows the page.
void write_documents(const Postmortem& report, const session::ReportedSeries& series,
                     const std::filesystem::path& folder, const session::DocumentOptions& options, bool open) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) fail({ErrorCode::io, "cannot make the folder: " + failure.message(), std::nullopt, folder.string()});
  const std::vector<Document> documents = value_or_throw(session::make_documents(report, series, options));
  for (const Document& document : documents) {
    write_and_tell((folder / document.name).string(), document.bytes);
  }
  if (open) show_page((folder / "report.html").string());
}

void report_on(const session::ReportedSeries& series, const PostmortemArguments& wanted, const Settings& settings,
               const report::Style& terminal_style, const session::Request& request) {
  Postmortem found = value_or_throw(session::in_stage(request.watch, "judging", [&] {
    return session::find_out(series, settings.view, settings.limit, settings.rules);
  }));
  if (settings.redactor) settings.redactor->redact(found);
  std::filesystem::path folder = wanted.folder;
  const std::string name =
      series.name.empty() || !settings.redactor ? series.name : settings.redactor->token(series.name);
  if (!name.empty()) folder /= name;
  const std::string heading = name.empty() ? "" : escape_for_terminal(name) + ":\n";
  value_or_throw(print_report(heading + report::postmortem_text(found, terminal_style), report::Form::text));
  session::DocumentOptions documents = settings.documents;
  if (settings.redactor) documents.redactor = &*settings.redactor;
  session::in_stage(request.watch, "writing the report",
                    [&] { write_documents(found, series, folder, documents, wanted.open); });
}

}  // namespace

int run_postmortem(const Arguments& arguments) {
  Options options;
  PostmortemArguments wanted;
  CommandLine line(
      "The report of a series: PDF, one HTML page, Markdown, JSON and store in a folder;\nfive lines here.",
      "postmortem [OPERAND OPERAND...] [-o DIR]\n\n"
      "  without operands: what was last compared. Several series\n"
      "  in one folder: one report each, in folders below DIR. Of one CUDA snapshot with\n"
      "  a trace: what happened along the trace",
      {"snapdiff postmortem heaps/ -o incident-4711",
       "snapdiff postmortem --limit 24GiB --redact-key ~/.key web.*.heap"});
  add_options(line, options, kTakesOperands | kTakesSeries | kTakesView | kTakesCount | kReadsFiles | kTakesSymbols);
  line.text("-o,--output", "DIR", wanted.folder, "folder of the report (postmortem)");
  line.size("--limit", wanted.limit, 1, "say when the total will reach this");
  line.texts("--hints", "FILE", wanted.hint_files,
             "more hint rules; a rule of the same id replaces a\n"
             "built-in one; repeatable");
  line.flag("--print-hints", wanted.print_hints, "print the built-in hint rules and end");
  line.flag("--redact", wanted.redact, "tokens instead of names, paths, hosts, labels");
  line.text("--redact-key", "FILE", wanted.key_file,
            "the same; only who has this file (16 B or more) can\n"
            "find out by trying what a token stands for");
  line.flag("--open", wanted.open, "open the page in the browser");
  line.text("--paper", "X", wanted.paper, "a4, letter (a4)").choices({"a4", "letter"});
  if (const auto code = line.parse(arguments)) return *code;
  if (wanted.print_hints) {
    value_or_throw(print_data(postmortem::built_in_rules_text()));
    return kExitDone;
  }

  const Terminal terminal = look_at_terminal(options.no_color);
  const report::Style style = style_of(options, terminal);
  Settings settings = settings_of(options, wanted);
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (drawing) settings.documents.drawing = *drawing;
  const session::Compared compared =
      open_compared(options, terminal, session::Fallback::snapshots, store::Parts::allocator, session::Several::keep);
  settings.view = compared.options;

  session::Recording recording(store_of(options, wanted, compared.loaded), compared.loaded, compared.options,
                               options.series);
  Notes left_out;
  std::optional<session::ReportedSeries> moments = value_or_throw(session::series_of_trace(compared.loaded));
  std::vector<session::ReportedSeries> parts;
  if (moments) {
    parts.push_back(*std::move(moments));
  } else {
    parts = session::split_series(compared.loaded, settings.view, left_out);
  }
  const auto resident = session::resident_parts(compared.loaded);
  for (session::ReportedSeries& part : parts) part.resident = resident;
  if (parts.size() > 1) say("note: " + std::to_string(parts.size()) + " series: one report each");
  for (Note note : left_out.all()) {
    if (settings.redactor) note.text = settings.redactor->redacted(note.text);
    say_note(note);
  }
  for (const session::ReportedSeries& part : parts) {
    report_on(part, wanted, settings, style, request_of(options, terminal));
  }
  recording.answered();
  const Wording words = [&](const std::string& text) { return settings.redactor->redacted(text); };
  const int partial_code = tell_notes(compared.loaded, options, settings.redactor ? words : Wording());
  const int stored_code = finish(recording, terminal);
  const int drawn_code =
      drawing ? kExitDone : tell_failure({drawing.error().code, "no report.pdf: " + drawing.error().message});
  return std::max({partial_code, stored_code, drawn_code});
}

}  // namespace snapdiff::cli
