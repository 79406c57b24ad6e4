#include <algorithm>
#include <cmath>

#include "analyzer/report/gate_parts.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/listed_once.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/names.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {

std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '@': out += "&#64;"; break;
      case '#': out += "&#35;"; break;
      case '|':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '~':
      case '\\': out += '\\'; [[fallthrough]];
      default: out += c;
    }
  }
  return out;
}

namespace {

constexpr std::size_t kNameWidth = 100;

std::string head(const std::vector<HeadLine>& lines) {
  std::string out;
  for (const HeadLine& line : lines) out += "- **" + literal(line.label) + "** " + literal(line.plain()) + "\n";
  return out + "\n";
}

std::string notes_list(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) out += "- " + literal(note) + "\n";
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string growth_rows(const GrowthReport& report, const std::vector<RowVerdict>& verdicts, const Style& style) {
  const Glyphs glyphs;
  const bool grouped = report.options.by != GroupBy::stack;
  const Selection selection = select_rows(report, style, unchanged_rows(report, style));
  const auto value = [&](std::int64_t number, bool sign) { return snapdiff::value_text(number, report.unit, sign); };

  std::vector<std::string> headers{grouped ? "flat" : "growth"};
  if (grouped) headers.emplace_back("cum");
  headers.insert(headers.end(), {"before", "after"});
  if (report.has_objects) headers.emplace_back("objects");
  if (report.has_error && !grouped) headers.emplace_back("±");
  const std::size_t numbers = headers.size();
  headers.emplace_back("class");
  if (!verdicts.empty()) headers.emplace_back("verdict");
  headers.emplace_back(grouped ? std::string(to_text(report.options.by)) : "stack (leaf first)");
  MarkdownTable table(headers, numbers);

  const auto line = [&](const Change& flat, const std::string& cum, const Change& objects, const std::string& error,
                        const std::string& row_class, const std::string& verdict, const std::string& name) {
    std::vector<std::string> cells{value(flat.growth(), true)};
    if (grouped) cells.push_back(cum);
    cells.push_back(value(flat.baseline, false));
    cells.push_back(value(flat.current, false));
    if (report.has_objects) cells.push_back(snapdiff::growth_count_text(objects.growth()));
    if (report.has_error && !grouped) cells.push_back(error);
    cells.push_back(row_class);
    if (!verdicts.empty()) cells.push_back(literal(printable(verdict)));
    cells.push_back(name);
    table.add(cells);
  };
  const std::vector<std::string> names = row_texts(report, selection.rows, kNameWidth, glyphs);
  for (std::size_t i = 0; i < selection.rows.size(); ++i) {
    const std::uint32_t index = selection.rows[i];
    const GrowthRow& row = report.rows[index];
    const std::string error = row.error != row.error ? "n/a" : value(std::llround(row.error), false);
    line(row.value, grouped ? value(report.cumulative[index].value.growth(), true) : "", row.objects, error,
         std::string(to_text(row.row_class)), verdicts.empty() ? "" : verdicts[index].word,
         literal(names[i]) + (within_error(report, row) ? " (within error)" : ""));
  }
  const Others& others = selection.others;
  line(others.value, "", others.objects, "", "", "", literal(others_name(others)));
  line(report.unattributed, "", report.unattributed_objects, "", "", "", literal(kUnattributed));
  if (report.filtered != Change{} || report.filtered_objects != Change{}) {
    line(report.filtered, "", report.filtered_objects, "", "", "", literal("[filtered out]"));
  }
  line(report.total, value(report.total.growth(), true), report.total_objects, "", "", "", "**TOTAL**");
  return table.text();
}

namespace {

/// "" where every stack is listed at both ends.
std::string listed_once_rows(const GrowthReport& report, const Style& style) {
  if (report.listed_once.empty()) return {};
  const Glyphs glyphs = glyphs_for(true);
  MarkdownTable table({"before", "after", "stack (leaf first)"}, 2);
  std::vector<FrameView> frames;
  for (std::size_t i = 0; i < listed_once_shown(report, style); ++i) {
    const ListedOnce& row = report.listed_once[i];
    report.view->frames(row.stack, frames);
    table.add({value_or_unknown(known_baseline(row, report), report.unit),
               value_or_unknown(known_current(row, report), report.unit),
               literal(stack_cell(frames, kNameWidth, glyphs).text)});
  }
  return "\n" + listed_once_heading(report) + ":\n\n" + table.text();
}

std::string title(const SnapshotRef& baseline, const SnapshotRef& current, const std::string& metric,
                  const Change& total, const std::string& unit) {
  // The headline is the answer: quantity, verb, before, after.
  std::string text = metric == "inuse_space"   ? "In-use bytes"
                     : metric == "alloc_space" ? "Allocated bytes"
                                               : literal(printable(metric));
  text += " " + snapdiff::change_text(total.baseline, total.current, unit);
  return "### " + text + "\n\n" + literal(snapshot_name(baseline, true)) + " → " +
         literal(snapshot_name(current, true)) + "\n\n";
}

/// Head lines are not wrapped here.
Style unwrapped(const Style& style) {
  Style wide = style;
  wide.width = 1000;
  wide.utf8 = true;
  wide.colour = false;
  return wide;
}

}  // namespace

std::string markdown_diff(const GrowthReport& report, const Style& style) {
  return title(report.baseline, report.current, report.metric, report.total, report.unit) +
         head(headline(report, unwrapped(style))) + growth_rows(report, {}, style) + listed_once_rows(report, style) +
         notes_list(note_lines(report, true));
}

std::string markdown_series(const SeriesReport& series, const std::vector<RowVerdict>& verdicts, const Style& style) {
  const GrowthReport& report = series.overall;
  const std::vector<RowVerdict>& known = verdicts.size() == report.rows.size() ? verdicts : std::vector<RowVerdict>{};
  std::string out = title(report.baseline, report.current, report.metric, report.total, report.unit) +
                    head(headline(report, unwrapped(style)));
  MarkdownTable table({"step", metric_label(report.metric), "growth", "snapshot"}, 3);
  for (std::size_t i = 0; i < series.steps.size(); ++i) {
    const SeriesStep& step = series.steps[i];
    const std::string restart = step.restart.empty() ? "" : " (restart? " + literal(printable(step.restart)) + ")";
    table.add({std::to_string(i + 1), snapdiff::value_text(step.total, report.unit),
               i == 0 ? "" : snapdiff::value_text(step.growth, report.unit, true),
               literal(snapshot_name(step.snapshot, true)) + restart});
  }
  return out + table.text() + "\n" + growth_rows(report, known, style) + listed_once_rows(report, style) +
         notes_list(note_lines(report, true));
}

std::string markdown_counters(const CounterReport& report, const Style& style) {
  const bool judged =
      std::any_of(report.rows.begin(), report.rows.end(), [](const CounterRow& row) { return !word_of(row).empty(); });
  const bool single = report.snapshots.size() == 1;
  std::vector<std::string> headers{"value"};
  if (!single) headers = {"growth", "before", "after"};
  const std::size_t numbers = headers.size();
  if (judged) headers.emplace_back("verdict");
  headers.emplace_back("counter");
  MarkdownTable table(headers, numbers);
  for (std::size_t i = 0; i < shown_of(report.rows.size(), style); ++i) {
    const CounterRow& row = report.rows[i];
    std::vector<std::string> cells;
    if (!single) {
      cells.push_back(snapdiff::value_text(row.growth, row.unit, true));
      cells.push_back(snapdiff::value_text(row.before(), row.unit));
    }
    cells.push_back(snapdiff::value_text(row.after(), row.unit));
    if (judged) cells.emplace_back(word_of(row));
    cells.push_back(literal(printable(row.name)) + (row.cumulative ? " (counted up)" : ""));
    table.add(cells);
  }
  return "### " + counted(static_cast<std::int64_t>(report.rows.size()), "counter") + " over " +
         counted(static_cast<std::int64_t>(report.snapshots.size()), "snapshot") + "\n\n" + table.text() +
         notes_list(note_lines(report.notes, true));
}

std::string markdown_gate(const GateReport& report) {
  std::string out = "### " + gate_summary(report) + "\n";
  if (report.findings.empty()) return out;
  out += "\n| outcome | budget | measured | verdict | stack | id |\n| :--- | :--- | ---: | :--- | :--- | :--- |\n";
  for (const GateFinding& finding : report.findings) {
    out += "| " + std::string(to_text(finding.outcome)) + " | " + literal(budget_name(report.budgets[finding.budget])) +
           " | " + measured_text(report, finding) + " | " + finding.verdict.word + " | " + literal(finding.name) +
           (finding.note.empty() ? "" : " (" + literal(finding.note) + ")") + " | " + finding.id + " |\n";
  }
  return out;
}

std::string markdown_trend(const TrendReport& trend, const Style& style) {
  const Glyphs glyphs;
  const GrowthReport& overall = trend.series.overall;
  const bool grouped = overall.options.by != GroupBy::stack;
  const Selection selection = select_rows(trend, style);
  std::string out = title(overall.baseline, overall.current, overall.metric, overall.total, overall.unit) +
                    head(headline(trend, unwrapped(style)));
  const bool judged = is_judged(trend) && !trend.scenario;
  std::vector<std::string> headers{"growth", "a snapshot", "±", "p"};
  if (trend.scenario) headers = {"growth", "kept"};
  const std::size_t numbers = headers.size();
  if (judged) headers.emplace_back("verdict");
  headers.emplace_back(grouped ? std::string(to_text(overall.options.by)) : "stack (leaf first)");
  MarkdownTable table(headers, numbers);
  const auto line = [&](const Change& value, const Verdict* verdict, const std::string& name,
                        std::optional<std::int64_t> kept = {}) {
    std::vector<std::string> cells{snapdiff::value_text(value.growth(), overall.unit, true)};
    if (trend.scenario) {
      cells.push_back(kept ? snapdiff::value_text(*kept, overall.unit, true) : "");
      cells.push_back(name);
      table.add(cells);
      return;
    }
    cells.push_back(verdict == nullptr ? "" : slope_text(trend, verdict->slope, true));
    cells.push_back(verdict == nullptr ? "" : slope_text(trend, band_of(*verdict), false));
    cells.push_back(verdict == nullptr ? "" : share_text(verdict->p));
    if (judged) cells.push_back(verdict == nullptr ? "" : literal(verdict->word));
    cells.push_back(name);
    table.add(cells);
  };
  const std::vector<std::string> names = row_texts(overall, selection.rows, kNameWidth, glyphs);
  for (std::size_t i = 0; i < selection.rows.size(); ++i) {
    const std::uint32_t index = selection.rows[i];
    const GrowthRow& row = overall.rows[index];
    std::optional<std::int64_t> kept;
    if (trend.scenario) kept = trend.scenario->kept[index];
    line(row.value, &trend.verdicts[index], literal(names[i]), kept);
  }
  if (selection.others.rows > 0) line(selection.others.value, nullptr, literal(others_name(selection.others)));
  line(overall.unattributed, nullptr, literal(kUnattributed));
  if (overall.filtered != Change{}) line(overall.filtered, nullptr, literal("[filtered out]"));
  line(overall.total, &trend.whole, "**TOTAL**");
  return out + table.text() + notes_list(note_lines(overall, true));
}

std::string markdown_top(const TopReport& report, const Style& style) {
  const Glyphs glyphs;
  const bool grouped = report.options.by != GroupBy::stack;
  const Selection selection = select_rows(report, style);
  std::string out =
      "### " + literal(snapshot_name(report.snapshot, true)) + ": " + snapdiff::value_text(report.total, report.unit);
  if (report.has_objects) out += " in " + counted(report.total_objects, "object");
  out += ", " + literal(printable(report.metric)) + "\n\n";
  std::vector<std::string> headers{grouped ? "flat" : "value", "%"};
  if (grouped) headers.emplace_back("cum");
  if (report.has_objects) headers.emplace_back("objects");
  const std::size_t numbers = headers.size();
  headers.emplace_back(grouped ? std::string(to_text(report.options.by)) : "stack (leaf first)");
  MarkdownTable table(headers, numbers);
  const auto line = [&](std::int64_t flat, const std::string& cum, const std::string& objects,
                        const std::string& name) {
    std::vector<std::string> cells{snapdiff::value_text(flat, report.unit), snapdiff::percent_text(flat, report.total)};
    if (grouped) cells.push_back(cum);
    if (report.has_objects) cells.push_back(objects);
    cells.push_back(name);
    table.add(cells);
  };
  std::vector<FrameView> frames;
  for (const std::uint32_t index : selection.rows) {
    const TopRow& row = report.rows[index];
    std::string name;
    if (grouped) {
      name = key_text(report.keys[row.key], report.options.by, kNameWidth, glyphs);
    } else {
      report.view->frames(report.stacks[row.key], frames);
      name = stack_cell(frames, kNameWidth, glyphs).text;
    }
    line(row.value, snapdiff::value_text(row.cumulative, report.unit), snapdiff::count_text(row.objects),
         literal(name));
  }
  const Others& others = selection.others;
  line(others.value.current, "", snapdiff::count_text(others.objects.current), literal(others_name(others)));
  if (report.unattributed != 0) line(report.unattributed, "", "", literal(kUnattributed));
  if (report.filtered != 0) line(report.filtered, "", "", literal("[filtered out]"));
  line(report.total, snapdiff::value_text(report.total, report.unit), snapdiff::count_text(report.total_objects),
       "**TOTAL**");
  return out + table.text() + notes_list(note_lines(report.notes, true));
}

std::string markdown_peek(const PeekReport& report, const Style& style) {
  const Glyphs glyphs;
  std::string out = title(report.baseline, report.current, report.metric, report.total, report.unit);
  const auto value = [&](std::int64_t number, bool sign) { return snapdiff::value_text(number, report.unit, sign); };
  std::size_t shown = 0;
  for (const PeekFunction& function : report.functions) {
    if (style.max_rows != 0 && shown++ == style.max_rows) break;
    out += "#### " + literal(key_text(function.function, GroupBy::function, kNameWidth, glyphs)) + "\n\n";
    MarkdownTable table({"growth", "before", "after", "relation", "function"}, 3);
    const auto line = [&](const Change& change, const std::string& relation, const std::string& name) {
      table.add({value(change.growth(), true), value(change.baseline, false), value(change.current, false), relation,
                 name.empty() ? "" : literal(key_text(name, GroupBy::function, kNameWidth, glyphs))});
    };
    for (const PeekEdge& edge : function.callers) line(edge.value, "called by", edge.function);
    line(function.cumulative, "cum", "");
    for (const PeekEdge& edge : function.callees) line(edge.value, "calls", edge.function);
    line(function.flat, "flat", "");
    out += table.text() + "\n";
  }
  for (const StackPair& pair : shown_pairs(report, true)) {
    out += "#### " + value(pair.row->value.growth(), true) + ", " + matched_text(pair) + "\n\n";
    MarkdownTable table({"before", "after"}, 0);
    for (const PairedFrame& frame : pair.frames)
      table.add({literal(frame.before), frame.alike() ? "=" : literal(frame.after)});
    out += table.text() + "\n";
  }
  return out;
}

}  // namespace snapdiff::report
