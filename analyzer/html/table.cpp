#include <algorithm>
#include <cmath>

#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"

namespace snapdiff::html {
namespace {

/// A screenful; the script shows them all.
constexpr std::size_t kFirstRows = 20;
constexpr std::size_t kFunctions = 40;

std::string growth_cell(std::int64_t v, std::string_view unit) {
  return "<td class=\"g " + std::string(direction(v)) + "\"><b>" + cell(v, unit, true) + "</b></td>";
}

/// One row of sums.
std::string sum_row(const std::string& name, const Change& value, std::string_view unit, const std::string& objects,
                    std::string_view id) {
  return "<tr id=\"" + std::string(id) + "\"><th scope=\"row\">" + name +
         "</th><td class=\"wide\"></td><td class=\"g\">" + cell(value.growth(), unit, true) +
         "</td><td class=\"wide\">" + cell(value.baseline, unit) + "</td><td>" + cell(value.current, unit) +
         "</td><td class=\"wide\">" + objects + "</td><td class=\"wide\"></td><td></td></tr>\n";
}

std::string objects_text(const GrowthReport& g, const Change& objects) {
  return g.has_objects ? growth_count_text(objects.growth(), kGlyphs) : std::string("n/a");
}

std::string error_text(const GrowthReport& g, const GrowthRow& row) {
  if (g.exact) return "0";
  if (!g.has_error || !std::isfinite(row.error)) return "n/a";
  return value(static_cast<std::int64_t>(std::llround(std::min(row.error, 9e18))), g.unit);
}

}  // namespace

std::string table_section(const Postmortem& report, const Chosen& chosen, const std::vector<std::int64_t>& rest) {
  const GrowthReport& g = report.growth();
  if (g.metric.empty()) return {};
  const std::string first = std::to_string(report.trend.left_out + 1);
  const std::string last = std::to_string(report.trend.left_out + value_count(g));
  const bool judged = value_count(g) >= kJudgedFrom && report.trend.verdicts.size() == g.rows.size();
  std::string out =
      "<section id=\"table\" aria-labelledby=\"table-h\"><h2 id=\"table-h\">Growth per stack, " + first + " \u2192 " +
      last +
      "</h2>\n<p class=\"note\" id=\"table-note\">Every byte is in exactly one row.</p>\n<div id=\"tools\" "
      "class=\"tools\"></div>\n<div class=\"scroll\" id=\"scroll\"><table id=\"rows\">\n<thead "
      "id=\"rows-head\"><tr><th "
      "scope=\"col\">allocated in, through</th><th scope=\"col\" class=\"wide\">" +
      first + " \u2013 " + last +
      "</th><th scope=\"col\" aria-sort=\"descending\">growth</th><th scope=\"col\" class=\"wide\">before</th><th "
      "scope=\"col\">after</th><th scope=\"col\" class=\"wide\">objects</th><th scope=\"col\" "
      "class=\"wide\">\u00b1</th><th "
      "scope=\"col\">" +
      std::string(judged ? "verdict" : "kind") + "</th></tr></thead>\n<tbody id=\"rows-body\">\n";
  std::vector<FrameView> frames;
  Change shown;
  Change shown_objects;
  const std::size_t count = std::min(kFirstRows, chosen.rows.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t index = chosen.rows[i];
    const GrowthRow& row = g.rows[index];
    frames.clear();
    if (g.options.by == GroupBy::stack) {
      g.frames(row, frames);
    } else {
      frames.emplace_back();
      frames.back().function = g.keys[row.key];
      frames.back().pseudo = true;
    }
    std::vector<double> values(value_count(g));
    for (std::size_t s = 0; s < values.size(); ++s)
      values[s] = g.series.known(index, s) ? static_cast<double>(value_at(g, index, s)) : std::nan("");
    out += "<tr><td>" + stack_cell(frames) + "</td><td class=\"wide\">" + sparkline(values) + "</td>" +
           growth_cell(row.value.growth(), g.unit) + "<td class=\"wide\">" + cell(row.value.baseline, g.unit) +
           "</td><td>" + cell(row.value.current, g.unit) + "</td><td class=\"wide\">" + objects_text(g, row.objects) +
           "</td><td class=\"wide\">" + error_text(g, row) + "</td><td>" +
           (judged ? badge(report.trend.verdicts[index].word) : std::string(to_text(row.row_class))) + "</td></tr>\n";
    shown += row.value;
    shown_objects += row.objects;
  }
  const Change not_in_rows{rest.front(), rest.back()};
  const Change others = g.total - not_in_rows - shown;
  const Change rest_objects = g.unattributed_objects + g.filtered_objects;
  const Change other_objects = g.total_objects - rest_objects - shown_objects;
  out += "</tbody>\n<tfoot id=\"rows-foot\">\n";
  out += sum_row(entities(others_text(g.rows.size() - count, kGlyphs)), others, g.unit, objects_text(g, other_objects),
                 "sum-others");
  const bool filtered = g.filtered != Change{};
  out += sum_row(filtered ? "[unattributed] and [filtered out]" : "[unattributed]", not_in_rows, g.unit,
                 objects_text(g, rest_objects), "sum-rest");
  out += sum_row("TOTAL", g.total, g.unit, objects_text(g, g.total_objects), "sum-total");
  out += "</tfoot>\n</table></div>\n<p class=\"note\" id=\"cut\">";
  if (chosen.others_count > 0) {
    out += counted(chosen.others_count, "row") +
           " of least change are summed in [others] at every snapshot: the page would pass its limit with them.";
  }
  out += "</p>\n<noscript><p class=\"note\">Scripts are off: these are the " + std::to_string(count) +
         " rows that changed most. With them on, the page sorts, searches, zooms and compares any two "
         "snapshots.</p></noscript>\n</section>\n";
  return out;
}

std::string function_section(const Postmortem& report) {
  const GrowthReport& g = report.by_function;
  if (g.rows.empty() || g.cumulative.size() != g.rows.size() || g.keys.empty()) return {};
  std::string out =
      "<details id=\"functions\"><summary>The same by function, first \u2192 last</summary>\n<p class=\"note\">Flat: "
      "allocated in the function itself; these add up to the total. Cumulative: with all it calls; these do "
      "not.</p>\n<div class=\"scroll\"><table class=\"plain\"><thead><tr><th scope=\"col\">function</th><th "
      "scope=\"col\">flat growth</th><th scope=\"col\">cumulative growth</th><th scope=\"col\" "
      "class=\"wide\">before</th><th scope=\"col\" class=\"wide\">after</th></tr></thead>\n<tbody>\n";
  std::int64_t flat = 0;
  const std::size_t count = std::min(kFunctions, g.rows.size());
  for (std::size_t i = 0; i < count; ++i) {
    const GrowthRow& row = g.rows[i];
    const CumulativeChange& whole = g.cumulative[i];
    flat = wrapping_sum(flat, row.value.growth());
    out += "<tr><td><code>" + entities(bounded(g.keys[row.key].empty() ? "[unknown]" : g.keys[row.key], 400)) +
           "</code></td>" + growth_cell(row.value.growth(), g.unit) + growth_cell(whole.value.growth(), g.unit) +
           "<td class=\"wide\">" + cell(whole.value.baseline, g.unit) + "</td><td class=\"wide\">" +
           cell(whole.value.current, g.unit) + "</td></tr>\n";
  }
  const auto foot = [&](const std::string& name, std::int64_t v) {
    return "<tr><th scope=\"row\">" + name + "</th><td class=\"g\">" + cell(v, g.unit, true) +
           "</td><td></td><td class=\"wide\"></td><td class=\"wide\"></td></tr>\n";
  };
  const std::int64_t rest = wrapping_sum(g.unattributed.growth(), g.filtered.growth());
  out += "</tbody><tfoot>" +
         foot(entities(others_text(g.rows.size() - count, kGlyphs)),
              wrapping_difference(wrapping_difference(g.total.growth(), rest), flat)) +
         foot("[unattributed]", rest) + foot("TOTAL", g.total.growth());
  return out + "</tfoot></table></div></details>\n";
}

}  // namespace snapdiff::html
