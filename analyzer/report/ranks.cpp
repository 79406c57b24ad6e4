#include <algorithm>
#include <span>

#include "analyzer/base/number_text.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

std::int64_t value_of(const RankReport& report, const RankRow& row, std::size_t rank) {
  return report.series.overall.series.at(row.row, rank);
}

class RanksText {
  using Cell = Sheet::Cell;

 public:
  RanksText(const RankReport& report, const Style& style)
      : report_(report), style_(style), glyphs_(glyphs_for(style.utf8)) {}

  std::string all() {
    std::string out = headline() + "\n" + ranks() + "\n" + rows();
    return out;
  }

 private:
  std::string value(std::int64_t v) const { return value_text(v, report_.series.overall.unit); }
  std::string growth(std::int64_t v) const { return value_text(v, report_.series.overall.unit, true); }
  std::string name(std::size_t rank) const { return printable(report_.ranks[rank].name, style_.utf8); }

  std::string headline() const {
    const auto [low, high] = std::ranges::minmax_element(report_.ranks, {}, &RankFacts::total);
    std::string out = counted(report_.ranks.size(), "rank") + "   " + value(low->total) + " to " + value(high->total) +
                      "   " + printable(report_.series.overall.metric, style_.utf8) + "\n";
    std::string text;
    if (report_.odd) {
      const RankFacts& odd = report_.ranks[*report_.odd];
      text = name(*report_.odd) + " differs most: " + growth(wrapping_difference(odd.total, report_.middle)) +
             " from the middle rank";
      const RankRow* most = nullptr;
      std::int64_t off = 0;
      for (const RankRow& row : report_.rows) {
        const std::int64_t difference = wrapping_difference(value_of(report_, row, *report_.odd), row.middle);
        if (magnitude(difference) > magnitude(off)) {
          most = &row;
          off = difference;
        }
      }
      if (most != nullptr)
        text += "; most of it " + growth(off) + " in " +
                row_text(report_.series.overall, report_.series.overall.rows[most->row], 60, glyphs_);
    } else if (high->off == 0 && low->off == 0 &&
               (report_.rows.empty() || report_.rows.front().lowest == report_.rows.front().highest)) {
      text = "all ranks hold the same in every row";
    } else {
      text = "of two ranks neither is the odd one; the rows that differ most are listed first";
    }
    return out + wrapped_line(text, style_);
  }

  std::string ranks() const {
    Sheet sheet("rank", style_.thousands);
    const std::span<const RankFacts> shown = std::span(report_.ranks).first(shown_of(report_.ranks.size(), style_));
    sheet.column({"total", 9, true, ""}, shown, [&](const RankFacts& rank) { return Cell{value(rank.total)}; });
    sheet.column({"from middle", 11}, shown, [&](const RankFacts& rank) {
      const std::int64_t off = wrapping_difference(rank.total, report_.middle);
      return Cell{growth(off), growth_paint(off)};
    });
    sheet.column({"reserved", 9}, shown,
                 [](const RankFacts& rank) { return Cell{rank.reserved ? bytes_text(*rank.reserved) : "n/a"}; });
    for (std::size_t i = 0; i < shown.size(); ++i) sheet.rows()[i].last = name(i);
    if (shown.size() < report_.ranks.size())
      sheet.add().last = std::to_string(report_.ranks.size() - shown.size()) + " more: -n 0 shows all";
    return sheet.text(style_.colour);
  }

  std::string rows() const {
    const GrowthReport& overall = report_.series.overall;
    Sheet sheet(overall.options.by == GroupBy::stack ? "stack (leaf first)" : std::string(to_text(overall.options.by)),
                style_.thousands);
    const std::span<const RankRow> shown = std::span(report_.rows).first(shown_of(report_.rows.size(), style_));
    const auto amount = [&](const std::string& header, const std::string& separator, std::int64_t RankRow::*part) {
      sheet.column({header, 9, true, separator}, shown, [&](const RankRow& row) { return Cell{value(row.*part)}; });
    };
    amount("lowest", "", &RankRow::lowest);
    amount("middle", " ", &RankRow::middle);
    amount("highest", " ", &RankRow::highest);
    sheet.column({"farthest", 10, false, "  "}, shown, [&](const RankRow& row) {
      return row.lowest == row.highest ? Cell{"all agree", Paint::dim}
                                       : Cell{cut_middle(name(row.odd), 24, glyphs_.ellipsis)};
    });
    std::vector<std::uint32_t> rows;
    for (const RankRow& row : shown) rows.push_back(row.row);
    sheet.call(row_texts(overall, rows, sheet.rest_width(style_.width), glyphs_));
    if (shown.size() < report_.rows.size()) sheet.add().last = others_text(report_.rows.size() - shown.size());
    return sheet.text(style_.colour);
  }

  const RankReport& report_;
  const Style& style_;
  Glyphs glyphs_;
};

std::string ranks_json(const RankReport& report, const Style& style) {
  const GrowthReport& overall = report.series.overall;
  return json_text(style.sink, [&](JsonWriter& json) {
    const auto index_or_null = [&](std::string_view key, std::optional<std::size_t> index) {
      json.field_or_null(key, index ? std::optional(static_cast<std::int64_t>(*index)) : std::nullopt);
    };
    json.field("schema", "snapdiff.ranks/1");
    json.field("metric", overall.metric);
    json.field("unit", overall.unit);
    json.field("by", to_text(overall.options.by));
    json.field("middle", report.middle);
    index_or_null("odd", report.odd);
    json.object_rows("ranks", report.ranks, [&](const RankFacts& rank, std::size_t i) {
      json.field("name", rank.name);
      json.field_or_null("rank", rank.rank);
      json.field_or_null("device", rank.device);
      json.field("total", rank.total);
      json.field("off", rank.off);
      json.field_or_null("reserved", rank.reserved);
      json_snapshot(json, "snapshot", report.series.steps[i].snapshot);
    });
    const std::size_t shown = shown_of(report.rows.size(), style);
    std::vector<FrameView> frames;
    json.object_rows("rows", std::span(report.rows).first(shown), [&](const RankRow& row) {
      json.array("values", report.ranks,
                 [&](const RankFacts&, std::size_t rank) { json.integer(value_of(report, row, rank)); });
      json.field("middle", row.middle);
      json.field("lowest", row.lowest);
      json.field("highest", row.highest);
      index_or_null("odd", row.lowest == row.highest ? std::nullopt : std::optional(row.odd));
      json_row_name(json, overall, overall.rows[row.row], frames);
    });
    json.field("others", static_cast<std::int64_t>(report.rows.size() - shown));
  });
}

}  // namespace

std::string write_ranks(const RankReport& report, const Style& style) {
  return style.form == Form::text ? RanksText(report, style).all() : ranks_json(report, style);
}

}  // namespace snapdiff::report
