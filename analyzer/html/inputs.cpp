#include <algorithm>
#include <cmath>

#include "analyzer/document/answer_parts.hpp"
#include "analyzer/document/match_words.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"
#include "analyzer/report/report.hpp"

namespace snapdiff::html {
namespace {

constexpr std::size_t kMostInputs = 2'000;
constexpr std::size_t kMostNotes = 500;

std::string input_row(const Postmortem& report, std::size_t i) {
  const SeriesStep& step = report.steps[i];
  const bool has_total = !report.growth().metric.empty();
  const std::string& unit = report.growth().unit;
  std::string out =
      "<tr><td>" + std::to_string(i + 1) + "</td><td><code>" + safe(bounded(step.snapshot.ref, 300)) + "</code>";
  std::string hash, taken = "n/a", format;
  if (step.snapshot.snapshot != nullptr) {
    const SnapshotFacts& facts = step.snapshot.snapshot->facts;
    hash = facts.source.sha256;
    if (facts.taken_at_ns) taken = utc(*facts.taken_at_ns);
    format = facts.format;
    if (facts.partial) format += ", partial";
    if (facts.source.name != step.snapshot.ref && !facts.source.name.empty())
      out += "<span class=\"via\">" + safe(bounded(facts.source.name, 300)) + "</span>";
  }
  if (!step.restart.empty())
    out += "<span class=\"via\">restart suspected before it: " + safe(bounded(step.restart, 300)) + "</span>";
  out += "</td><td class=\"n\">" + (has_total ? cell(step.total, unit) : std::string("n/a")) + "</td><td class=\"n\">" +
         (step.objects ? count_text(*step.objects, kGlyphs) : std::string("n/a")) + "</td><td>" + taken + "</td><td>" +
         safe(bounded(format, 80)) + "</td><td><code class=\"hash\">" + safe(hash.empty() ? std::string("n/a") : hash) +
         "</code></td></tr>\n";
  return out;
}

std::string missing_row(const MissingInput& one) {
  return "<tr class=\"missing\"><td>\u00d7</td><td><code>" + safe(bounded(one.name, 300)) +
         "</code></td><td colspan=\"5\">missing: " + safe(bounded(one.why, 300)) + "</td></tr>\n";
}

std::string input_table(const Postmortem& report) {
  std::string out =
      "<details id=\"files\"><summary>" + counted(report.steps.size(), "snapshot") +
      (report.missing.empty() ? std::string() : ", " + std::to_string(report.missing.size()) + " missing") +
      ", with hashes and totals</summary>\n<div class=\"scroll tall\"><table class=\"plain left\"><thead><tr><th "
      "scope=\"col\"></th><th scope=\"col\">snapshot</th><th scope=\"col\" class=\"n\">total</th><th scope=\"col\" "
      "class=\"n\">objects</th><th scope=\"col\">taken</th><th scope=\"col\">format</th><th "
      "scope=\"col\">SHA-256</th></tr></thead>\n<tbody>\n";
  const std::size_t count = std::min(kMostInputs, report.steps.size());
  auto gap = report.missing.begin();
  for (std::size_t i = 0; i < count; ++i) {
    for (; gap != report.missing.end() && gap->before <= i; ++gap) out += missing_row(*gap);
    out += input_row(report, i);
  }
  for (; gap != report.missing.end(); ++gap) out += missing_row(*gap);
  out += "</tbody></table></div>\n";
  if (count < report.steps.size())
    out += "<p class=\"note\">" + entities(others_text(report.steps.size() - count, kGlyphs)) +
           " are in the JSON report.</p>\n";
  return out + "</details>\n";
}

std::string note_list(const Notes& notes) {
  std::string out = "<details id=\"notes\"";
  const bool grave = std::ranges::any_of(notes.all(), [](const Note& note) { return note.severity != Severity::info; });
  if (grave) out += " open";
  out += "><summary>What was dropped or is unknown (" + count_text(notes.all().size(), kGlyphs) + ")</summary>\n";
  if (notes.empty()) return out + "<p class=\"note\">Nothing: every byte of every input was read.</p></details>\n";
  out += "<ul class=\"notes\">\n";
  std::size_t shown = 0;
  for (const Note* const note : document::by_gravity(notes)) {
    if (shown++ == kMostNotes) break;
    out += "<li><b>" + entities(to_text(note->severity)) + "</b> " + safe(bounded(note->text, 600));
    if (note->count > 1) out += " (" + count_text(note->count, kGlyphs) + "\u00a0\u00d7)";
    if (note->first_offset)
      out += " <span class=\"via\">first at byte " + std::to_string(*note->first_offset) + "</span>";
    out += "</li>\n";
  }
  if (kMostNotes < notes.all().size())
    out += "<li>" + entities(others_text(notes.all().size() - kMostNotes, kGlyphs)) + " more notes</li>\n";
  return out + "</ul></details>\n";
}

std::string method(const Postmortem& report, const GrowthReport& g) {
  std::string out = "<details id=\"method\"><summary>How it was worked out</summary>\n<dl class=\"findings\">\n";
  const auto term = [&](std::string_view label, const std::string& text) {
    out += "<dt>" + std::string(label) + "</dt><dd>" + text + "</dd>\n";
  };
  if (!g.metric.empty()) {
    term("Metric", "<code>" + safe(bounded(g.metric, 100)) + "</code> in " + safe(bounded(g.unit, 40)));
    std::string tiers;
    for (std::size_t tier = 0; tier < kMatchTiers; ++tier) {
      if (g.matched[tier] <= 0) continue;
      tiers += (tiers.empty() ? "" : ", ") + percent_text(std::llround(g.matched[tier] * 1e6), 1'000'000, kGlyphs) +
               " " + std::string(document::match_words(g, static_cast<MatchTier>(tier)));
    }
    term("Stacks matched", tiers.empty() ? "nothing to match" : tiers + " (shares of bytes)");
    term("Sampling", g.exact       ? "not sampled: figures are exact"
                     : g.rounded   ? "values are rounded by their source; \u00b1 is one standard deviation of that"
                     : g.has_error ? "sampled; \u00b1 is one standard deviation of the growth"
                                   : "the inputs do not say how they sampled");
    if (!g.rule_set.empty()) term("Rule set", safe(g.rule_set));
    if (g.unnamed.unnamed > 0)
      term("Without names", count_text(g.unnamed.unnamed, kGlyphs) + " of " + count_text(g.unnamed.addresses, kGlyphs) +
                                " addresses have no function name; " + value(g.unnamed.value, g.unit) +
                                " are in stacks that hold one");
    if (!g.listed_once.empty())
      term("Listed once", counted(g.listed_once.size(), "stack") +
                              " whose growth nobody knows, because a list holds only one end: in no row and no total");
    if (g.series.has_unknown())
      term("Between lists",
           "where a list leaves a stack out, its value is that of the line between its neighbours; the difference to "
           "the "
           "snapshot's total is in [unattributed]");
  }
  if (!report.trend.restart.empty())
    term("Restart", counted(report.trend.left_out + report.trend.left_after, "snapshot") +
                        " of another life are shown in the plot and compared with nothing: " +
                        safe(bounded(report.trend.restart, 400)));
  if (!report.trend.axis.note.empty()) term("Times", safe(bounded(report.trend.axis.note, 400)));
  if (report.redacted) term("Names", "replaced by tokens, the same token for the same name everywhere");
  return out + "</dl></details>\n";
}

std::string glossary() {
  std::string out = "<details id=\"glossary\"><summary>Words</summary>\n<dl class=\"findings\">\n";
  for (const std::span<const document::Term> terms : {document::report_terms(), document::verdict_terms()}) {
    for (const document::Term& term : terms)
      out += "<dt>" + safe(term.word) + "</dt><dd>" + safe(term.meaning) + "</dd>\n";
  }
  return out.append("</dl></details>\n");
}

}  // namespace

std::string inputs_section(const Postmortem& report) {
  std::string out = "<section id=\"inputs\" aria-labelledby=\"inputs-h\"><h2 id=\"inputs-h\">Inputs and method</h2>\n";
  if (!report.order_note.empty()) out += "<p class=\"note\">" + safe(bounded(report.order_note, 600)) + "</p>\n";
  out += function_section(report) + input_table(report) + note_list(report.notes) + method(report, report.growth());
  return out.append(glossary()).append("</section>\n");
}

std::string footer(const Postmortem& report) {
  const GrowthReport& g = report.growth();
  std::string out = "<footer>" + safe(report.version);
  if (!g.metric.empty()) out += " \u00b7 " + safe(bounded(g.metric, 100));
  if (report.created_at_ns > 0) out += " \u00b7 " + utc(report.created_at_ns);
  if (!g.rule_set.empty()) out += " \u00b7 rule set " + safe(g.rule_set);
  if (report.redacted) out += " \u00b7 names are tokens";
  return out + " \u00b7 this file asks nothing of any server</footer>\n";
}

}  // namespace snapdiff::html
