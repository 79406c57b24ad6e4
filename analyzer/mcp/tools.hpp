#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/mcp/json_value.hpp"
#include "analyzer/report/json_writer.hpp"

namespace snapdiff::mcp {

struct Session;

/// The arguments of all tools; each takes a few of them.
struct ToolArguments {
  std::vector<std::string> paths, budgets;
  std::string of, rows, series, format, metric, by, focus, ignore, limit, name, type, allow, folder;
  std::int64_t culprit = 1;
  std::int64_t max_bytes = 4096;
};

/// One argument as data: of it the schema is written, and by it calls are checked.
///   least, most  of a number
///   choices      "stack|function"; "" = any text
struct Parameter {
  using Place = std::variant<std::string ToolArguments::*, std::vector<std::string> ToolArguments::*,
                             std::int64_t ToolArguments::*>;
  std::string_view name;
  Place place;
  std::string_view help;
  std::string_view choices = {};
  std::int64_t least = 0, most = 0;
};

/// `run` returns the text of the answer; it throws Failure.
struct Tool {
  std::string_view name, title, help;
  std::vector<Parameter> parameters;
  std::string (*run)(Session& session, const ToolArguments& arguments);
};
std::span<const Tool> tools();

/// The tool's entry in a list of tools. `writes`: the session has a folder for reports.
void write_tool(report::JsonWriter& json, const Tool& tool, bool writes);

/// Errors: usage, that name the argument.
Result<ToolArguments> tool_arguments(const Tool& tool, const JsonValue* given);

}  // namespace snapdiff::mcp
