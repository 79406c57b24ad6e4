#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

std::string amount_text(const std::optional<std::int64_t>& bytes) { return bytes ? bytes_text(*bytes) : "?"; }

HeadLine head_line(std::string label, std::string text, Paint paint = Paint::none) {
  HeadLine line;
  line.label = std::move(label);
  line.pieces.emplace_back(std::move(text), paint);
  return line;
}

std::string waterfall_head(const Waterfall& waterfall, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  std::vector<HeadLine> lines;
  if (const auto growth = waterfall.rss.growth()) {
    lines.push_back(head_line("RSS", bytes_text(*waterfall.rss.before) + spaced(glyphs.arrow) +
                                         bytes_text(*waterfall.rss.after) + "  (" + growth_text(*growth) + ")"));
  } else if (waterfall.rss.after) {
    lines.push_back(head_line("RSS", bytes_text(*waterfall.rss.after)));
  }
  if (waterfall.leader) {
    const WaterfallPart& part = waterfall.parts[*waterfall.leader];
    lines.push_back(head_line("grew",
                              printable(part.name, style.utf8) + "  " + growth_text(*part.bytes.growth()) + "  " +
                                  std::to_string(waterfall.share) + " %",
                              Paint::growth));
  }
  if (!waterfall.says.empty()) lines.push_back(head_line("means", waterfall.says));
  for (const std::string& unseen : waterfall.unseen) lines.push_back(head_line("unseen", unseen));
  return headline_text(lines, style);
}

Sheet waterfall_sheet(const Waterfall& waterfall, const Style& style) {
  struct Line {
    std::string name, source;
    WaterfallAmount bytes;
  };
  std::vector<Line> lines;
  bool two_moments = false;
  for (const WaterfallPart& part : waterfall.parts) {
    lines.push_back({part.name, part.source, part.bytes});
    two_moments = two_moments || part.bytes.before.has_value();
  }
  if (waterfall.rss.after) lines.push_back({"RSS", waterfall.rss_source, waterfall.rss});
  two_moments = two_moments || waterfall.rss.before.has_value();
  Sheet sheet("part", style.thousands);
  if (two_moments) {
    sheet.column({"growth", 10}, lines, [](const Line& line) {
      const auto growth = line.bytes.growth();
      return growth ? Sheet::Cell{growth_text(*growth), growth_paint(*growth)} : Sheet::Cell{"?", Paint::dim};
    });
    sheet.column({"before", 9}, lines, [](const Line& line) { return Sheet::Cell{amount_text(line.bytes.before)}; });
  }
  sheet.column({two_moments ? "after" : "bytes", 9}, lines,
               [](const Line& line) { return Sheet::Cell{amount_text(line.bytes.after)}; });
  sheet.column({"from", 13, false, "  "}, lines,
               [&](const Line& line) { return Sheet::Cell{printable(line.source, style.utf8)}; });
  std::vector<std::string> names;
  for (const Line& line : lines) names.push_back(printable(line.name, style.utf8));
  sheet.call(names);
  return sheet;
}

void json_amount(JsonWriter& json, const WaterfallAmount& bytes) {
  json.field_or_null("before", bytes.before);
  json.field_or_null("after", bytes.after);
  json.field_or_null("growth", bytes.growth());
}

std::string waterfall_json(const Waterfall& waterfall) {
  return json_text([&](JsonWriter& json) {
    json.field("schema", "snapdiff.waterfall/1");
    json.array("snapshots", waterfall.snapshots,
               [&](const SnapshotRef& ref, std::size_t) { json_snapshot(json, ref); });
    json_waterfall_fields(json, waterfall);
  });
}

}  // namespace

void json_waterfall_fields(JsonWriter& json, const Waterfall& waterfall) {
  json.key("rss");
  json.object([&] {
    json_amount(json, waterfall.rss);
    json.field("source", waterfall.rss_source);
  });
  json.object_rows("parts", waterfall.parts, [&](const WaterfallPart& part) {
    json.field("kind", to_text(part.kind));
    json.field("name", part.name);
    json.field("source", part.source);
    json_amount(json, part.bytes);
  });
  json.field_or_null("leader",
                     waterfall.leader ? std::optional(static_cast<std::int64_t>(*waterfall.leader)) : std::nullopt);
  json.field_or_null("share_percent", waterfall.leader ? std::optional(waterfall.share) : std::nullopt);
  json.field("says", waterfall.says);
  json.array("unseen", waterfall.unseen, [&](const std::string& text, std::size_t) { json.string(text); });
}

std::string markdown_waterfall(const Waterfall& waterfall, const Style& style) {
  std::string out = "#### Resident memory\n\n";
  if (!waterfall.says.empty()) out += literal(waterfall.says) + ".\n\n";
  out += waterfall_sheet(waterfall, style).markdown() + "\n";
  for (const std::string& unseen : waterfall.unseen) out += "- not seen: " + literal(unseen) + "\n";
  return waterfall.unseen.empty() ? out : out + "\n";
}

std::string write_waterfall(const Waterfall& waterfall, const Style& style) {
  if (style.form != Form::text) return waterfall_json(waterfall);
  return waterfall_head(waterfall, style) + "\n" + waterfall_sheet(waterfall, style).text(style.colour) +
         text_end(note_lines(waterfall.notes, style.utf8), style);
}

}  // namespace snapdiff::report
