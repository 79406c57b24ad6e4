#include "analyzer/mcp/tools.hpp"

#include <algorithm>
#include <charconv>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/nearest.hpp"
#include "analyzer/mcp/tool_answers.hpp"

namespace snapdiff::mcp {
namespace {

constexpr std::string_view kKinds = "stack|function|file|line|module|type";

const Parameter kPaths{"paths", &ToolArguments::paths,
                       "files oldest first, or one folder; FILE@peak, @first, @last, @3 is a moment of a recording"};
const Parameter kOf{"of", &ToolArguments::of, "handle of an earlier answer, as r1, in place of paths"};
const Parameter kRows{"rows", &ToolArguments::rows, "rows of the table, as 10 or 21-40 (10)"};
const Parameter kBytes{"max_bytes", &ToolArguments::max_bytes, "longest answer (4096)", {}, 512, 65536};
const Parameter kSeries{"series", &ToolArguments::series, "the series that is meant, where a folder holds several"};
const Parameter kFormat{"format", &ToolArguments::format, "input format (by content)"};
const Parameter kMetric{"metric", &ToolArguments::metric, "what to count (in-use bytes)"};
const Parameter kBy{"by", &ToolArguments::by, "what rows are (stack)", kKinds};
const Parameter kFocus{"focus", &ToolArguments::focus, "only stacks with a frame that matches this RE2"};
const Parameter kIgnore{"ignore", &ToolArguments::ignore, "no stacks with a frame that matches this RE2"};
const Parameter kLimit{"limit", &ToolArguments::limit, "say when the total will reach this, as 24GiB"};

std::vector<Parameter> with_view(std::vector<Parameter> more) {
  std::vector<Parameter> all = {kPaths, kOf, kRows, kMetric, kBy, kFocus, kIgnore, kSeries, kFormat, kBytes};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

[[noreturn]] void wrong(std::string_view name, const std::string& found, const std::string& expected) {
  fail({ErrorCode::usage, std::string(name) + ": found " + found + ", expected " + expected});
}

std::string text_of(const Parameter& parameter, const JsonValue& value) {
  if (!value.is_text()) wrong(parameter.name, std::string(kind_text(value.kind)), "a text");
  if (parameter.choices.empty()) return value.text;
  const std::string choices = "|" + std::string(parameter.choices) + "|";
  if (value.text.find('|') != std::string::npos || choices.find("|" + value.text + "|") == std::string::npos)
    wrong(parameter.name, "'" + value.text.substr(0, 60) + "'", std::string(parameter.choices));
  return value.text;
}

std::vector<std::string> texts_of(const Parameter& parameter, const JsonValue& value) {
  if (value.kind != JsonKind::array) wrong(parameter.name, std::string(kind_text(value.kind)), "an array of texts");
  std::vector<std::string> texts;
  for (const JsonValue& item : value.items) texts.push_back(text_of(parameter, item));
  return texts;
}

std::int64_t number_of(const Parameter& parameter, const JsonValue& value) {
  const std::string expected =
      "a whole number from " + std::to_string(parameter.least) + " to " + std::to_string(parameter.most);
  if (!value.is_integer()) wrong(parameter.name, std::string(kind_text(value.kind)), expected);
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
  if (failure != std::errc{} || number < parameter.least || number > parameter.most)
    wrong(parameter.name, value.text.substr(0, 30), expected);
  return number;
}

void take(ToolArguments& out, const Parameter& parameter, const JsonValue& value) {
  if (const auto* text = std::get_if<std::string ToolArguments::*>(&parameter.place)) {
    out.*(*text) = text_of(parameter, value);
  } else if (const auto* texts = std::get_if<std::vector<std::string> ToolArguments::*>(&parameter.place)) {
    out.*(*texts) = texts_of(parameter, value);
  } else {
    out.*std::get<std::int64_t ToolArguments::*>(parameter.place) = number_of(parameter, value);
  }
}

void write_schema(report::JsonWriter& json, const Parameter& parameter) {
  const bool is_number = std::holds_alternative<std::int64_t ToolArguments::*>(parameter.place);
  const bool is_list = std::holds_alternative<std::vector<std::string> ToolArguments::*>(parameter.place);
  json.field("type", is_number ? "integer" : is_list ? "array" : "string");
  if (is_list) json.object("items", [&] { json.field("type", "string"); });
  if (is_number) {
    json.field("minimum", parameter.least);
    json.field("maximum", parameter.most);
  }
  if (!parameter.choices.empty()) {
    json.key("enum");
    json.begin_array();
    for (std::string_view rest = parameter.choices; !rest.empty();) {
      const std::size_t end = std::min(rest.find('|'), rest.size());
      json.string(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    json.end_array();
  }
  json.field("description", parameter.help);
}

}  // namespace

std::span<const Tool> tools() {
  static const std::vector<Tool> all = {
      {"inspect",
       "Content of a file or folder",
       "Format, totals and series of a file or folder, and what was lost. Begin here.",
       {kPaths, kFormat, kBytes},
       answer_inspect},
      {"trend", "Leak or not",
       "Is it a leak: verdict, culprits with file and line, growth. Of 3 snapshots and more; sure from 8 on.",
       with_view({kLimit}), answer_trend},
      {"diff", "Growth between two snapshots",
       "Growth between two snapshots, and the functions of the program that are to blame.", with_view({}), answer_diff},
      {"culprit", "All evidence for one culprit",
       "Call path, files and lines, value in each snapshot, where it allocates, heaviest stacks, holder of one "
       "culprit.",
       with_view({{"culprit", &ToolArguments::culprit, "its number in the answer, from 1 (1)", {}, 1, 1000},
                  {"name", &ToolArguments::name, "a part of its name, in place of the number"}}),
       answer_culprit},
      {"holders",
       "Who keeps objects alive",
       "Object graphs (V8, HPROF, objgraph): containers that keep more, what each type retains; with type: the paths "
       "from roots.",
       {kPaths,
        kOf,
        kRows,
        kSeries,
        kFormat,
        kBytes,
        {"type", &ToolArguments::type, "RE2 of type names: shortest paths from roots to these objects"}},
       answer_holders},
      {"gate",
       "Does growth keep to a budget",
       "Judges growth by budgets, as a CI gate does: held, broken or not judged.",
       {kPaths,
        kOf,
        kMetric,
        kSeries,
        kFormat,
        kBytes,
        {"budgets", &ToolArguments::budgets, "as total:5%, 100KiB/step, culprit:1MiB/h (built-in ones)"},
        {"allow", &ToolArguments::allow, "TOML file of accepted growth"}},
       answer_gate},
      {"report",
       "The report of an incident",
       "The post-mortem as Markdown. With folder: PDF, HTML, Markdown and JSON files there, if the server was given a "
       "place for reports.",
       {kPaths,
        kOf,
        kRows,
        kMetric,
        kSeries,
        kFormat,
        kLimit,
        kBytes,
        {"folder", &ToolArguments::folder, "name of a new folder for the files"}},
       answer_report},
  };
  return all;
}

void write_tool(report::JsonWriter& json, const Tool& tool, bool writes) {
  json.field("name", tool.name);
  json.field("title", tool.title);
  json.field("description", tool.help);
  json.object("inputSchema", [&] {
    json.field("type", "object");
    json.object("properties", [&] {
      for (const Parameter& parameter : tool.parameters)
        json.object(parameter.name, [&] { write_schema(json, parameter); });
    });
    json.field("additionalProperties", false);
  });
  json.object("annotations", [&] {
    json.field("readOnlyHint", !(writes && tool.name == "report"));
    json.field("destructiveHint", false);
    json.field("idempotentHint", true);
    json.field("openWorldHint", false);
  });
}

Result<ToolArguments> tool_arguments(const Tool& tool, const JsonValue* given) {
  return guarded([&]() -> ToolArguments {
    ToolArguments out;
    if (given == nullptr || given->kind == JsonKind::null) return out;
    if (!given->is_object()) wrong("arguments", std::string(kind_text(given->kind)), "an object");
    std::vector<std::string> names;
    for (const Parameter& parameter : tool.parameters) names.emplace_back(parameter.name);
    for (const JsonMember& member : given->members) {
      const auto place = std::find(names.begin(), names.end(), member.name);
      if (place == names.end())
        fail({ErrorCode::usage, "unknown argument '" + member.name.substr(0, 60) + "' of " + std::string(tool.name) +
                                    did_you_mean(member.name, names)});
      take(out, tool.parameters[static_cast<std::size_t>(place - names.begin())], member.value);
    }
    return out;
  });
}

}  // namespace snapdiff::mcp
