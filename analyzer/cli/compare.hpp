#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/session/compared.hpp"
#include "analyzer/session/files.hpp"
#include "snapdiff/growth.hpp"

/// What commands share: which snapshots are compared when operands are given or not, the notes that go with them,
/// answers about counters, files that are written.
namespace snapdiff::cli {

/// What operands and options say is compared. Throws usage, and what session::load_compared() returns.
session::Compared open_compared(const Options& options, const Terminal& terminal, session::Fallback fallback,
                                store::Parts parts = store::Parts::rows,
                                session::Several several = session::Several::refuse);

/// What the options of a command that reads its operands say: which, how to look at them, how to write.
struct Question {
  std::vector<session::Operand> operands;
  DiffOptions view;
  report::Style style;
};
/// Throws usage.
Question understand(const Options& options, const Terminal& terminal);

/// How operands are opened; session::load_operands() says what the two mean.
struct Opening {
  bool expand = false;
  store::Parts parts = store::Parts::rows;
};

/// How the report writers should write for this terminal and these options.
report::Style style_of(const Options& options, const Terminal& terminal);

/// What was noted while the two sides were read becomes notes of the report; but for text, which has it on stderr.
void add_import_notes(GrowthReport& report, report::Form form);
/// How a text is said; as it is where this is empty.
using Wording = std::function<std::string(const std::string&)>;

/// Says on stderr what was noted while a snapshot was read: warnings, and first what was lost.
void tell_import_notes(const SnapshotRef& ref, const Wording& words = {});

/// Says notes on stderr, one line each; "partial: ..." first where a part of an input was lost.
/// Returns the exit code: 2 for a partial input under --strict.
int tell_notes(const Loaded& loaded, const Options& options, const Wording& words = {});

/// Whether the answer is about counters: --counters, or the snapshots hold nothing else.
bool asks_for_counters(const std::vector<SnapshotRef>& refs, const Options& options);

/// Growth and verdict of every counter; of one snapshot the values. Throws limit.
WriteAnswer answer_counters(const std::vector<SnapshotRef>& refs, std::optional<std::int64_t> limit = {});

/// Prints that answer and the notes. Returns the exit code.
int show_counters(const Loaded& loaded, const Options& options, const report::Style& style);

/// An answer as its pieces come. Refers to `write`.
session::Pieces in_pieces(const WriteAnswer& write, report::Style style);

/// session::write_file(), or stdout for "-". Never over one of the `inputs`. Throws usage, io, about `path`.
void write_output(const std::string& path, const session::Pieces& pieces, std::span<const std::string> inputs = {});
void write_output(const std::string& path, std::string_view bytes, std::span<const std::string> inputs = {});

/// The same, and says so of a file.
void write_and_tell(const std::string& path, const session::Pieces& pieces, std::span<const std::string> inputs = {});
void write_and_tell(const std::string& path, std::string_view bytes, std::span<const std::string> inputs = {});

/// What a command does with operands once its words are understood: opens them (load_operands()), makes a report and
/// prints it. Returns the exit code.
///   stage  what the terminal shows meanwhile
///   make   a Result of (Loaded&, const DiffOptions&)
///   write  its text, of (report, const report::Style&)
template <class Make, class Write>
int answer_operands(const Options& options, const Opening& opening, const char* stage, Make make, Write write) {
  const Terminal terminal = look_at_terminal(options.no_color);
  const Question asked = understand(options, terminal);
  Loaded loaded = value_or_throw(
      session::load_operands(asked.operands, request_of(options, terminal), opening.expand, opening.parts));
  const auto report =
      value_or_throw(session::in_stage(watch_of(terminal), stage, [&] { return make(loaded, asked.view); }));
  print_written([&](const report::Style& style) { return write(report, style); }, asked.style);
  return tell_notes(loaded, options);
}

}  // namespace snapdiff::cli
