#include <algorithm>
#include <cmath>

#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"
#include "analyzer/html/values.hpp"
#include "snapdiff/frame_text.hpp"
#include "snapdiff/function_name.hpp"

namespace snapdiff::html {
namespace {

std::string figure(std::string_view label, const std::string& big, const std::string& small, std::string_view id,
                   std::string_view direction = "") {
  std::string out = "<div id=\"" + std::string(id) + "\"><dt>" + std::string(label) + "</dt><dd";
  if (!direction.empty()) out += " class=\"" + std::string(direction) + "\"";
  return out + ">" + big + "</dd><dd class=\"small\">" + small + "</dd></div>\n";
}

std::string slope_text(double slope, const std::string& unit) {
  return growth(static_cast<std::int64_t>(std::llround(std::clamp(slope, -9e18, 9e18))), unit);
}

std::string rate_figure(const Postmortem& report, const Series& series) {
  const GrowthReport& growth_report = report.growth();
  const std::string& unit = growth_report.unit;
  if (series.length() < kJudgedFrom || report.trend.verdicts.size() != growth_report.rows.size()) {
    return figure("grew and shrank", growth(growth_report.grew, unit),
                  "grew, " + growth(growth_report.shrank, unit) + " shrank", "figure-rate");
  }
  double slope = 0;
  std::size_t rows = 0;
  for (const Verdict& verdict : report.trend.verdicts) {
    if (verdict.word != "GROWING" && verdict.word != "RISING") continue;
    slope += verdict.slope;
    ++rows;
  }
  if (rows == 0) return figure("rate of the growing stacks", "none", "no stack keeps growing", "figure-rate");
  std::string detail = "per snapshot, " + counted(rows, "stack");
  if (const auto hourly = report.trend.axis.per_hour(slope)) detail += "; " + slope_text(*hourly, unit) + " per hour";
  return figure("rate of the growing stacks", slope_text(slope, unit), detail, "figure-rate");
}

std::string matched_figure(const GrowthReport& growth_report) {
  double matched = 0;
  double all = 0;
  for (std::size_t tier = 0; tier < kMatchTiers; ++tier) {
    all += growth_report.matched[tier];
    if (tier != static_cast<std::size_t>(MatchTier::none)) matched += growth_report.matched[tier];
  }
  const std::string share =
      all > 0 ? percent_text(std::llround(matched * 1e6), std::llround(all * 1e6), kGlyphs) : "n/a";
  return figure("found on both sides", share,
                growth_report.exact       ? "of the bytes; exact, every allocation recorded"
                : growth_report.has_error ? "of the bytes; \u00b1 is one standard deviation"
                                          : "of the bytes; sampling error unknown",
                "figure-matched");
}

std::string figures(const Postmortem& report, const Series& series) {
  const GrowthReport& g = report.growth();
  const std::string numbers = report.trend.left_out + series.length() > 2 || report.trend.left_out > 0
                                  ? std::to_string(report.trend.left_out + 1) + " \u2192 " +
                                        std::to_string(report.trend.left_out + series.length())
                                  : std::string("before \u2192 after");
  std::string out = "<dl class=\"facts\">\n";
  out += figure("growth " + numbers, growth(g.total.growth(), g.unit),
                value(g.total.baseline, g.unit) + " \u2192 " + value(g.total.current, g.unit), "figure-growth",
                direction(g.total.growth()));
  out += rate_figure(report, series);
  out += g.has_objects ? figure("objects", growth_count_text(g.total_objects.growth(), kGlyphs),
                                count_text(g.total_objects.baseline, kGlyphs) + " \u2192 " +
                                    count_text(g.total_objects.current, kGlyphs),
                                "figure-objects")
                       : figure("objects", "n/a", "the inputs do not count them", "figure-objects");
  return out + matched_figure(g) + "</dl>\n";
}

std::string frame_text(const FrameView& frame) {
  return frame.function.empty() ? address_text(frame) : without_std(short_function_name(frame.function));
}

/// Where the narrative has not been written: what the figures alone say.
std::string own_sentence(const GrowthReport& g) {
  if (g.grew == 0 && g.shrank == 0) return "No stack changed between the first and the last snapshot.";
  std::string out;
  for (const Suspect& suspect : g.suspects) {
    if (suspect.path.empty()) continue;
    out += (out.empty() ? "" : "; ") + growth(suspect.growth, g.unit) + " through <code>" +
           entities(bounded(frame_text(suspect.path.back()), 120)) + "</code>";
  }
  return out.empty() ? out : out + ".";
}

/// Two lines of the short story, or, without one, what grew and where: enough to open a page with.
std::string lead_of(const Narrative& narrative) {
  std::string out;
  const auto add = [&](const Prose& text) { out += (out.empty() ? "" : " ") + prose(text); };
  // The first line says what the headline says.
  for (std::size_t i = 1; i < narrative.in_short.size() && i < 3; ++i) add(narrative.in_short[i]);
  for (const Finding& finding : narrative.findings) {
    const bool opens = finding.kind == Finding::Kind::what || finding.kind == Finding::Kind::where;
    if (narrative.in_short.size() < 2 && opens) add(finding.text);
  }
  return out;
}

std::string findings(const Narrative& narrative) {
  std::string out;
  const std::vector<Finding>& all = narrative.findings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool first = i == 0 || all[i - 1].kind != all[i].kind;
    if (first) out += "<dt>" + std::string(title_of(all[i].kind)) + "</dt>";
    out += "<dd>" + prose(all[i].text) + "</dd>\n";
  }
  return out.empty() ? out : "<dl class=\"findings\">\n" + out + "</dl>\n";
}

std::string hint_rows(const Hint& hint, const Chosen& chosen) {
  std::string out;
  for (const std::uint32_t row : hint.rows) {
    const auto at = std::lower_bound(chosen.rows.begin(), chosen.rows.end(), row);
    const auto rank = static_cast<std::size_t>(at - chosen.rows.begin());
    if (at == chosen.rows.end() || *at != row || rank >= kRankedRows) continue;
    out += out.empty() ? "<p class=\"note\">Rows: " : ", ";
    out += "<a href=\"#row=" + std::to_string(rank + 1) + "\">" + std::to_string(rank + 1) + "</a>";
    if (out.size() > 2000) break;
  }
  return out.empty() ? out : out + "</p>\n";
}

std::string hints(const Narrative& narrative, const Chosen& chosen) {
  if (narrative.hints.empty()) return {};
  std::string out =
      "<section id=\"hints\" aria-labelledby=\"hints-h\"><h2 id=\"hints-h\">Hints</h2>\n<p class=\"note\">Known "
      "patterns "
      "that the evidence fits. A hint is no proof.</p>\n";
  for (const Hint& hint : narrative.hints) {
    out += "<article class=\"hint\"><h3>" + safe(bounded(hint.title, 200));
    out += hint.harmless ? " <span class=\"badge FLAT\">MAY BE HARMLESS</span>"
                         : " <span class=\"badge STEP\">HINT</span>";
    out += "</h3>\n<p>" + prose(hint.evidence) + "</p>\n";
    if (!hint.suggestion.empty()) out += "<p><b>Try:</b> " + safe(bounded(hint.suggestion, 1000)) + "</p>\n";
    out += hint_rows(hint, chosen) + "</article>\n";
  }
  return out + "</section>\n";
}

}  // namespace

std::string headline_text(const Postmortem& report) {
  if (!report.narrative.headline.empty()) return plain(report.narrative.headline);
  const GrowthReport& g = report.growth();
  if (g.metric.empty()) return "Counters of " + report.title;
  std::string what = g.metric == "inuse_space" ? "In-use bytes" : g.metric;
  return what + " " + change_text(g.total.baseline, g.total.current, g.unit, kGlyphs);
}

std::string answer_section(const Postmortem& report, const Series& series) {
  const bool has_rows = !report.growth().metric.empty();
  std::string out = "<section id=\"answer\">\n<div class=\"head\"><h1>";
  out += report.narrative.headline.empty() ? safe(headline_text(report)) : prose(report.narrative.headline);
  out += "</h1>" + badge(report.narrative.verdict, true) + "</div>\n";
  std::string lead = lead_of(report.narrative);
  if (lead.empty() && has_rows) lead = own_sentence(report.growth());
  if (!lead.empty()) out += "<p class=\"lead\">" + lead + "</p>\n";
  if (has_rows) out += figures(report, series);
  return out + "</section>\n";
}

std::string story_section(const Postmortem& report, const Chosen& chosen) {
  const std::string list = findings(report.narrative);
  if (list.empty()) return hints(report.narrative, chosen);
  return "<section id=\"story\" aria-labelledby=\"story-h\"><h2 id=\"story-h\">What the figures say</h2>\n" + list +
         "</section>\n" + hints(report.narrative, chosen);
}

}  // namespace snapdiff::html
