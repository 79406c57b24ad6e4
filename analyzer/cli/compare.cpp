#include "analyzer/cli/compare.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <system_error>

#include "analyzer/base/number_text.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/judged_series.hpp"

namespace snapdiff::cli {

session::Compared open_compared(const Options& options, const Terminal& terminal, session::Fallback fallback,
                                store::Parts parts, session::Several several) {
  const DiffOptions view = diff_options(options);
  return value_or_throw(
      session::load_compared(options.operands, view, request_of(options, terminal), fallback, parts, several));
}

report::Style style_of(const Options& options, const Terminal& terminal) {
  report::Style style;
  style.form = form_of(options);
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

Question understand(const Options& options, const Terminal& terminal) {
  Question question;
  question.style = style_of(options, terminal);
  question.view = diff_options(options);
  question.operands = value_or_throw(session::parse_operands(options.operands));
  return question;
}

void add_import_notes(GrowthReport& report, report::Form form) {
  if (form == report::Form::text) return;
  for (const SnapshotRef& side : {report.baseline, report.current}) {
    for (const Note& note : side.snapshot->facts.notes.all())
      report.notes.add(note.severity, side.ref + ": " + note.text, note.first_offset, note.count);
  }
}

namespace {

/// A warning that several snapshots share is said once.
void tell_shared_notes(std::span<const SnapshotRef> refs, const Wording& words) {
  struct Told {
    std::string text;
    std::uint64_t times = 0;
    std::size_t more = 0;
  };
  std::vector<Told> all;
  std::map<std::string, std::size_t> places;
  for (const SnapshotRef& ref : refs) {
    for (const Note& note : ref.snapshot->facts.notes.all()) {
      if (note.severity == Severity::info) continue;
      const std::string severity = note.severity == Severity::data_loss ? "partial: " : "warning: ";
      // Two warnings that differ in a line number are one; what was lost is said of each input.
      std::string alike = note.severity == Severity::data_loss ? ref.ref + note.text : note.text;
      if (note.severity != Severity::data_loss) std::erase_if(alike, [](char c) { return c >= '0' && c <= '9'; });
      const auto [at, is_new] = places.try_emplace(std::move(alike), all.size());
      if (is_new) {
        const std::string text = ref.ref + ": " + note.text;
        all.push_back({severity + escape_for_terminal(words ? words(text) : text), note.count, 0});
      } else {
        ++all[at->second].more;
      }
    }
  }
  for (const Told& one : all) {
    const std::string times = one.times > 1 ? " (" + count_text(one.times) + " times)" : "";
    say(one.text + times + (one.more > 0 ? "; likewise in " + count_text(one.more) + " more" : ""));
  }
}

}  // namespace

void tell_import_notes(const SnapshotRef& ref, const Wording& words) { tell_shared_notes({&ref, 1}, words); }

int tell_notes(const Loaded& loaded, const Options& options, const Wording& words) {
  const auto told = [&](const std::string& text) { return escape_for_terminal(words ? words(text) : text); };
  tell_shared_notes(loaded.refs(), words);
  if (!loaded.chosen.empty()) say("note: " + told(loaded.chosen));
  for (const LeftOut& one : loaded.left_out) say("warning: left out: " + told(one.why));
  for (Note note : loaded.notes.all()) {
    if (words) note.text = words(note.text);
    say_note(note);
  }
  return options.strict && loaded.partial() ? kExitBadInput : kExitDone;
}

bool asks_for_counters(const std::vector<SnapshotRef>& refs, const Options& options) {
  return options.counters || diff::has_counters_only(refs);
}

WriteAnswer answer_counters(const std::vector<SnapshotRef>& refs, std::optional<std::int64_t> limit) {
  return [report = value_or_throw(session::judged_counters(refs, limit))](const report::Style& style) {
    return report::write_counters(report, style);
  };
}

int show_counters(const Loaded& loaded, const Options& options, const report::Style& style) {
  print_written(answer_counters(loaded.refs()), style);
  return tell_notes(loaded, options);
}

session::Pieces in_pieces(const WriteAnswer& write, report::Style style) {
  return [&write, style](const report::Sink& take) mutable {
    style.sink = &take;
    take(write(style));
  };
}

void write_output(const std::string& path, const session::Pieces& pieces, std::span<const std::string> inputs) {
  const auto is_path = [&path](const std::string& input) {
    std::error_code ignored;
    return std::filesystem::equivalent(path, input, ignored);
  };
  if (path != "-" && std::any_of(inputs.begin(), inputs.end(), is_path))
    fail({ErrorCode::usage, "not replaced: it is what this command reads, expected another name", std::nullopt, path});
  if (path == "-") {
    pieces([](std::string_view piece) { value_or_throw(print_data(piece)); });
  } else {
    value_or_throw(session::write_file(path, pieces));
  }
}

void write_output(const std::string& path, std::string_view bytes, std::span<const std::string> inputs) {
  write_output(
      path, [bytes](const auto& take) { take(bytes); }, inputs);
}

void write_and_tell(const std::string& path, const session::Pieces& pieces, std::span<const std::string> inputs) {
  std::int64_t written = 0;
  const session::Pieces counted = [&](const auto& take) {
    pieces([&](std::string_view piece) {
      take(piece);
      written += static_cast<std::int64_t>(piece.size());
    });
  };
  write_output(path, counted, inputs);
  if (path != "-") say("wrote " + escape_for_terminal(path) + " (" + bytes_text(written) + ")");
}

void write_and_tell(const std::string& path, std::string_view bytes, std::span<const std::string> inputs) {
  write_and_tell(
      path, [bytes](const auto& take) { take(bytes); }, inputs);
}

}  // namespace snapdiff::cli
