#pragma once

#include <string>

#include "analyzer/story/prose.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"

/// Commands to go on with, ready to be copied into a POSIX shell.
namespace snapdiff::story {

/// A regular expression that finds the function: the longest part of its short name without template arguments and
/// brackets, special characters taken as they are.
std::string pattern_of(const FrameView& frame);

/// A blank and the operand, quoted where the shell needs it.
void operand(Writer& out, const SnapshotRef& ref);
void both_ends(Writer& out, const GrowthReport& report);

/// The one command that says most about the first culprit: who holds it where objects are recorded, else its callers
/// and callees. Empty without a culprit that has a function.
Prose next_command(const GrowthReport& report, const Story& story);

}  // namespace snapdiff::story
