#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "analyzer/base/markup_text.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/report/csv_record.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

constexpr double kHour = 3600;

std::string amount_text(const GateReport& report, double amount, bool sign) {
  const std::string& unit = report.trend.series.overall.unit;
  return value_text(whole_number(amount), unit, sign);
}

std::size_t count_of(const GateReport& report, Outcome outcome) {
  return static_cast<std::size_t>(
      std::ranges::count_if(report.findings, [&](const GateFinding& f) { return f.outcome == outcome; }));
}

std::string_view to_text(Outcome outcome) {
  constexpr std::string_view kNames[] = {"within", "accepted", "unjudged", "broken"};
  return kNames[static_cast<std::size_t>(outcome)];
}

/// "request cache 2MiB/step"
std::string budget_name(const Budget& budget) {
  if (!budget.name.empty()) return budget.name + " " + budget.text;
  return budget.owner.empty() ? budget.text : budget.owner + " " + budget.text;
}

/// "+250 KiB a snapshot", "+1.40 MiB an hour", "+64 MiB".
std::string measure_text(const GateReport& report, const GateFinding& finding, std::optional<double> value) {
  if (!value) return "n/a";
  switch (report.budgets[finding.budget].measure) {
    case Measure::growth: return amount_text(report, *value, true);
    case Measure::per_step: return amount_text(report, *value, true) + " a snapshot";
    case Measure::per_second: return amount_text(report, *value * kHour, true) + " an hour";
    case Measure::jump: return amount_text(report, *value, true) + " at once";
  }
  return {};
}

std::string measured_text(const GateReport& report, const GateFinding& finding) {
  return measure_text(report, finding, finding.measured);
}

/// "at least +52.0 MiB (two standard deviations less); accepted until ...": what the measure does not say.
std::string note_of(const GateReport& report, const GateFinding& finding) {
  const bool differs = finding.measured && finding.least && std::abs(*finding.measured - *finding.least) >= .5 &&
                       measure_text(report, finding, finding.least) != measured_text(report, finding);
  // The measure alone would contradict the outcome of a budget that holds only within its error.
  const bool asks = finding.measured && *finding.measured > finding.allowed;
  if (!differs || (finding.outcome != Outcome::broken && !asks && finding.note.empty())) return finding.note;
  std::string text = "less two standard deviations " + measure_text(report, finding, finding.least);
  return finding.note.empty() ? text : finding.note + "; " + text;
}

/// "FAIL  2 of 3 findings break a budget" or "PASS  ...": is alone in a log.
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
  if (report.instances.empty()) return text;
  const auto of = [&](GateResult result) {
    return std::ranges::count_if(report.instances, [&](const GatedInstance& one) { return one.result == result; });
  };
  text += "; of " + counted(number(report.instances.size()), "instance") + " " +
          std::to_string(of(GateResult::failed)) + " broken, " + std::to_string(of(GateResult::passed)) + " held";
  if (of(GateResult::unjudged) > 0) text += ", " + std::to_string(of(GateResult::unjudged)) + " not judged";
  return text;
}

/// One sentence about a finding.
std::string finding_text(const GateReport& report, const GateFinding& finding) {
  std::string text = finding.name +
                     (finding.measured ? " grows " + measured_text(report, finding) : std::string(" is not judged")) +
                     ", allowed " + budget_name(report.budgets[finding.budget]);
  if (!finding.verdict.reason.empty()) text += "; " + finding.verdict.reason;
  if (const std::string note = note_of(report, finding); !note.empty()) text += "; " + note;
  return text;
}

/// "not judged: h20 (one snapshot)": the instances of a fleet that did not pass, by name.
std::string instance_lines(const GateReport& report, const Style& style) {
  constexpr std::size_t kMostNamed = 20;
  std::string out;
  for (const GateResult result : {GateResult::failed, GateResult::unjudged}) {
    std::string names;
    std::size_t count = 0;
    for (const GatedInstance& one : report.instances) {
      if (one.result != result || ++count > kMostNamed) continue;
      names += (names.empty() ? "" : ", ") + printable(one.name, style.utf8);
      if (result == GateResult::unjudged) names += " (" + printable(one.note, style.utf8) + ")";
    }
    if (count == 0) continue;
    if (count > kMostNamed) names += " and " + std::to_string(count - kMostNamed) + " more";
    out += wrapped_line((result == GateResult::failed ? "broken on: " : "not judged: ") + names, style);
  }
  return out;
}

/// "leaf ‹ caller ‹ …" in at most `width` columns: whole frames, only a first one that is too long is cut.
std::string cut_frames(const std::string& text, std::size_t width, const Glyphs& glyphs) {
  if (display_width(text) <= width) return text;
  const std::string separator = spaced(glyphs.caller), rest = separator + std::string(glyphs.ellipsis);
  std::size_t end = text.find(separator), shown = end;
  if (end == std::string::npos) return cut_name(text, width, glyphs.ellipsis);
  while (end != std::string::npos && display_width(text.substr(0, end)) + display_width(rest) <= width) {
    shown = end;
    end = text.find(separator, end + separator.size());
  }
  const std::size_t room = width - std::min(width, display_width(rest));
  return cut_name(text.substr(0, shown), room, glyphs.ellipsis) + rest;
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
    for (Sheet::Row& row : table.rows()) row.last = cut_frames(printable(row.last, style.utf8), rest, glyphs);
    out += "\n" + table.text(style.colour);
    if (style.max_rows != 0 && report.findings.size() > style.max_rows)
      out += "  " + counted(report.findings.size() - style.max_rows, "more finding") + ": -n 0 shows all\n";
  }
  for (const GateFinding& finding : report.findings) {
    const std::string note = note_of(report, finding);
    if (note.empty()) continue;
    out += wrapped_line(std::string(to_text(finding.outcome)) + " " + finding.id + ": " + printable(note, style.utf8),
                        style);
  }
  out += instance_lines(report, style);
  const TrendReport& trend = report.trend;
  if (trend.series.overall.story != nullptr && report.instances.empty()) {
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
    const std::string note = note_of(report, finding);
    out += "| " + std::string(to_text(finding.outcome)) + " | " + literal(budget_name(report.budgets[finding.budget])) +
           " | " + measured_text(report, finding) + " | " + finding.verdict.word + " | " + literal(finding.name) +
           (note.empty() ? "" : " (" + literal(note) + ")") + " | " + finding.id + " |\n";
  }
  return out;
}

/// By Measure.
struct Rule {
  std::string_view id, words;
};
constexpr Rule kRules[] = {{"growth", "Growth from the first to the last snapshot is over its budget"},
                           {"rate-per-snapshot", "Memory is GROWING faster per snapshot than its budget allows"},
                           {"rate-per-time", "Memory is GROWING faster per time than its budget allows"},
                           {"step", "Memory rose at once (STEP, NEW) by more than its budget allows"}};

constexpr std::string_view rule_of(Measure measure) { return kRules[static_cast<std::size_t>(measure)].id; }

std::string csv_gate(const GateReport& report) {
  std::string text =
      "outcome,budget,measured,allowed,verdict,id,stack,row_count,file,line,note,least,measure,reason\r\n";
  for (const GateFinding& finding : report.findings) {
    Record record(text);
    record.text(to_text(finding.outcome));
    record.text(budget_name(report.budgets[finding.budget]));
    finding.measured ? record.number(*finding.measured) : record.empty();
    record.number(finding.allowed);
    record.text(finding.verdict.word);
    record.text(finding.id);
    record.text(finding.name);
    record.number(static_cast<std::int64_t>(finding.rows));
    record.text(finding.file);
    record.number_if(finding.line > 0, finding.line);
    record.text(finding.note);
    finding.least ? record.number(*finding.least) : record.empty();
    record.text(rule_of(report.budgets[finding.budget].measure));
    record.text(finding.verdict.reason);
  }
  return text;
}

/// Text for XML 1.0: what it has no way to hold comes as \xNN.
std::string xml(std::string_view text) { return entities(printable(text)); }

/// A source path as a URI reference: relative as it is, absolute as file:.
std::string uri(std::string_view path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

/// JSON has no such number: the writer says null.
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

constexpr std::string_view result_word(GateResult result) {
  constexpr std::string_view kWords[] = {"passed", "unjudged", "failed"};
  return kWords[static_cast<std::size_t>(result)];
}

void finding_fields(JsonWriter& json, const GateReport& report, const GateFinding& finding) {
  json.field("outcome", to_text(finding.outcome));
  json.field("budget", budget_name(report.budgets[finding.budget]));
  json.field("measure", rule_of(report.budgets[finding.budget].measure));
  json.field("measured", finding.measured.value_or(kNotMeasured));
  json.field("least", finding.least.value_or(kNotMeasured));
  json.field("allowed", finding.allowed);
  json.field_or_null("verdict", finding.verdict.word);
  json.field_or_null("reason", finding.verdict.reason);
  json.field("id", finding.id);
  json.field("name", finding.name);
  json.field("row_count", static_cast<std::int64_t>(finding.rows));
  json.field_or_null("file", finding.file);
  json.field_or_null("line", finding.line > 0 ? std::optional<std::int64_t>(finding.line) : std::nullopt);
  json.field_or_null("note", finding.note);
}

void head_fields(JsonWriter& json, const GateReport& report) {
  json.field("schema", "snapdiff.gate/1");
  json.field("breached", report.is_breached());
  json.field("result", result_word(report.result()));
  json.field("summary", gate_summary(report));
  json.field("metric", report.trend.series.overall.metric);
  json.field("unit", report.trend.series.overall.unit);
  json.field("snapshots", static_cast<std::int64_t>(report.trend.series.steps.size()));
  const TrendReport& trend = report.trend;
  if (const std::string releases = releases_matched(trend.series, trend.left_out, true); !releases.empty())
    json.field("releases", releases);
  if (!report.instances.empty()) {
    json.objects("instances", report.instances, [&](const GatedInstance& one) {
      json.field("name", one.name);
      json.field("result", result_word(one.result));
      json.field("snapshots", static_cast<std::int64_t>(one.snapshots));
      json.field("broken", static_cast<std::int64_t>(one.broken));
      json.field_or_null("note", one.note);
    });
  }
  json.array("stale", report.stale, [&](const std::string& name) { json.string(name); });
}

void driver_fields(JsonWriter& json, std::string_view version) {
  json.field("name", "snapdiff");
  json.field("version", version);
  json.objects("rules", kRules, [&](const Rule& rule) {
    json.field("id", rule.id);
    json.object("shortDescription", [&] { json.field("text", rule.words); });
  });
}

void result_fields(JsonWriter& json, const GateReport& report, const GateFinding& finding) {
  const Measure measure = report.budgets[finding.budget].measure;
  json.field("ruleId", rule_of(measure));
  json.field("ruleIndex", static_cast<std::int64_t>(measure));
  // "open": too little information to decide; SARIF has no level for what did not fail.
  if (finding.outcome == Outcome::unjudged) json.field("kind", "open");
  json.field("level", finding.outcome == Outcome::unjudged ? "none" : "error");
  json.object("message", [&] { json.field("text", finding_text(report, finding)); });
  json.one_object("locations", [&] {
    if (!finding.file.empty()) {
      json.object("physicalLocation", [&] {
        json.object("artifactLocation", [&] { json.field("uri", uri(finding.file)); });
        if (finding.line > 0) json.object("region", [&] { json.field("startLine", std::int64_t{finding.line}); });
      });
    }
    json.one_object("logicalLocations", [&] { json.field("fullyQualifiedName", finding.name); });
  });
  json.object("partialFingerprints", [&] { json.field("snapdiffLeakId/v1", finding.id); });
}

std::string json_gate(const GateReport& report, const Style& style) {
  std::string out;
  const auto head = [&](JsonWriter& json) { head_fields(json, report); };
  const auto row = [&](JsonWriter& json, const GateFinding& finding) {
    json.object([&] { finding_fields(json, report, finding); });
  };
  json_document(out, style, "findings", report.findings, head, row, [](JsonWriter&) {});
  return out;
}

}  // namespace

std::string write_gate(const GateReport& report, const Style& style) {
  return in_form(
      style.form, [&] { return text_gate(report, style); }, [&] { return markdown_gate(report); },
      [&] { return csv_gate(report); }, [&] { return json_gate(report, style); });
}

std::string gate_junit(const GateReport& report) {
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  std::string cases;
  for (const GateFinding& finding : report.findings) {
    cases += "    <testcase classname=\"" + xml(budget_name(report.budgets[finding.budget])) + "\" name=\"" +
             xml(finding.name) + " [" + finding.id + "]\" time=\"0\"";
    const std::string text = xml(finding_text(report, finding));
    if (finding.outcome == Outcome::broken) {
      ++failures;
      cases += ">\n      <failure type=\"" + std::string(rule_of(report.budgets[finding.budget].measure)) +
               "\" message=\"" + text + "\">" + text;
      if (!finding.file.empty()) cases += "\n" + xml(finding.file) + ":" + std::to_string(finding.line);
      cases += "</failure>\n    </testcase>\n";
    } else if (finding.outcome == Outcome::unjudged && !report.allow_unjudged) {
      ++errors;  // a server takes what is skipped for passed
      cases += ">\n      <error type=\"not judged\" message=\"" + text + "\"/>\n    </testcase>\n";
    } else if (finding.outcome == Outcome::unjudged) {
      ++skipped;
      cases += ">\n      <skipped message=\"" + xml(finding.note) + "\"/>\n    </testcase>\n";
    } else {
      cases += "/>\n";
    }
  }
  std::string tests = std::to_string(report.findings.size());
  if (report.findings.empty()) {  // some servers take a suite without cases for a failure
    tests = "1";
    cases = "    <testcase classname=\"snapdiff\" name=\"" + xml(gate_summary(report)) + "\" time=\"0\"/>\n";
  }
  const std::string counts = " tests=\"" + tests + "\" failures=\"" + std::to_string(failures) + "\" errors=\"" +
                             std::to_string(errors) + "\" skipped=\"" + std::to_string(skipped) + "\" time=\"0\"";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"snapdiff gate\"" + counts +
         ">\n  <testsuite name=\"snapdiff gate\"" + counts + ">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

std::string gate_sarif(const GateReport& report, std::string_view version) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json.field("version", "2.1.0");
    json.one_object("runs", [&] {
      json.object("tool", [&] { json.object("driver", [&] { driver_fields(json, version); }); });
      json.key("results");
      json.begin_array();
      for (const GateFinding& finding : report.findings) {
        if (finding.outcome != Outcome::broken && finding.outcome != Outcome::unjudged) continue;
        json.new_line();
        json.object([&] { result_fields(json, report, finding); });
      }
      json.end_array();
    });
  });
  return out + '\n';
}

}  // namespace snapdiff::report
