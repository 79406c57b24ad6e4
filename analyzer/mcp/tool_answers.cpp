#include "analyzer/mcp/tool_answers.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/gate/check_gate.hpp"
#include "analyzer/objects/retained_objects.hpp"
#include "analyzer/postmortem/make_postmortem.hpp"
#include "analyzer/render/drawing.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/text_tools.hpp"
#include "analyzer/session/device_moments.hpp"
#include "analyzer/session/files.hpp"
#include "analyzer/session/gate_rules.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/labelled.hpp"
#include "analyzer/session/postmortem_documents.hpp"
#include "analyzer/session/postmortem_series.hpp"

namespace snapdiff::mcp {
namespace {

constexpr std::size_t kDefaultRows = 10;
constexpr std::size_t kCulpritRows = 3;

/// Rows of a table: `count` from `first` on, which is 0 for the first one; `all` that it could show.
struct Rows {
  std::size_t first = 0;
  std::size_t count = kDefaultRows;
  std::size_t all = 0;
};

/// "10", "21-40"; "" = the default.
Rows rows_of(const std::string& text, std::size_t count, std::size_t all) {
  if (text.empty()) return {0, count, all};
  std::uint32_t from = 1, to = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, from);
  bool good = first.ec == std::errc{};
  if (good && first.ptr == end) {
    to = std::exchange(from, 1U);
  } else if (good) {
    const auto last = std::from_chars(first.ptr + 1, end, to);
    good = *first.ptr == '-' && last.ec == std::errc{} && last.ptr == end;
  }
  if (!good || from == 0 || to < from)
    fail({ErrorCode::usage, "rows: found '" + text.substr(0, 30) + "', expected as 10 or 21-40"});
  return {from - 1, to - from + 1, all};
}

report::Style style_of(const Rows& rows) {
  report::Style style;
  style.width = 100;  // from here on tables have their figures and a verdict
  style.max_rows = rows.count;
  style.first_row = rows.first;
  style.whole_names = true;
  return style;
}

/// Rows that a table of changes may show.
std::size_t changed_rows(const GrowthReport& report) {
  return static_cast<std::size_t>(std::count_if(report.rows.begin(), report.rows.end(), [](const GrowthRow& row) {
    return row.grew != 0 || row.shrank != 0 || row.value.growth() != 0 || row.objects.growth() != 0;
  }));
}

std::string next_text(const std::vector<std::string>& calls) {
  std::string text = "next: ";
  for (std::size_t i = 0; i < calls.size(); ++i) text += (i == 0 ? "" : " | ") + calls[i];
  return text + "\n";
}

using Write = std::function<std::string(const report::Style&)>;

/// The answer: those rows that fit, how to get the others, what was noted, the next calls.
std::string told(const ToolArguments& arguments, const Comparison& comparison, std::string_view tool, Rows rows,
                 const Write& write, const std::vector<std::string>& next) {
  const auto most = static_cast<std::size_t>(arguments.max_bytes);
  const std::string notes = reading_notes(*comparison.loaded);
  const std::size_t asked = rows.count;
  for (;;) {
    std::string text = write(style_of(rows));
    while (text.ends_with("\n\n")) text.pop_back();
    std::string tail = notes;
    if (rows.first + rows.count < rows.all) {
      const std::size_t from = rows.first + rows.count + 1;
      tail += "more: " +
              call_text(tool, comparison,
                        ",\"rows\":\"" + std::to_string(from) + "-" + std::to_string(from + asked - 1) + "\"") +
              "\n";
    }
    tail += next_text(next);
    if (text.size() + tail.size() > most && rows.count > 1) {
      rows.count /= 2;
      continue;
    }
    return cut_lines(std::move(text), most - std::min(most, tail.size())) + tail;
  }
}

bool is_about_counters(const Comparison& comparison) { return diff::has_counters_only(comparison.refs()); }

std::string counters_answer(const ToolArguments& arguments, const Comparison& comparison, std::string_view tool) {
  const auto write = [&](const report::Style& style) {
    return report::write_counters(value_or_throw(session::judged_counters(comparison.refs(), comparison.limit)), style);
  };
  return told(arguments, comparison, tool, rows_of(arguments.rows, kDefaultRows, 0), write,
              {call_text("gate", comparison), call_text("report", comparison)});
}

std::vector<std::string> after_comparing(const Comparison& comparison) {
  return {call_text("culprit", comparison), call_text(comparison.has_graph() ? "holders" : "gate", comparison)};
}

std::string one_snapshot(const ToolArguments& arguments, const Comparison& comparison) {
  const LoadedSnapshot& only = comparison.loaded->snapshots.front();
  const TopReport report = value_or_throw(session::top_of(only.ref, comparison.view));
  const auto above = value_or_throw(session::above_top(only, comparison.view, report::Form::text));
  const auto write = [&](const report::Style& style) { return report::write_top(report, style, above); };
  return told(arguments, comparison, "diff", rows_of(arguments.rows, kDefaultRows, report.rows.size()), write,
              {"diff with a later file as second path",
               comparison.has_graph() ? call_text("holders", comparison) : "inspect its folder"});
}

/// All that the story names, in the order in which answers list it.
std::vector<const Culprit*> culprits_of(const Story& story) {
  std::vector<const Culprit*> all;
  const auto add = [&](const std::vector<Culprit>& some) {
    for (const Culprit& one : some) all.push_back(&one);
  };
  add(story.culprits);
  add(story.levelled);
  add(story.freed);
  if (all.empty() && story.peak != nullptr) add(story.peak->parts);
  return all;
}

std::size_t chosen(const std::vector<const Culprit*>& all, const ToolArguments& arguments) {
  if (arguments.name.empty()) {
    const auto number = static_cast<std::size_t>(arguments.culprit);
    if (number <= all.size()) return number - 1;
    fail({ErrorCode::usage,
          "culprit: found " + std::to_string(number) + ", expected 1 to " + std::to_string(all.size())});
  }
  std::string names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = report::plain_text(all[i]->text.name);
    if (name.find(arguments.name) != std::string::npos) return i;
    names += (i == 0 ? "" : ", ") + name.substr(0, 80);
  }
  fail(
      {ErrorCode::usage, "name: found '" + printable(arguments.name.substr(0, 80)) + "', expected a part of " + names});
}

session::GateRules gate_rules_of(const Session& session, const ToolArguments& arguments) {
  session::GateRules rules;
  for (const std::string& budget : arguments.budgets)
    rules.budgets.push_back(value_or_throw(gate::parse_budget(budget)));
  if (arguments.allow.empty()) return rules;
  const std::string path = value_or_throw(session.paths.resolve(arguments.allow));
  rules.allowances = value_or_throw(gate::parse_allowances(value_or_throw(session::read_small_file(path)), path));
  return rules;
}

/// A folder of its own below the one for reports.
std::filesystem::path report_folder(const Session& session, const std::string& name) {
  if (session.reports.empty())
    fail({ErrorCode::usage,
          "folder: this server writes nothing; 'snapdiff mcp --reports DIR' names a place for reports"});
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (name.size() > 100 || name.front() == '.' || name.find_first_not_of(kLetters) != std::string::npos)
    fail({ErrorCode::usage,
          "folder: found '" + printable(name.substr(0, 100)) + "', expected letters, digits, - and _"});
  const std::filesystem::path folder = std::filesystem::path(session.reports) / name;
  std::error_code failure;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(folder, failure)))
    fail({ErrorCode::usage, "folder: a link, expected a new folder", std::nullopt, name});
  std::filesystem::create_directory(folder, failure);
  if (failure) fail({ErrorCode::io, "cannot make the folder: " + failure.message(), std::nullopt, folder.string()});
  return folder;
}

std::string write_documents(const Postmortem& report, const session::ReportedSeries& series,
                            const std::filesystem::path& folder) {
  session::DocumentOptions options;
  const Result<const render::Drawing*> drawing = render::open_drawing();
  if (drawing) options.drawing = *drawing;
  std::string text;
  for (const Document& document : value_or_throw(session::make_documents(report, series, options))) {
    const std::string path = (folder / document.name).string();
    value_or_throw(session::write_file(path, document.bytes));
    text += "wrote " + printable(path) + " (" + bytes_text(static_cast<std::int64_t>(document.bytes.size())) + ")\n";
  }
  if (!drawing) text += "no report.pdf: " + drawing.error().message + "\n";
  return text;
}

}  // namespace

std::string call_text(std::string_view tool, const Comparison& comparison, const std::string& more) {
  return std::string(tool) + " {\"of\":\"" + comparison.handle + "\"" + more + "}";
}

std::string cut_lines(std::string text, std::size_t most) {
  constexpr std::size_t kRemark = 60;  // bytes of the line below
  if (text.size() <= most) return text;
  std::size_t end = text.rfind('\n', most > kRemark ? most - kRemark : 0);
  end = end == std::string::npos ? 0 : end + 1;
  const std::size_t missing = text.size() - end;
  text.resize(end);
  return text + "[" + std::to_string(missing) + " bytes more: a larger max_bytes shows them]\n";
}

std::string reading_notes(const Loaded& loaded) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> lines;
  for (const LoadedSnapshot& item : loaded.snapshots) {
    for (const Note& note : item.ref.snapshot->facts.notes.all()) {
      if (note.severity == Severity::info) continue;
      lines.push_back((note.severity == Severity::data_loss ? "partial: " : "warning: ") + item.ref.ref + ": " +
                      note.text + (note.count > 1 ? " (" + count_text(note.count) + " times)" : ""));
    }
  }
  for (const LeftOut& one : loaded.left_out) lines.push_back("warning: left out: " + one.why);
  for (const Note& note : loaded.notes.all())
    lines.push_back((note.severity == Severity::info ? "note: " : "warning: ") + note.text);
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) text += printable(lines[i].substr(0, 300)) + "\n";
  if (lines.size() > kMost) text += "and " + counted(lines.size() - kMost, "more remark") + "\n";
  return text;
}

std::string answer_diff(Session& session, const ToolArguments& arguments) {
  Comparison& comparison = session.comparisons.open(arguments, session.paths);
  if (is_about_counters(comparison)) return counters_answer(arguments, comparison, "diff");
  const std::size_t count = comparison.loaded->snapshots.size();
  if (count == 1) return one_snapshot(arguments, comparison);
  const auto write = [&](const report::Style& style) {
    return count == 2 ? report::write_diff(comparison.growth(), style)
                      : report::write_series(comparison.judged().series, {}, comparison.judged().verdicts, style);
  };
  return told(arguments, comparison, "diff", rows_of(arguments.rows, kDefaultRows, changed_rows(comparison.growth())),
              write, after_comparing(comparison));
}

std::string answer_trend(Session& session, const ToolArguments& arguments) {
  Comparison& comparison = session.comparisons.open(arguments, session.paths);
  if (is_about_counters(comparison)) return counters_answer(arguments, comparison, "trend");
  const TrendReport& trend = comparison.judged();
  const auto write = [&](const report::Style& style) { return report::write_trend(trend, style); };
  return told(arguments, comparison, "trend", rows_of(arguments.rows, kDefaultRows, changed_rows(trend.series.overall)),
              write, after_comparing(comparison));
}

std::string answer_culprit(Session& session, const ToolArguments& arguments) {
  Comparison& comparison = session.comparisons.open(arguments, session.paths);
  const GrowthReport& report = comparison.growth();
  if (report.story == nullptr) fail({ErrorCode::usage, "no culprits: this comparison has no story"});
  const std::vector<const Culprit*> all = culprits_of(*report.story);
  const std::vector<std::string> others = {call_text(comparison.has_graph() ? "holders" : "gate", comparison),
                                           call_text("report", comparison)};
  if (all.empty()) {
    const std::string why = report.story->no_culprit.empty() ? "nothing grew" : report.story->no_culprit;
    return "no culprit: " + printable(why) + "\n" + next_text(others);
  }
  const std::size_t number = chosen(all, arguments);
  const auto write = [&](const report::Style& style) {
    return "culprit " + std::to_string(number + 1) + " of " + std::to_string(all.size()) + "\n" +
           report::write_culprit(report, *all[number], style);
  };
  std::vector<std::string> next = others;
  if (number + 1 < all.size())
    next = {call_text("culprit", comparison, ",\"culprit\":" + std::to_string(number + 2)), others.front()};
  return told(arguments, comparison, "culprit", rows_of(arguments.rows, kCulpritRows, all[number]->rows.size()), write,
              next);
}

std::string answer_holders(Session& session, const ToolArguments& arguments) {
  Comparison& comparison = session.comparisons.open(arguments, session.paths);
  Rows rows = rows_of(arguments.rows, kDefaultRows, 0);
  if (!arguments.type.empty()) {
    const PathReport found = value_or_throw(objects::paths(comparison.refs(), {arguments.type, 1}));
    const auto write = [&](const report::Style& style) { return report::write_paths(found, style); };
    return told(arguments, comparison, "holders", rows, write,
                {call_text("culprit", comparison), call_text("holders", comparison)});
  }
  RetainedReport found = value_or_throw(session::retained_with_owners(comparison.refs()));
  rows.all = found.rows.size();
  const std::string first = found.owners.empty() ? "TYPE" : found.owners.front().type;
  found.rows.erase(found.rows.begin(),
                   found.rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.first, found.rows.size())));
  const auto write = [&](const report::Style& style) { return report::write_retained(found, style); };
  std::string type;
  report::JsonWriter(type).string(first.substr(0, 120));
  return told(arguments, comparison, "holders", rows, write,
              {call_text("holders", comparison, ",\"type\":" + type), call_text("culprit", comparison)});
}

std::string answer_gate(Session& session, const ToolArguments& arguments) {
  Comparison& comparison = session.comparisons.open(arguments, session.paths);
  session::GateRules rules = gate_rules_of(session, arguments);
  session::GateSeries series = value_or_throw(session::gate_series(comparison.refs(), comparison.view));
  const session::GateAnswer answer = value_or_throw(session::judge_gate(std::move(series), {}, std::move(rules)));
  const auto write = [&](const report::Style& style) { return report::write_gate(answer.report, style); };
  return told(arguments, comparison, "gate", rows_of(arguments.rows, kDefaultRows, 0), write,
              {call_text("culprit", comparison), call_text("report", comparison)});
}

std::string answer_report(Session& session, const ToolArguments& arguments) {
  Comparison& comparison = session.comparisons.open(arguments, session.paths);
  if (!arguments.folder.empty() && session.reports.empty()) report_folder(session, arguments.folder);
  const session::ReportedSeries series = value_or_throw(session::reported_series(*comparison.loaded));
  if (series.loaded.snapshots.size() < 2) fail({ErrorCode::usage, "a report is of two snapshots or more: found 1"});
  const postmortem::Rules rules = value_or_throw(postmortem::built_in_rules());
  const Postmortem report = value_or_throw(session::find_out(series, comparison.view, comparison.limit, rules));
  const std::vector<std::string> next = {call_text("culprit", comparison), call_text("gate", comparison)};
  if (!arguments.folder.empty())
    return write_documents(report, series, report_folder(session, arguments.folder)) +
           report::postmortem_text(report, style_of({})) + next_text(next);
  const auto write = [&](const report::Style& style) { return report::postmortem_markdown(report, style); };
  return told(arguments, comparison, "report", rows_of(arguments.rows, kDefaultRows, 0), write, next);
}

}  // namespace snapdiff::mcp
