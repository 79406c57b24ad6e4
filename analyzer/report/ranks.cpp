#include <algorithm>
#include <span>

#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {
namespace {

std::int64_t value_of(const RankReport& report, const RankRow& row, std::size_t rank) {
  return report.series.overall.series.at(row.row, rank);
}

class RanksText {
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
    Sheet table({{"total", 9, true, ""}, {"from middle", 11, true, " "}, {"reserved", 9, true, " "}}, "rank",
                style_.thousands);
    for (std::size_t i = 0; i < report_.ranks.size(); ++i) {
      const RankFacts& rank = report_.ranks[i];
      Sheet::Row& row = table.add();
      const std::int64_t off = wrapping_difference(rank.total, report_.middle);
      row.cells = {{value(rank.total), Paint::none},
                   {growth(off), growth_paint(off)},
                   {rank.reserved ? bytes_text(*rank.reserved) : "n/a", Paint::none}};
      row.last = name(i);
    }
    return table.text(style_.colour);
  }

  std::string rows() const {
    const GrowthReport& overall = report_.series.overall;
    Sheet table(
        {{"lowest", 9, true, ""}, {"middle", 9, true, " "}, {"highest", 9, true, " "}, {"farthest", 10, false, "  "}},
        overall.options.by == GroupBy::stack ? "stack (leaf first)" : std::string(to_text(overall.options.by)),
        style_.thousands);
    const std::size_t shown = shown_of(report_.rows.size(), style_);
    for (std::size_t i = 0; i < shown; ++i) {
      const RankRow& r = report_.rows[i];
      Sheet::Row& row = table.add();
      row.cells = {{value(r.lowest), Paint::none},
                   {value(r.middle), Paint::none},
                   {value(r.highest), Paint::none},
                   {r.lowest == r.highest ? std::string("all agree") : cut_middle(name(r.odd), 24, glyphs_.ellipsis),
                    r.lowest == r.highest ? Paint::dim : Paint::none}};
    }
    const std::size_t width = table.rest_width(style_.width);
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < shown; ++i) rows.push_back(report_.rows[i].row);
    const std::vector<std::string> texts = row_texts(overall, rows, width, glyphs_);
    for (std::size_t i = 0; i < shown; ++i) table.rows()[i].last = texts[i];
    if (shown < report_.rows.size()) table.add().last = others_text(report_.rows.size() - shown);
    return table.text(style_.colour);
  }

  const RankReport& report_;
  const Style& style_;
  Glyphs glyphs_;
};

std::string ranks_json(const RankReport& report, const Style& style) {
  const GrowthReport& overall = report.series.overall;
  return json_text([&](JsonWriter& json) {
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
