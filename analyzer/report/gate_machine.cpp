#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "analyzer/report/gate_parts.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/releases.hpp"
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

void finding_fields(JsonWriter& json, const GateReport& report, const GateFinding& finding) {
  json.field("outcome", to_text(finding.outcome));
  json.field("budget", budget_name(report.budgets[finding.budget]));
  json.field("measure", rule_of(report.budgets[finding.budget].measure));
  json.field("measured", finding.measured.value_or(kNotMeasured));
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
  json.array("stale", report.stale, [&](const std::string& name) { json.string(name); });
}

void driver_fields(JsonWriter& json, std::string_view version) {
  json.field("name", "snapdiff");
  json.field("version", version);
  json.objects("rules", kMeasures, [&](const Measure measure) {
    json.field("id", rule_of(measure));
    json.object("shortDescription", [&] { json.field("text", rule_words(measure)); });
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

}  // namespace

std::string json_gate(const GateReport& report, const Style& style) {
  std::string out;
  const auto head = [&](JsonWriter& json) { head_fields(json, report); };
  const auto row = [&](JsonWriter& json, const GateFinding& finding) {
    json.object([&] { finding_fields(json, report, finding); });
  };
  json_document(out, style.form, "findings", report.findings, head, row, [](JsonWriter&) {});
  return out;
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
