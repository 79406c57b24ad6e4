#include "analyzer/report/verdict_line.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/names.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {

namespace {

struct Judged {
  std::string word;
  std::string reason;
  std::string name;
  std::vector<double> values;  ///< of all rows below the suspect, per snapshot
  std::size_t rises = 0;
};

std::optional<Judged> judge_suspect(const GrowthReport& report, const Suspect& suspect,
                                    const std::vector<RowVerdict>& verdicts, const Glyphs& glyphs) {
  const GrowthRow* heaviest = nullptr;
  Judged judged;
  const std::size_t length = report.series_length;
  judged.values.assign(length, 0);
  for (const std::uint32_t index : suspect.rows) {
    if (index >= report.rows.size()) continue;
    const GrowthRow& row = report.rows[index];
    if (heaviest == nullptr || row.value.growth() > heaviest->value.growth()) {
      heaviest = &row;
      judged.word = verdicts[index].word;
      judged.reason = verdicts[index].reason;
    }
    for (std::size_t i = 0; i < length; ++i) judged.values[i] += static_cast<double>(report.series[index * length + i]);
  }
  if (heaviest == nullptr || suspect.path.empty()) return std::nullopt;
  judged.name = cut_name(frame_name(suspect.path.back(), glyphs), 24, glyphs.ellipsis);
  for (std::size_t i = 1; i < length; ++i) judged.rises += judged.values[i] > judged.values[i - 1] ? 1U : 0U;
  return judged;
}

double least_squares_slope(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += (static_cast<double>(i) - (n - 1) / 2) * values[i];
  return sum / (n * (n * n - 1) / 12);
}

/// "both rose in 11 of 11 steps, +467 KiB a snapshot, no plateau"
std::string climb_words(const GrowthReport& report, const std::vector<Judged>& judged) {
  const std::size_t steps = report.series_length - 1;
  const auto [least, most] = std::minmax_element(judged.begin(), judged.end(),
                                                 [](const Judged& a, const Judged& b) { return a.rises < b.rises; });
  std::string text = judged.size() == 1 ? "rose in " : judged.size() == 2 ? "both rose in " : "all rose in ";
  text += std::to_string(least->rises);
  if (least->rises != most->rises) text += " to " + std::to_string(most->rises);
  text += " of " + std::to_string(steps) + " steps";
  double slope = 0;
  for (const Judged& one : judged) slope += least_squares_slope(one.values);
  if (std::abs(slope) < 9e18)
    text += ", " + snapdiff::value_text(std::llround(slope), report.unit, true) + " a snapshot";
  if (least->rises == steps) text += ", no plateau";
  return text;
}

HeadLine none(const std::string& why) { return {"verdict", {{"none: " + why, Paint::none}}}; }

}  // namespace

Paint verdict_paint(std::string_view word) {
  if (word == "GROWING") return Paint::alarm;
  return word == "GONE" || word == "SHRINKING" ? Paint::shrinkage : Paint::none;
}

HeadLine verdict_line(const GrowthReport& report, const SeriesFacts& series, const Glyphs& glyphs) {
  const bool judged_rows = series.verdicts != nullptr && series.verdicts->size() == report.rows.size();
  if (series.snapshots < kJudgedFrom || !judged_rows || report.series_length < 2) {
    if (series.snapshots >= kJudgedFrom) return none("no row of the series was judged");
    if (report.grew == 0 && report.shrank == 0) {
      return none("nothing changed in " + counted(static_cast<std::int64_t>(series.snapshots), "snapshot"));
    }
    return none(counted(static_cast<std::int64_t>(series.snapshots), "snapshot") +
                " show growth, not a trend (8 or more are judged)");
  }
  std::vector<Judged> judged;
  for (const Suspect& suspect : report.suspects) {
    if (auto one = judge_suspect(report, suspect, *series.verdicts, glyphs)) judged.push_back(std::move(*one));
  }
  if (judged.empty()) return none("no suspect to judge");

  HeadLine line{"verdict", {}};
  const bool same =
      std::all_of(judged.begin(), judged.end(), [&](const Judged& j) { return j.word == judged[0].word; });
  if (same) {
    line.pieces.emplace_back(judged[0].word, verdict_paint(judged[0].word));
    const bool climbs = judged[0].word == "GROWING" || judged[0].word == "RISING";
    std::string text = climbs ? climb_words(report, judged) : printable(judged[0].reason, glyphs.utf8);
    if (!climbs && judged.size() > 1) text = judged[0].name + " " + text;
    line.pieces.emplace_back(": " + text, Paint::none);
    return line;
  }
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (i > 0) line.pieces.emplace_back(", ", Paint::none);
    line.pieces.emplace_back(judged[i].word, verdict_paint(judged[i].word));
    line.pieces.emplace_back(" " + judged[i].name, Paint::none);
  }
  if (!judged[0].reason.empty())
    line.pieces.emplace_back("; " + judged[0].name + " " + printable(judged[0].reason, glyphs.utf8), Paint::none);
  return line;
}

}  // namespace snapdiff::report
