#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/frame_text.hpp"
#include "snapdiff/function_name.hpp"

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

constexpr std::size_t kMostFrames = 13;
constexpr std::size_t kLeafWidth = 44;
constexpr std::size_t kCallerWidth = 30;
constexpr std::size_t kLongestCall = 300;

std::string shown_name(const FrameView& frame) {
  if (frame.function.empty()) return bounded(address_text(frame), kLongestCall);
  if (frame.pseudo) return bounded(frame.function, kLongestCall);
  return bounded(without_std(short_function_name(frame.function)), kLongestCall);
}

bool same(const FrameView& a, const FrameView& b) {
  return a.function == b.function && (!a.function.empty() || (a.module == b.module && a.offset == b.offset));
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
      frames.push_back(made_frame(g.keys[row.key]));
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

std::string stack_cell(const std::vector<FrameView>& frames) {
  if (frames.empty()) return "<b>[filtered out]</b>";
  std::size_t end = frames.size();
  while (end > 1 && is_entry_point(frames[end - 1].function)) --end;
  struct Folded {
    const FrameView* frame;
    bool again;
  };
  std::vector<Folded> folded;
  const bool has_own = std::any_of(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(end),
                                   [](const FrameView& frame) { return !frame.library; });
  std::string_view called;
  for (std::size_t i = 0; i < end && folded.size() < kMostFrames; ++i) {
    if (has_own && frames[i].library) {
      if (folded.empty()) called = frames[i].function;
      continue;
    }
    if (!folded.empty() && same(*folded.back().frame, frames[i])) {
      folded.back().again = true;
      continue;
    }
    folded.push_back({&frames[i], false});
  }
  const auto name = [](const Folded& f, std::size_t width) {
    return entities(report::cut_name(shown_name(*f.frame), width, "\u2026")) + (f.again ? " \u21bb" : "");
  };
  std::string out = "<span class=\"leaf\"><b>" + name(folded[0], kLeafWidth) + "</b>";
  const FrameView& leaf = *folded[0].frame;
  if (!called.empty())
    out += " <span class=\"called\">(" + entities(bounded(via_name(called), kLongestCall)) + ")</span>";
  if (!leaf.file.empty()) {
    out += "<span class=\"site\">" + entities(bounded(base_name(leaf.file), kLongestCall));
    if (leaf.line > 0) out += ":" + std::to_string(leaf.line);
    out += "</span>";
  }
  out += "</span><span class=\"via\">";
  // Each name by itself: two in Arabic or Hebrew, side by side, would change places.
  for (std::size_t i = 1; i < folded.size(); ++i)
    out += (i == 1 ? "\u2039 <bdi>" : " \u2039 <bdi>") + name(folded[i], kCallerWidth) + "</bdi>";
  if (folded.size() == kMostFrames) out += " \u2039 \u2026";
  return out += "</span>";
}

std::string badge(std::string_view word, bool big) {
  if (word.empty()) return {};
  const std::string text = safe(word);
  const bool plain = std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
  return "<span class=\"badge" + std::string(big ? " big" : "") + (plain ? " " + text : "") + "\">" + text + "</span>";
}

std::string cell(std::int64_t v, std::string_view unit, bool is_growth) {
  const std::string text = is_growth ? growth(v, unit) : value(v, unit);
  const std::string_view gap = kGlyphs.before_unit;
  const std::size_t at = text.rfind(gap);
  if (at == std::string::npos) return entities(text);
  return entities(text.substr(0, at)) + "<span class=\"u\">" + entities(text.substr(at + gap.size())) + "</span>";
}

std::string sparkline(const std::vector<double>& values) {
  double least = 0;
  double most = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    least = std::min(least, v);
    most = std::max(most, v);
  }
  const double range = most > least ? most - least : 1;
  const std::size_t n = values.size();
  std::string points;
  double first = std::nan("");
  double last = 0;
  char text[48] = {};
  const std::size_t every = std::max<std::size_t>(1, n / 160);
  for (std::size_t i = 0; i < n; i += i + every >= n && i + 1 < n ? n - 1 - i : every) {
    if (!std::isfinite(values[i])) continue;
    if (std::isnan(first)) first = values[i];
    last = values[i];
    std::snprintf(text, sizeof text, "%s%.1f,%.1f", points.empty() ? "" : " ",
                  2 + 72 * static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(1, n - 1)),
                  21 - 18 * (values[i] - least) / range);
    points += text;
  }
  if (points.empty()) return {};
  const std::string_view kind = last > first ? "up" : most > last || last < first ? "down" : "";
  return "<svg class=\"spark " + std::string(kind) +
         "\" viewBox=\"0 0 76 24\" aria-hidden=\"true\"><path d=\"M2 21.5H74\"/><polyline points=\"" + points +
         "\"/></svg>";
}

}  // namespace snapdiff::html
