#include <algorithm>
#include <cmath>

#include "analyzer/report/gate_parts.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/releases.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/story_lines.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {
namespace {

constexpr double kHour = 3600;

std::string amount_text(const GateReport& report, double amount, bool sign) {
  const std::string& unit = report.trend.series.overall.unit;
  return value_text(std::llround(std::clamp(amount, -9e18, 9e18)), unit, sign);
}

std::size_t count_of(const GateReport& report, Outcome outcome) {
  return static_cast<std::size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                                [&](const GateFinding& f) { return f.outcome == outcome; }));
}

}  // namespace

std::string_view to_text(Outcome outcome) {
  constexpr std::string_view kNames[] = {"within", "accepted", "unjudged", "broken"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::string budget_name(const Budget& budget) {
  if (!budget.name.empty()) return budget.name + " " + budget.text;
  return budget.owner.empty() ? budget.text : budget.owner + " " + budget.text;
}

std::string measured_text(const GateReport& report, const GateFinding& finding) {
  if (!finding.measured) return "n/a";
  switch (report.budgets[finding.budget].measure) {
    case Measure::growth: return amount_text(report, *finding.measured, true);
    case Measure::per_step: return amount_text(report, *finding.measured, true) + " a snapshot";
    case Measure::per_second: return amount_text(report, *finding.measured * kHour, true) + " an hour";
    case Measure::jump: return amount_text(report, *finding.measured, true) + " at once";
  }
  return {};
}

std::string gate_summary(const GateReport& report) {
  const auto number = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  const std::size_t all = report.budgets.size();
  const std::size_t unjudged = report.budgets_with(Outcome::unjudged);
  const std::string of_all = " of " + counted(number(all), "budget");
  std::string text;
  switch (report.result()) {
    case GateResult::failed:
      text = "FAIL  " + std::to_string(report.budgets_with(Outcome::broken)) + of_all + " broken by " +
             counted(number(count_of(report, Outcome::broken)), "finding");
      break;
    case GateResult::unjudged: text = "NOT JUDGED  " + std::to_string(unjudged) + of_all; break;
    case GateResult::passed: text = "PASS  " + counted(number(all - unjudged), "budget") + " held"; break;
  }
  if (const std::size_t accepted = count_of(report, Outcome::accepted); accepted > 0)
    text += ", " + std::to_string(accepted) + " accepted";
  if (unjudged > 0 && report.result() != GateResult::unjudged) text += ", " + std::to_string(unjudged) + " not judged";
  return text;
}

std::string finding_text(const GateReport& report, const GateFinding& finding) {
  std::string text = finding.name +
                     (finding.measured ? " grows " + measured_text(report, finding) : std::string(" is not judged")) +
                     ", allowed " + budget_name(report.budgets[finding.budget]);
  if (!finding.verdict.reason.empty()) text += "; " + finding.verdict.reason;
  if (!finding.note.empty()) text += "; " + finding.note;
  return text;
}

std::string text_gate(const GateReport& report, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  std::string out =
      painted(gate_summary(report), report.result() == GateResult::passed ? Paint::none : Paint::alarm, style.colour) +
      "\n";
  if (!report.findings.empty()) {
    Sheet table({{"budget", 14, false, "  "},
                 {"measured", 10, true, "  "},
                 {"", 8, false, "  "},
                 {"verdict", 7, false, "  "},
                 {"id", 12, false, "  "}},
                "stack", style.thousands);
    std::size_t shown = 0;
    for (const GateFinding& finding : report.findings) {
      if (style.max_rows != 0 && shown++ == style.max_rows) break;
      Sheet::Row& row = table.add();
      const Paint paint = finding.outcome == Outcome::broken ? Paint::alarm : Paint::none;
      row.cells = {{printable(budget_name(report.budgets[finding.budget]), style.utf8), Paint::none},
                   {measured_text(report, finding), Paint::none},
                   {std::string(to_text(finding.outcome)), paint},
                   {finding.verdict.word, Paint::none},
                   {finding.id, Paint::dim}};
      row.last = finding.name;
    }
    const std::size_t rest = std::max<std::size_t>(24, table.rest_width(style.width));
    for (Sheet::Row& row : table.rows()) row.last = cut_middle(printable(row.last, style.utf8), rest, glyphs.ellipsis);
    out += "\n" + table.text(style.colour);
    if (style.max_rows != 0 && report.findings.size() > style.max_rows)
      out += "  " + counted(report.findings.size() - style.max_rows, "more finding") + ": -n 0 shows all\n";
  }
  for (const GateFinding& finding : report.findings) {
    if (finding.note.empty()) continue;
    out += wrapped_line(
        std::string(to_text(finding.outcome)) + " " + finding.id + ": " + printable(finding.note, style.utf8), style);
  }
  const TrendReport& trend = report.trend;
  if (trend.series.overall.story != nullptr) {
    for (const HeadLine& event : event_lines(*trend.series.overall.story, style))
      out += wrapped_line(event.label + ": " + event.plain(), style);
  }
  if (const std::string releases = releases_matched(trend.series, trend.left_out, style.utf8); !releases.empty())
    out += wrapped_line("note: " + releases, style);
  for (const std::string& name : report.stale)
    out += wrapped_line("note: accepted growth that is not there any more: " + printable(name, style.utf8), style);
  return out;
}

std::string markdown_gate(const GateReport& report) {
  std::string out = "### " + gate_summary(report) + "\n";
  const TrendReport& trend = report.trend;
  if (const std::string releases = releases_matched(trend.series, trend.left_out, true); !releases.empty())
    out += "\n" + literal(releases) + "\n";
  if (report.findings.empty()) return out;
  out += "\n| outcome | budget | measured | verdict | stack | id |\n| :--- | :--- | ---: | :--- | :--- | :--- |\n";
  for (const GateFinding& finding : report.findings) {
    out += "| " + std::string(to_text(finding.outcome)) + " | " + literal(budget_name(report.budgets[finding.budget])) +
           " | " + measured_text(report, finding) + " | " + finding.verdict.word + " | " + literal(finding.name) +
           (finding.note.empty() ? "" : " (" + literal(finding.note) + ")") + " | " + finding.id + " |\n";
  }
  return out;
}

}  // namespace snapdiff::report
