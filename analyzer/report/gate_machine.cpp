#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "analyzer/report/gate_parts.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/text_tools.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/markup_text.hpp"

namespace snapdiff::report {
namespace {

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

constexpr std::string_view rule_of(Measure measure) {
  switch (measure) {
    case Measure::growth: return "growth";
    case Measure::per_step: return "rate-per-snapshot";
    case Measure::per_second: return "rate-per-time";
    case Measure::jump: return "step";
  }
  return "";
}

constexpr std::string_view rule_words(Measure measure) {
  switch (measure) {
    case Measure::growth: return "Growth from the first to the last snapshot is over its budget";
    case Measure::per_step: return "Memory is GROWING faster per snapshot than its budget allows";
    case Measure::per_second: return "Memory is GROWING faster per time than its budget allows";
    case Measure::jump: return "Memory rose at once (STEP, NEW) by more than its budget allows";
  }
  return "";
}

constexpr Measure kMeasures[] = {Measure::growth, Measure::per_step, Measure::per_second, Measure::jump};

/// JSON has no such number: the writer says null.
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

constexpr std::string_view result_word(GateResult result) {
  switch (result) {
    case GateResult::passed: return "passed";
    case GateResult::unjudged: return "unjudged";
    case GateResult::failed: return "failed";
  }
  return "";
}

void finding_object(JsonWriter& json, const GateReport& report, const GateFinding& finding) {
  json.begin_object();
  json.field("outcome", to_text(finding.outcome));
  json.field("budget", budget_name(report.budgets[finding.budget]));
  json.field("measure", rule_of(report.budgets[finding.budget].measure));
  json.key("measured");
  json.number(finding.measured.value_or(kNotMeasured));
  json.key("allowed");
  json.number(finding.allowed);
  json.field_or_null("verdict", finding.verdict.word);
  json.field_or_null("reason", finding.verdict.reason);
  json.field("id", finding.id);
  json.field("name", finding.name);
  json.field("row_count", static_cast<std::int64_t>(finding.rows));
  json.field_or_null("file", finding.file);
  json.field_or_null("line", finding.line > 0 ? std::optional<std::int64_t>(finding.line) : std::nullopt);
  json.field_or_null("note", finding.note);
  json.end_object();
}

void head_fields(JsonWriter& json, const GateReport& report) {
  json.field("schema", "snapdiff.gate/1");
  json.key("breached");
  json.boolean(report.is_breached());
  json.field("result", result_word(report.result()));
  json.field("summary", gate_summary(report));
  json.field("metric", report.trend.series.overall.metric);
  json.field("unit", report.trend.series.overall.unit);
  json.field("snapshots", static_cast<std::int64_t>(report.trend.series.steps.size()));
  json.key("stale");
  json.begin_array();
  for (const std::string& name : report.stale) json.string(name);
  json.end_array();
}

}  // namespace

std::string json_gate(const GateReport& report, const Style& style) {
  std::string out;
  JsonWriter json(out, style.form == Form::jsonl);
  json.begin_object();
  head_fields(json, report);
  if (style.form == Form::jsonl) {
    json.end_object();
    for (const GateFinding& finding : report.findings) {
      out += '\n';
      JsonWriter line(out, true);
      finding_object(line, report, finding);
    }
    return out + '\n';
  }
  json.key("findings");
  json.begin_array();
  for (const GateFinding& finding : report.findings) {
    json.new_line();
    finding_object(json, report, finding);
  }
  json.end_array();
  json.end_object();
  return out + '\n';
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
  json.begin_object();
  json.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.field("version", "2.1.0");
  json.key("runs");
  json.begin_array();
  json.begin_object();
  json.key("tool");
  json.begin_object();
  json.key("driver");
  json.begin_object();
  json.field("name", "snapdiff");
  json.field("version", version);
  json.key("rules");
  json.begin_array();
  for (const Measure measure : kMeasures) {
    json.begin_object();
    json.field("id", rule_of(measure));
    json.key("shortDescription");
    json.begin_object();
    json.field("text", rule_words(measure));
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.end_object();
  json.key("results");
  json.begin_array();
  for (const GateFinding& finding : report.findings) {
    if (finding.outcome != Outcome::broken && finding.outcome != Outcome::unjudged) continue;
    const Measure measure = report.budgets[finding.budget].measure;
    json.new_line();
    json.begin_object();
    json.field("ruleId", rule_of(measure));
    json.field("ruleIndex", static_cast<std::int64_t>(measure));
    // "open": too little information to decide; SARIF has no level for what did not fail.
    if (finding.outcome == Outcome::unjudged) json.field("kind", "open");
    json.field("level", finding.outcome == Outcome::unjudged ? "none" : "error");
    json.key("message");
    json.begin_object();
    json.field("text", finding_text(report, finding));
    json.end_object();
    json.key("locations");
    json.begin_array();
    json.begin_object();
    if (!finding.file.empty()) {
      json.key("physicalLocation");
      json.begin_object();
      json.key("artifactLocation");
      json.begin_object();
      json.field("uri", uri(finding.file));
      json.end_object();
      if (finding.line > 0) {
        json.key("region");
        json.begin_object();
        json.field("startLine", std::int64_t{finding.line});
        json.end_object();
      }
      json.end_object();
    }
    json.key("logicalLocations");
    json.begin_array();
    json.begin_object();
    json.field("fullyQualifiedName", finding.name);
    json.end_object();
    json.end_array();
    json.end_object();
    json.end_array();
    json.key("partialFingerprints");
    json.begin_object();
    json.field("snapdiffLeakId/v1", finding.id);
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.end_array();
  json.end_object();
  return out + '\n';
}

}  // namespace snapdiff::report
