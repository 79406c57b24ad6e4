#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/load.hpp"
#include "analyzer/cli/options.hpp"
#include "snapdiff/growth.hpp"

/// What diff, render, export and peek share: which snapshots are compared when operands are given or
/// not, and the notes that go with them.
namespace snapdiff::cli {

struct Compared {
  Loaded loaded;
  DiffOptions options;
};

/// Without operands: what was last compared.
///   snapshots  alone, unless a series was imported since: then the newest series
///   with_view  with its view, where the command line sets none of its own
enum class Fallback { snapshots, with_view };

/// What to do where one operand gathers the snapshots of several series.
enum class Several { refuse, keep };

/// The snapshots and the view to compare. One operand that is a file with several snapshots, a directory or a series
/// gives all of them, as long as they are of one series (series_choice.hpp); among several operands each stands for its
/// last one, a directory too. Without operands --series, else `fallback`, which is said. `parts`: of stored snapshots.
Result<Compared> load_compared(const Options& options, const Terminal& terminal, Fallback fallback,
                               store::Parts parts = store::Parts::rows, Several several = Several::refuse);

/// What the options of a command that reads its operands say: which, how to look at them, how to write.
struct Question {
  std::vector<Operand> operands;
  DiffOptions view;
  report::Style style;
};
/// Errors: usage.
Result<Question> understand(const Options& options, const Terminal& terminal);

/// Exit code for a failure, which it tells.
int fail(const Error& error);

/// How the report writers should write for this terminal and these options. Errors: usage.
Result<report::Style> style_of(const Options& options, const Terminal& terminal);

/// Says notes on stderr, one line each; "partial: ..." first where a part of an input was lost.
/// Returns the exit code: 2 for a partial input under --strict.
int tell_notes(const Loaded& loaded, const Options& options);

}  // namespace snapdiff::cli
