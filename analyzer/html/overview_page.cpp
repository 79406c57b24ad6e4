#include <algorithm>
#include <cstdio>

#include "analyzer/base/overview.hpp"
#include "analyzer/html/assets.hpp"
#include "analyzer/html/data_blocks.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"
#include "analyzer/report/text_tools.hpp"

namespace snapdiff::html {
namespace {

/// The series as a line in a box of 100 by 100, from zero up.
std::string sparkline_of(const OverviewRow& row, std::string_view kind) {
  if (row.values.size() < 2) return {};
  const auto most =
      static_cast<double>(std::max<std::int64_t>(1, *std::max_element(row.values.begin(), row.values.end())));
  // A page of many long series stays small: more points than these are closer than pixels.
  constexpr std::size_t kMostPoints = 240;
  const std::size_t count = row.values.size();
  const std::size_t points = std::min(count, kMostPoints);
  std::string out = "<svg class=\"" + std::string(kind) + " " + std::string(row.verdict) +
                    "-line\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"" +
                    value(row.values.front(), row.unit) + " to " + value(row.values.back(), row.unit) +
                    "\"><polyline points=\"";
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t at = points == 1 ? 0 : i * (count - 1) / (points - 1);
    const double share = std::max(0.0, static_cast<double>(row.values[at]) / most);
    char text[48];
    std::snprintf(text, sizeof text, "%s%.4g,%.4g", i == 0 ? "" : " ",
                  100.0 * static_cast<double>(i) / static_cast<double>(points - 1), 98 - 96 * share);
    out += text;
  }
  return out + "\"/></svg>";
}

std::string series_badge(const std::string& verdict) {
  return verdict.empty() ? "" : "<span class=\"badge " + verdict + "\">" + verdict + "</span>";
}

std::string first_culprit(const OverviewRow& row) {
  std::string out = prose(row.culprit);
  if (!row.place.empty()) out += "<span class=\"via\">" + prose(row.place) + "</span>";
  return out;
}

std::string series_row(const OverviewRow& row, std::size_t number, bool has_limit) {
  const bool has_values = !row.values.empty();
  std::string out = "<tr><td><a href=\"#s" + std::to_string(number) + "\">" + safe(bounded(row.name, 200)) +
                    "</a></td><td>" + series_badge(row.verdict) + "</td><td>" +
                    (has_values ? value(row.total.current, row.unit) : "") + "</td><td class=\"g " +
                    std::string(direction(row.total.growth())) + "\">" +
                    (row.values.size() > 1 ? growth(row.total.growth(), row.unit) : "") + "</td><td>" +
                    safe(report::overview_rate(row)) + "</td>";
  if (has_limit) out += "<td>" + safe(report::overview_to_limit(row)) + "</td>";
  return out + "<td>" + sparkline_of(row, "spark") + "</td><td>" + first_culprit(row) +
         (row.note.empty() ? "" : "<span class=\"via\">" + safe(bounded(row.note, 300)) + "</span>") + "</td></tr>\n";
}

std::string series_section(const OverviewRow& row, std::size_t number, bool has_limit) {
  std::string out = "<section class=\"one\" id=\"s" + std::to_string(number) + "\"><h3>" +
                    safe(bounded(row.name, 300)) + " " + series_badge(row.verdict) + "</h3>\n<p>" +
                    counted(row.snapshots, "snapshot");
  if (row.values.size() > 1)
    out += ", " + value(row.total.baseline, row.unit) + " \u2192 " + value(row.total.current, row.unit) + " (" +
           growth(row.total.growth(), row.unit) + "), " + safe(report::overview_rate(row));
  if (const std::string time = report::overview_to_limit(row); has_limit && !time.empty())
    out += "; to the limit: " + safe(time);
  out += "</p>\n";
  if (!row.culprit.empty())
    out += "<p>first culprit: " + prose(row.culprit) + (row.place.empty() ? "" : " " + prose(row.place)) +
           (row.share.empty() ? "" : ", " + safe(row.share) + " of the growth") + "</p>\n";
  if (!row.note.empty()) out += "<p class=\"note\">" + safe(bounded(row.note, 2000)) + "</p>\n";
  const std::string plot = sparkline_of(row, "plot");
  if (!plot.empty())
    out += plot + "<p class=\"axis\"><span>snapshot 1</span><span>from 0 to " +
           value(*std::max_element(row.values.begin(), row.values.end()), row.unit) + "</span><span>" +
           std::to_string(row.values.size()) + "</span></p>";
  return out + "<p><a href=\"#top\">up</a></p></section>\n";
}

}  // namespace

std::string to_html(const Overview& overview, std::string_view title, std::string_view version) {
  const auto growing = std::count_if(overview.rows.begin(), overview.rows.end(),
                                     [](const auto& row) { return row.verdict == "GROWING"; });
  const std::string headline =
      count_text(overview.rows.size(), kGlyphs) + "\u00a0series, " + std::to_string(growing) + " GROWING";
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src " +
      hash_source(assets::overview_sha256) +
      "; img-src data:; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta "
      "name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" content=\"" +
      safe(version) + "\">\n<title>" + headline + "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>";
  for (const std::string_view piece : assets::overview) out += piece;
  out +=
      "</style>\n</head>\n<body><main class=\"page\" id=\"top\">\n<header class=\"bar\"><b>snapdiff</b><span "
      "class=\"name\">" +
      safe(bounded(title, 200)) + "</span></header>\n<div class=\"head\"><h1>" + headline + "</h1></div>\n";
  const bool has_limit = overview.limit.has_value();
  if (has_limit) out += "<p class=\"note\">limit of each: " + value(*overview.limit, "bytes") + "</p>\n";
  out +=
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"series\"><thead><tr><th scope=\"col\">series</th><th "
      "scope=\"col\">verdict</th><th scope=\"col\">total</th><th scope=\"col\">growth</th><th "
      "scope=\"col\">rate</th>" +
      std::string(has_limit ? "<th scope=\"col\">to limit</th>" : "") +
      "<th scope=\"col\">over time</th><th scope=\"col\">first culprit</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < overview.rows.size(); ++i) out += series_row(overview.rows[i], i + 1, has_limit);
  out += "</tbody></table></div>\n<h2>Each series</h2>\n";
  for (std::size_t i = 0; i < overview.rows.size(); ++i) out += series_section(overview.rows[i], i + 1, has_limit);
  return out + "<footer>" + safe(version) + "</footer>\n</main></body>\n</html>\n";
}

}  // namespace snapdiff::html
