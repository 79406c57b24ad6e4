#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "analyzer/report/report.hpp"
#include "unit/analyzer/report/fakes.hpp"

/// One test over a table of {file, what makes it}. SNAPDIFF_UPDATE_GOLDENS=1 in the environment
/// writes the files anew (README.md).
namespace {

using namespace snapdiff;
using report::Form;
using report::Style;

struct Golden {
  const char* file;
  std::function<std::string()> make;
};

Style text(std::size_t width, std::size_t rows = 20) {
  Style style;
  style.width = width;
  style.max_rows = rows;
  return style;
}

Style form(Form wanted) {
  Style style;
  style.form = wanted;
  style.max_rows = 0;
  return style;
}

std::vector<Verdict> verdicts(const GrowthReport& report) {
  std::vector<Verdict> out;
  for (const GrowthRow& row : report.rows) {
    const bool grew = row.value.growth() > 0;
    out.push_back({grew ? "GROWING" : row.value.baseline == 0 ? "GONE" : "FLAT", grew ? "climbs in every part" : ""});
  }
  return out;
}

std::string series(const Style& style) {
  const SeriesReport report = fakes::svc_series();
  return report::write_series(report, {}, verdicts(report.overall), style);
}

/// Verdicts by hand: the goldens are about how they are shown.
TrendReport trend() {
  TrendReport report;
  report.series = fakes::svc_series();
  const GrowthReport& overall = report.series.overall;
  for (std::uint32_t row = 0; row < overall.rows.size(); ++row) {
    const double slope = static_cast<double>(overall.rows[row].value.growth()) / 11;
    const bool grew = slope > 0;
    report.verdicts.push_back({grew ? "GROWING" : "FLAT", grew ? "climbs in every part of the window" : "",
                               grew ? 0.99 : 0, slope, slope - 256, slope + 256, slope * 11});
    report.order.push_back(row);
  }
  report.whole = {"GROWING", "climbs in every part of the window", 0.99, 524288, 516096, 532480, 524288 * 11.0};
  report.left_out = 3;
  report.restart = "pid 10, then 11";
  report.axis.step_seconds = 600;
  report.axis.note = "snapshots are missing in between: judged at the times of those that are there";
  for (std::size_t i = 0; i < report.series.steps.size(); ++i) {
    report.axis.seconds.push_back(600 * static_cast<double>(i));
    report.axis.places.push_back(static_cast<double>(i));
  }
  report.limit = std::int64_t{1} << 30;
  report.forecast = {Forecast::Kind::ahead, 2000, 1950, 2100};
  return report;
}

GrowthReport hostile() {
  fakes::DiffMaker maker;
  maker.row(
      "evil\x1b[31m\x07\xff < \xe2\x80\xae"
      "gnirts;x|y`<b> < main",
      {0, 4096}, {0, 1});
  maker.row("=cmd|' /C calc'!A0 < a,b\"c < main", {100, 50}, {2, 1});
  maker.row("!/opt/my app/libx.so+1a2b < -[NSObject alloc] < main", {0, 1000}, {0, 3});
  maker.row(std::vector<FrameView>{}, {7, 7}, {1, 1});
  maker.unattributed({512, 1024});
  maker.filtered({64, 32});
  maker.report().notes.add(Severity::info, "note with \x1b[2Jescape");
  maker.report().notes.add(Severity::data_loss, "row cut", 10, 3);
  return maker.report();
}

const std::vector<Golden>& goldens() {
  static const std::vector<Golden> kGoldens{
      {"diff.svc_first_last.80.txt",
       [] {
         Style style = text(80);
         style.footer = "stored in snapdiff.db as @1, @2. Next: snapdiff render --pdf";
         return report::write_diff(fakes::svc_diff(0, 11), style);
       }},
      {"diff.svc_first_last.120.txt", [] { return report::write_diff(fakes::svc_diff(0, 11), text(120)); }},
      {"diff.svc_first_last.ascii.txt",
       [] {
         Style style = text(80);
         style.utf8 = false;
         return report::write_diff(fakes::svc_diff(0, 11), style);
       }},
      {"diff.svc_first_last.colour.txt",
       [] {
         Style style = text(80, 2);
         style.colour = true;
         return report::write_diff(fakes::svc_diff(0, 11), style);
       }},
      {"diff.svc_first_last.n2.txt", [] { return report::write_diff(fakes::svc_diff(0, 11), text(80, 2)); }},
      {"diff.svc_first_last.all.txt", [] { return report::write_diff(fakes::svc_diff(0, 11), text(80, 0)); }},
      {"diff.svc_release.80.txt", [] { return report::write_diff(fakes::svc_diff(4, 5), text(80)); }},
      {"diff.svc_release.120.txt", [] { return report::write_diff(fakes::svc_diff(4, 5), text(120)); }},
      {"diff.sampled.80.txt", [] { return report::write_diff(fakes::sampled_diff(), text(80)); }},
      {"diff.sampled.120.txt", [] { return report::write_diff(fakes::sampled_diff(), text(120)); }},
      {"diff.by_function.80.txt", [] { return report::write_diff(fakes::svc_by_function(), text(80)); }},
      {"diff.by_function.cum.80.txt",
       [] {
         Style style = text(80);
         style.cumulative = true;
         return report::write_diff(fakes::svc_by_function(), style);
       }},
      {"diff.same.80.txt", [] { return report::write_diff(fakes::svc_diff(3, 3), text(80)); }},
      {"diff.hostile.80.txt", [] { return report::write_diff(hostile(), text(80)); }},
      {"diff.hostile.csv", [] { return report::write_diff(hostile(), form(Form::csv)); }},
      {"diff.hostile.json", [] { return report::write_diff(hostile(), form(Form::json)); }},
      {"diff.hostile.md", [] { return report::write_diff(hostile(), form(Form::markdown)); }},
      {"diff.hostile.folded", [] { return report::to_folded(hostile()); }},
      {"diff.hostile.speedscope.json", [] { return report::to_speedscope(hostile()); }},
      {"diff.svc_first_last.json", [] { return report::write_diff(fakes::svc_diff(0, 11), form(Form::json)); }},
      {"diff.svc_first_last.jsonl", [] { return report::write_diff(fakes::svc_diff(0, 11), form(Form::jsonl)); }},
      {"diff.svc_first_last.csv", [] { return report::write_diff(fakes::svc_diff(0, 11), form(Form::csv)); }},
      {"diff.svc_first_last.md", [] { return report::write_diff(fakes::svc_diff(0, 11), form(Form::markdown)); }},
      {"diff.by_function.json", [] { return report::write_diff(fakes::svc_by_function(), form(Form::json)); }},
      {"diff.by_function.csv", [] { return report::write_diff(fakes::svc_by_function(), form(Form::csv)); }},
      {"series.svc.80.txt", [] { return series(text(80)); }},
      {"series.svc.120.txt", [] { return series(text(120)); }},
      {"series.svc.steps.80.txt",
       [] {
         const SeriesReport report = fakes::svc_series();
         return report::write_series(report, {fakes::svc_diff(0, 1), fakes::svc_diff(1, 2)}, {}, text(80));
       }},
      {"series.svc.json",
       [] {
         const SeriesReport report = fakes::svc_series();
         return report::write_series(report, {fakes::svc_diff(0, 1), fakes::svc_diff(1, 2)}, verdicts(report.overall),
                                     form(Form::json));
       }},
      {"series.svc.csv", [] { return series(form(Form::csv)); }},
      {"series.svc.md", [] { return series(form(Form::markdown)); }},
      {"trend.svc.80.txt", [] { return report::write_trend(trend(), text(80)); }},
      {"trend.svc.140.txt", [] { return report::write_trend(trend(), text(140)); }},
      {"trend.svc.json", [] { return report::write_trend(trend(), form(Form::json)); }},
      {"trend.svc.jsonl", [] { return report::write_trend(trend(), form(Form::jsonl)); }},
      {"trend.svc.csv", [] { return report::write_trend(trend(), form(Form::csv)); }},
      {"trend.svc.md", [] { return report::write_trend(trend(), form(Form::markdown)); }},
      {"top.svc.80.txt", [] { return report::write_top(fakes::svc_top(), text(80, 5)); }},
      {"top.svc.120.txt", [] { return report::write_top(fakes::svc_top(), text(120, 5)); }},
      {"top.svc.json", [] { return report::write_top(fakes::svc_top(), form(Form::json)); }},
      {"top.svc.jsonl", [] { return report::write_top(fakes::svc_top(), form(Form::jsonl)); }},
      {"top.svc.n2.json",
       [] {
         Style style = form(Form::json);
         style.max_rows = 2;
         return report::write_top(fakes::svc_top(), style);
       }},
      {"diff.svc_first_last.n2.json",
       [] {
         Style style = form(Form::json);
         style.max_rows = 2;
         return report::write_diff(fakes::svc_diff(0, 11), style);
       }},
      {"top.svc.csv", [] { return report::write_top(fakes::svc_top(), form(Form::csv)); }},
      {"top.svc.md", [] { return report::write_top(fakes::svc_top(), form(Form::markdown)); }},
      {"top.svc.folded", [] { return report::to_folded(fakes::svc_top()); }},
      {"peek.leak_log.80.txt", [] { return report::write_peek(fakes::svc_peek(), text(80)); }},
      {"peek.leak_log.json", [] { return report::write_peek(fakes::svc_peek(), form(Form::json)); }},
      {"peek.leak_log.jsonl", [] { return report::write_peek(fakes::svc_peek(), form(Form::jsonl)); }},
      {"peek.leak_log.csv", [] { return report::write_peek(fakes::svc_peek(), form(Form::csv)); }},
      {"peek.leak_log.md", [] { return report::write_peek(fakes::svc_peek(), form(Form::markdown)); }},
  };
  return kGoldens;
}

}  // namespace

TEST_CASE("golden: every output is as its file has it") {
  const bool update = std::getenv("SNAPDIFF_UPDATE_GOLDENS") != nullptr;
  for (const Golden& golden : goldens()) {
    const std::string path = std::string(SNAPDIFF_GOLDEN_DIR) + "/" + golden.file;
    const std::string made = golden.make();
    if (update) {
      std::ofstream(path, std::ios::binary) << made;
      continue;
    }
    std::ifstream in(path, std::ios::binary);
    const std::string expected{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    INFO("golden file " << golden.file);
    CHECK(made == expected);
  }
}
