#include <algorithm>
#include <cmath>

#include "analyzer/document/answer_parts.hpp"
#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"

namespace snapdiff::html {
namespace {

constexpr std::size_t kPinRows = 20;
constexpr std::size_t kCounterRows = 400;

}  // namespace

std::string failure_section(const Postmortem& report) {
  if (!report.failure) return {};
  const OutOfMemory& o = *report.failure;
  std::string out = "<section id=\"failure\" aria-labelledby=\"failure-h\"><h2 id=\"failure-h\">Out of memory: " +
                    entities(to_text(o.reason)) + "</h2>\n<p>" + safe(bounded(o.sentence, 2000)) +
                    ".</p>\n<p class=\"note\">" + safe(document::failure_line(o, kGlyphs)) +
                    "</p>\n<dl class=\"findings\">\n";
  for (const document::Fact& fact : document::failure_facts(o, kGlyphs)) {
    if (fact.text == o.sentence) continue;  // is above
    out += "<dt>" + fact.label + "</dt><dd>" + safe(bounded(fact.text, 2000));
    if (!fact.meaning.empty()) out += " <span class=\"via\">" + safe(fact.meaning) + "</span>";
    out += "</dd>\n";
  }
  return out + "</dl>\n</section>\n";
}

std::string pins_section(const Postmortem& report) {
  if (!report.pins || report.pins->rows.empty()) return {};
  const PinReport& pins = *report.pins;
  std::string out =
      "<section id=\"pins\" aria-labelledby=\"pins-h\"><h2 id=\"pins-h\">Who pins segments</h2>\n<p "
      "class=\"note\">Free bytes "
      "inside segments that cannot go back to the device because blocks in them are in use, shared out among those who "
      "hold them. Reserved " +
      value(pins.reserved, "bytes") + ", of it in use " + value(pins.live.current, "bytes") + ", pinned " +
      value(pins.pinned.current, "bytes") + ", could go back " + value(pins.releasable, "bytes") +
      ".</p>\n<div class=\"scroll\"><table class=\"plain\"><thead><tr><th scope=\"col\">allocated in, through</th><th "
      "scope=\"col\">pinned</th>" +
      (pins.has_baseline() ? "<th scope=\"col\">growth</th>" : "") +
      "<th scope=\"col\">in use</th><th scope=\"col\" class=\"wide\">segments</th><th scope=\"col\" "
      "class=\"wide\">alone in</th></tr></thead>\n<tbody>\n";
  const auto growth_cell = [&](std::int64_t v) {
    if (!pins.has_baseline()) return std::string();
    return "<td class=\"g " + std::string(direction(v)) + "\">" + cell(v, "bytes", true) + "</td>";
  };
  std::vector<FrameView> frames;
  Change pinned;
  Change live;
  const std::size_t count = std::min(kPinRows, pins.rows.size());
  for (std::size_t i = 0; i < count; ++i) {
    const PinnedRow& row = pins.rows[i];
    frames.clear();
    if (pins.view != nullptr) pins.view->frames(pins.stacks[row.key], frames);
    out += "<tr><td>" + stack_cell(frames) + "</td><td><b>" + cell(row.pinned.current, "bytes") + "</b></td>" +
           growth_cell(row.pinned.growth()) + "<td>" + cell(row.live.current, "bytes") + "</td><td class=\"wide\">" +
           count_text(row.segments, kGlyphs) + "</td><td class=\"wide\">" + count_text(row.sole_segments, kGlyphs) +
           "</td></tr>\n";
    pinned += row.pinned;
    live += row.live;
  }
  const auto foot = [&](const std::string& name, const Change& p, const Change& l) {
    return "<tr><th scope=\"row\">" + name + "</th><td>" + cell(p.current, "bytes") + "</td>" +
           growth_cell(wrapping_difference(p.current, p.baseline)) + "<td>" + cell(l.current, "bytes") +
           "</td><td class=\"wide\"></td><td class=\"wide\"></td></tr>\n";
  };
  out += "</tbody><tfoot>" +
         foot(entities(others_text(pins.rows.size() - count, kGlyphs)), pins.pinned - pinned, pins.live - live) +
         foot("TOTAL", pins.pinned, pins.live);
  return out + "</tfoot></table></div>\n</section>\n";
}

std::string resident_section(const Postmortem& report) {
  if (!report.resident) return {};
  const Waterfall& resident = *report.resident;
  std::string out =
      "<section id=\"resident\" aria-labelledby=\"resident-h\"><h2 id=\"resident-h\">What resident memory consists "
      "of</h2>\n<p class=\"note\">" +
      (resident.says.empty() ? std::string("The parts add up to RSS") : "Its growth: " + safe(resident.says)) +
      ".</p>\n<div class=\"scroll\"><table class=\"plain\"><thead><tr><th scope=\"col\">part</th><th "
      "scope=\"col\">growth</th><th scope=\"col\" class=\"wide\">first</th><th scope=\"col\">last</th><th "
      "scope=\"col\" class=\"wide\">from</th></tr></thead>\n<tbody>\n";
  const auto row = [](const std::string& name, const WaterfallAmount& bytes, const std::string& source) {
    const auto amount = [](const std::optional<std::int64_t>& v) { return v ? cell(*v, "bytes") : std::string("n/a"); };
    const auto growth = bytes.growth();
    return "<tr><th scope=\"row\">" + name + "</th><td class=\"g " + std::string(direction(growth.value_or(0))) +
           "\">" + (growth ? cell(*growth, "bytes", true) : std::string("n/a")) + "</td><td class=\"wide\">" +
           amount(bytes.before) + "</td><td>" + amount(bytes.after) + "</td><td class=\"wide\">" +
           safe(bounded(source, 80)) + "</td></tr>\n";
  };
  for (std::size_t i = 0; i < resident.parts.size(); ++i) {
    const WaterfallPart& part = resident.parts[i];
    const std::string name = safe(bounded(part.name, 200));
    out += row(resident.leader == i ? "<b>" + name + "</b>" : name, part.bytes, part.source);
  }
  out += "</tbody><tfoot>" + row("RSS", resident.rss, resident.rss_source) + "</tfoot></table></div>\n";
  if (!resident.unseen.empty()) {
    out += "<ul class=\"notes\">\n";
    for (const std::string& unseen : resident.unseen) out += "<li><b>not seen</b> " + safe(unseen) + "</li>\n";
    out += "</ul>\n";
  }
  return out + "</section>\n";
}

std::string counters_section(const Postmortem& report) {
  if (!report.counters || report.counters->rows.empty()) return {};
  const std::vector<CounterRow>& rows = report.counters->rows;
  std::string out =
      "<section id=\"counters\" aria-labelledby=\"counters-h\"><h2 id=\"counters-h\">Counters of the process</h2>\n<p "
      "class=\"note\">Numbers about the whole process, as the inputs hold them. They are never added up across "
      "names.</p>\n<div class=\"scroll tall\"><table class=\"plain\"><thead><tr><th scope=\"col\">counter</th><th "
      "scope=\"col\" class=\"wide\">over time</th><th scope=\"col\">growth</th><th scope=\"col\" "
      "class=\"wide\">first</th><th scope=\"col\">last</th><th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n";
  const std::size_t count = std::min(kCounterRows, rows.size());
  for (std::size_t i = 0; i < count; ++i) {
    const CounterRow& row = rows[i];
    std::vector<double> values;
    for (const std::optional<std::int64_t>& v : row.values)
      values.push_back(v ? static_cast<double>(*v) : std::nan(""));
    out += "<tr><td><b>" + safe(bounded(row.name, 200)) + "</b><span class=\"via\">" +
           (row.cumulative ? std::string("counts up") : std::string("level")) +
           (row.unit.empty() || row.unit == "bytes" || row.unit == "count" ? std::string()
                                                                           : ", " + safe(bounded(row.unit, 60))) +
           (row.resets > 0 ? ", reset " + std::to_string(row.resets) + "\u00a0\u00d7" : std::string()) +
           "</span></td><td class=\"wide\">" + sparkline(values) + "</td>";
    if (row.known() == 0) {
      out += "<td>n/a</td><td class=\"wide\">n/a</td><td>n/a</td><td></td></tr>\n";
      continue;
    }
    const bool judged = row.known() >= kJudgedFrom;
    out += "<td class=\"g " + std::string(direction(row.growth)) + "\"><b>" + cell(row.growth, row.unit, true) +
           "</b></td><td class=\"wide\">" + cell(row.before(), row.unit) + "</td><td>" + cell(row.after(), row.unit) +
           "</td><td>" + (judged ? badge(row.verdict.word) : std::string()) + "</td></tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (rows.size() > count)
    out += "<p class=\"note\">" + entities(others_text(rows.size() - count, kGlyphs)) +
           " that changed less are in the JSON report.</p>\n";
  return out + "</section>\n";
}

}  // namespace snapdiff::html
