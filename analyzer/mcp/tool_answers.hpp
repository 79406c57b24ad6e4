#pragma once

#include <string>

#include "analyzer/mcp/allowed_paths.hpp"
#include "analyzer/mcp/comparisons.hpp"
#include "analyzer/mcp/tools.hpp"

/// The answers of the tools: text with figures in their units, at last the two calls that are most useful next.
/// All of them throw Failure.
namespace snapdiff::mcp {

/// Calls share this.
struct Session {
  AllowedPaths paths;
  std::string reports;  ///< "" = the tool report writes nothing
  Comparisons comparisons = {};
};

std::string answer_inspect(Session& session, const ToolArguments& arguments);
std::string answer_diff(Session& session, const ToolArguments& arguments);
std::string answer_trend(Session& session, const ToolArguments& arguments);
std::string answer_culprit(Session& session, const ToolArguments& arguments);
std::string answer_holders(Session& session, const ToolArguments& arguments);
std::string answer_gate(Session& session, const ToolArguments& arguments);
std::string answer_report(Session& session, const ToolArguments& arguments);

/// At most `most` bytes: whole lines, and how much is missing.
std::string cut_lines(std::string text, std::size_t most);

/// A line for each thing that was lost or skipped while files were read; "" where all was read.
std::string reading_notes(const Loaded& loaded);

/// `trend {"of":"r1"}`: a call as an answer suggests it. `more`: further members, as `,"rows":"21-40"`.
std::string call_text(std::string_view tool, const Comparison& comparison, const std::string& more = {});

}  // namespace snapdiff::mcp
