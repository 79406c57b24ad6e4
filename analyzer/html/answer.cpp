#include <algorithm>
#include <cmath>

#include "analyzer/document/answer_parts.hpp"
#include "analyzer/html/data_blocks.hpp"
#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"

namespace snapdiff::html {
namespace {

std::string figure(std::string_view label, const std::string& big, const std::string& small, std::string_view id,
                   std::string_view direction = "") {
  std::string out = "<div id=\"" + std::string(id) + "\"><dt>" + std::string(label) + "</dt><dd";
  if (!direction.empty()) out += " class=\"" + std::string(direction) + "\"";
  return out + ">" + big + "</dd><dd class=\"small\">" + small + "</dd></div>\n";
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
  return figure("matched in both", share,
                growth_report.exact       ? "of the bytes; exact, not sampled"
                : growth_report.has_error ? "of the bytes; \u00b1 is one standard deviation"
                                          : "of the bytes; sampling error unknown",
                "figure-matched");
}

std::string figures(const Postmortem& report) {
  const GrowthReport& g = report.growth();
  const std::string numbers = report.trend.left_out + value_count(report.growth()) > 2 || report.trend.left_out > 0
                                  ? std::to_string(report.trend.left_out + 1) + " \u2192 " +
                                        std::to_string(report.trend.left_out + value_count(report.growth()))
                                  : std::string("before \u2192 after");
  std::string out = "<dl class=\"facts\">\n";
  out += figure("growth " + numbers, growth(g.total.growth(), g.unit),
                value(g.total.baseline, g.unit) + " \u2192 " + value(g.total.current, g.unit), "figure-growth",
                direction(g.total.growth()));
  out +=
      figure("grew and shrank", growth(g.grew, g.unit), "grew, " + growth(g.shrank, g.unit) + " shrank", "figure-rate");
  out += g.has_objects ? figure("objects", growth_count_text(g.total_objects.growth(), kGlyphs),
                                count_text(g.total_objects.baseline, kGlyphs) + " \u2192 " +
                                    count_text(g.total_objects.current, kGlyphs),
                                "figure-objects")
                       : figure("objects", "n/a", "not recorded", "figure-objects");
  return out + matched_figure(g) + "</dl>\n";
}

/// Of counters alone there is no story by stacks: the first lines of the narrative; the very first one is the headline.
std::string counters_lead(const Narrative& narrative) {
  std::string out;
  for (std::size_t i = 1; i < narrative.in_short.size() && i < 3; ++i)
    out += (out.empty() ? "" : " ") + prose(narrative.in_short[i]);
  return out;
}

std::string events(const Story& story) {
  std::string out;
  for (const Event& event : story.events)
    out += "<p class=\"event\" role=\"alert\"><b>" + safe(event.title) + "</b>: " + prose(event.text) + ".</p>\n";
  return out;
}

std::string culprit_row(const Culprit& culprit) {
  std::string place = prose(culprit.text.place);
  if (!culprit.text.via.empty()) place += " <span class=\"called\">(" + prose(culprit.text.via) + ")</span>";
  const std::vector<double> values(culprit.values.begin(), culprit.values.end());
  return "<tr><td>" + badge(culprit.text.label) + "</td><td><b>" + prose(culprit.text.name) + "</b> " + place +
         "<br><span class=\"via\">" + prose(culprit.text.pace) + "</span></td><td class=\"g " +
         std::string(direction(culprit.growth())) + "\"><b>" + safe(culprit.text.growth) + "</b></td><td>" +
         safe(culprit.text.share) + "</td><td class=\"wide\">" +
         (values.size() > 2 ? sparkline(values) : std::string()) + "</td></tr>\n";
}

std::string culprit_table(const document::CulpritList& list) {
  std::string out =
      "<h2>" + std::string(list.title) + "</h2>\n<div class=\"scroll\"><table class=\"plain culprits\"><tbody>\n";
  for (const Culprit& culprit : list.culprits) out += culprit_row(culprit);
  return out + "</tbody></table></div>\n";
}

/// What is in use below calls of modules.
std::string module_list(const Story& story) {
  if (story.peak == nullptr || !story.is_of_peak || story.peak->modules.empty()) return {};
  std::string out = "<h2>Below calls of modules</h2>\n<ul class=\"note\">\n";
  for (const Prose& line : story.peak->modules) out += "<li>" + prose(line) + "</li>\n";
  return out + "</ul>\n";
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
    const auto at = std::ranges::lower_bound(chosen.rows, row);
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
      "that the evidence fits: heuristics.</p>\n";
  for (const Hint& hint : narrative.hints) {
    out += "<article class=\"hint\"><h3>" + safe(bounded(hint.title, 200));
    out += hint.harmless ? " <span class=\"badge FLAT\">PROBABLY HARMLESS</span>"
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
  return g.story == nullptr ? metric_title(g.metric) : plain(g.story->headline);
}

std::string answer_section(const Postmortem& report) {
  const Story* story = report.growth().metric.empty() ? nullptr : report.growth().story.get();
  std::string out = "<section id=\"answer\">\n";
  if (story != nullptr) out += events(*story);
  out += "<div class=\"head\"><h1>";
  out += report.narrative.headline.empty() ? safe(headline_text(report)) : prose(report.narrative.headline);
  out += "</h1>" + badge(story != nullptr ? story->verdict : report.narrative.verdict, true) + "</div>\n";
  const std::string lead = story != nullptr ? prose(document::answer_figures(*story)) : counters_lead(report.narrative);
  if (!lead.empty()) out += "<p class=\"lead\">" + lead + "</p>\n";
  return out + "</section>\n";
}

std::string culprits_section(const Postmortem& report) {
  if (report.growth().metric.empty() || report.growth().story == nullptr) return {};
  const Story& story = *report.growth().story;
  std::string out = "<section id=\"culprits\" aria-label=\"culprits\">\n";
  for (const document::CulpritList& list : document::culprit_lists(story)) out += culprit_table(list);
  if (!story.no_culprit.empty() && story.freed.empty()) out += "<p>No culprit: " + safe(story.no_culprit) + ".</p>\n";
  out += module_list(story);
  if (const Prose remarks = document::answer_remarks(story); !remarks.empty())
    out += "<p class=\"note\">" + prose(remarks) + "</p>\n";
  if (!story.next.empty()) out += "<p>Next: <code>" + safe(plain(story.next)) + "</code></p>\n";
  return out + "</section>\n";
}

std::string figures_section(const Postmortem& report) {
  if (report.growth().metric.empty()) return {};
  return "<section id=\"figures\" aria-label=\"key figures\">\n" + figures(report) + "</section>\n";
}

std::string story_section(const Postmortem& report, const Chosen& chosen) {
  const std::string list = findings(report.narrative);
  if (list.empty()) return hints(report.narrative, chosen);
  return "<section id=\"story\" aria-labelledby=\"story-h\"><h2 id=\"story-h\">What the figures say</h2>\n" + list +
         "</section>\n" + hints(report.narrative, chosen);
}

}  // namespace snapdiff::html
