#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/options.hpp"
#include "analyzer/session/compared.hpp"
#include "snapdiff/growth.hpp"

/// What diff, render, export and peek share: which snapshots are compared when operands are given or
/// not, and the notes that go with them.
namespace snapdiff::cli {

/// What operands and options say is compared. Errors: usage, and those of session::load_compared().
Result<session::Compared> open_compared(const Options& options, const Terminal& terminal, session::Fallback fallback,
                                        store::Parts parts = store::Parts::rows,
                                        session::Several several = session::Several::refuse);

/// What the options of a command that reads its operands say: which, how to look at them, how to write.
struct Question {
  std::vector<session::Operand> operands;
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
