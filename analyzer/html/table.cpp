#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <variant>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/document/growth_columns.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"
#include "analyzer/report/text_tools.hpp"

namespace snapdiff::html {
namespace {

using document::GrowthLine;
using document::GrowthPlace;
using document::GrowthView;

/// A screenful; the script shows them all.
constexpr std::size_t kFirstRows = 20;
constexpr std::size_t kFunctions = 40;

std::string growth_cell(std::int64_t v, std::string_view unit) {
  return "<td class=\"g " + std::string(direction(v)) + "\"><b>" + cell(v, unit, true) + "</b></td>";
}

/// The columns behind the name, as the script shows them too (assets/columns.js).
std::vector<GrowthPlace> columns_of(const GrowthView& view) {
  std::vector<GrowthPlace> out;
  for (const GrowthPlace& place : document::growth_page()) {
    if (place.when == nullptr || place.when(view)) out.push_back(place);
  }
  return out;
}

std::string text_of(const document::Cell& value, std::string_view unit) {
  using namespace document;
  const auto decimals = [](double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", number);
    return std::isfinite(number) ? std::string(text) : std::string("n/a");
  };
  const auto rounded = [&](double number) {
    if (!std::isfinite(number)) return std::string("n/a");
    return number == 0 ? "0" : html::value(whole_number(number), unit);
  };
  return std::visit(
      Overloaded{[](Missing why) { return std::string(why == Missing::unknown ? "n/a" : ""); },
                 [&](const Amount& v) { return cell(v.value, unit); },
                 [&](const Growth& v) { return cell(v.value, unit, true); },
                 [](const Count& v) {
                   return v.with_sign ? growth_count_text(v.value, kGlyphs) : count_text(v.value, kGlyphs);
                 },
                 [&](const Deviation& v) { return rounded(v.value); }, [&](const Rate& v) { return rounded(v.value); },
                 [](const Share& v) { return percent_text(v.part, v.whole, kGlyphs); },
                 [&](const Odds& v) { return decimals(v.value); }, [&](const Number& v) { return decimals(v.value); },
                 [](const Flag& v) { return std::string(v.value ? "yes" : ""); },
                 [](const Word& v) { return gravity(v.text) > 0 ? badge(v.text) : safe(v.text); },
                 [](const Text& v) { return safe(v.text); },
                 [](const Series& v) {
                   std::vector<double> values(v.values.begin(), v.values.end());
                   for (std::size_t i = 0; i < values.size(); ++i) {
                     if (!v.is_known(i)) values[i] = std::nan("");
                   }
                   return sparkline(values);
                 },
                 [](const Stack& v) {
                   return stack_cell({v.frames.begin(), v.frames.end()});
                 },
                 [](const Site& v) { return v.frames.empty() ? std::string() : safe(base_name(v.frames[0].file)); },
                 [&](const Sides& v) { return cell(v.value.growth(), unit, true); },
                 [](const Stacks& v) { return count_text(v.after, kGlyphs); },
                 [](const InstanceCount& v) { return std::to_string(v.grew) + "/" + std::to_string(v.of); }},
      value);
}

std::string cells_of(const std::vector<GrowthPlace>& columns, const GrowthLine& line, std::string_view unit) {
  std::string out;
  for (const GrowthPlace& place : columns) {
    const document::Cell value = place.column->cell(line);
    const auto* const growth = std::get_if<document::Growth>(&value);
    std::string css = place.if_room ? "wide" : "";
    if (growth != nullptr) css.append(css.empty() ? "g" : " g");
    if (growth != nullptr && line.is_row()) css.append(" ").append(direction(growth->value));
    std::string text = text_of(value, unit);
    if (growth != nullptr && line.is_row()) text = "<b>" + text + "</b>";
    out += (css.empty() ? "<td>" : "<td class=\"" + css + "\">") + text + "</td>";
  }
  return out;
}

/// One row of sums.
std::string sum_row(const std::vector<GrowthPlace>& columns, const GrowthLine& line, std::string_view unit,
                    std::string_view id) {
  return "<tr id=\"" + std::string(id) + "\"><th scope=\"row\">" + entities(std::string(line.name)) + "</th>" +
         cells_of(columns, line, unit) + "</tr>\n";
}

std::string first_to_last(const Postmortem& report, std::string_view between) {
  const std::size_t first = report.trend.left_out + 1;
  return std::to_string(first) + std::string(between) +
         std::to_string(report.trend.left_out + value_count(report.growth()));
}

GrowthView view_of(const Postmortem& report) {
  const GrowthReport& g = report.growth();
  const bool judged = value_count(g) >= kJudgedFrom && report.trend.verdicts.size() == g.rows.size();
  return {.report = g,
          .verdicts = judged ? std::span<const Verdict>(report.trend.verdicts) : std::span<const Verdict>()};
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

std::vector<PageColumn> table_columns(const Postmortem& report) {
  std::vector<PageColumn> out{{"stack", "allocated in, through", false}};
  for (const GrowthPlace& place : columns_of(view_of(report))) {
    const document::GrowthColumn& column = *place.column;
    const bool series = column.traits.csv == document::CsvShape::series;
    out.push_back({column.key,
                   series                ? first_to_last(report, " \u2013 ")
                   : place.title.empty() ? std::string(column.title)
                                         : std::string(place.title),
                   place.if_room});
  }
  return out;
}

std::string table_section(const Postmortem& report, const Chosen& chosen, const std::vector<std::int64_t>& rest) {
  const GrowthReport& g = report.growth();
  if (g.metric.empty()) return {};
  const GrowthView view = view_of(report);
  const std::vector<GrowthPlace> columns = columns_of(view);
  std::string out =
      "<section id=\"table\" aria-labelledby=\"table-h\"><h2 id=\"table-h\">Growth per stack, " +
      first_to_last(report, " \u2192 ") +
      "</h2>\n<p class=\"note\" id=\"table-note\">Every byte is in exactly one row.</p>\n<div id=\"tools\" "
      "class=\"tools\"></div>\n<div class=\"scroll\" id=\"scroll\"><table id=\"rows\">\n<thead "
      "id=\"rows-head\"><tr>";
  for (const PageColumn& column : table_columns(report)) {
    out += "<th scope=\"col\"" + std::string(column.if_room ? " class=\"wide\"" : "") +
           (column.key == "growth" ? " aria-sort=\"descending\"" : "") + ">" + column.title + "</th>";
  }
  out += "</tr></thead>\n<tbody id=\"rows-body\">\n";
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
    out += "<tr><td>" + stack_cell(frames) + "</td>" + cells_of(columns, row_line(view, index), g.unit) + "</tr>\n";
    shown += row.value;
    shown_objects += row.objects;
  }
  const Change not_in_rows{rest.front(), rest.back()};
  const Change others = g.total - not_in_rows - shown;
  const Change rest_objects = g.unattributed_objects + g.filtered_objects;
  const Change other_objects = g.total_objects - rest_objects - shown_objects;
  out += "</tbody>\n<tfoot id=\"rows-foot\">\n";
  const std::string others_name = others_text(g.rows.size() - count, kGlyphs);
  const std::string_view rest_name = g.filtered != Change{} ? "[unattributed] and [filtered out]" : "[unattributed]";
  out += sum_row(columns, rest_line(view, others_name, others, other_objects), g.unit, "sum-others");
  out += sum_row(columns, rest_line(view, rest_name, not_in_rows, rest_objects), g.unit, "sum-rest");
  out += sum_row(columns, total_line(view), g.unit, "sum-total");
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
