#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "analyzer/render/chart/chart.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kSubjects = 3;
constexpr double kChartHeight = 132;
constexpr double kChartWidth = 268;
constexpr std::size_t kStackLines = 12;
constexpr double kStackStep = 10.6;
constexpr double kLeastGraph = 90;

std::string error_text(const GrowthReport& report, double error) {
  if (report.exact) return "0, exact";
  if (!std::isfinite(error) || error > 9e18 || !report.has_error) return "n/a";
  return quantity_of(report.unit).value(std::llround(error));
}

/// A line over the snapshots from zero, large enough to read.
void draw_chart(const PostmortemPages& pages, const std::vector<double>& values, Canvas& canvas, double y) {
  const Quantity q = quantity_of(pages.report.growth().unit);
  const Chart chart{kLeft + 34, kLeft + kChartWidth, y + 8, y + kChartHeight - 16, 6.6, 2.3};
  const double least = std::min(0.0, *std::ranges::min_element(values));
  const double most = *std::ranges::max_element(values);
  const Axis axis = axis_for(std::max(most, -least), q.bytes);
  const double top = std::max(axis.top * axis.unit, 1e-9);
  const auto at = [&](double value) { return chart.y1 - (chart.y1 - chart.y0) * (value - least) / (top - least); };
  const auto x = [&](std::size_t i) {
    return chart.x0 + (chart.x1 - chart.x0) * static_cast<double>(i) / static_cast<double>(values.size() - 1);
  };
  chart.value_axis(canvas, {axis, 0, axis.top, axis.step}, q.bytes, at);
  const double change = values.back() - values.front();
  std::vector<Point> points;
  for (std::size_t i = 0; i < values.size(); ++i) points.push_back({x(i), at(values[i])});
  draw_value_line(canvas, points, change == 0 ? kInk2 : ramp_of(change).c700, 1.6, [](std::size_t) { return false; });
  chart.snapshot_numbers(canvas, values.size(), pages.story.before.size() + 1, 12, 10, x);
}

/// Of two values a line would look like a trend: two bars of one scale.
void draw_pair(const PostmortemPages& pages, const std::vector<double>& values, Canvas& canvas, double y) {
  const Quantity q = quantity_of(pages.report.growth().unit);
  const double most = std::max({std::fabs(values[0]), std::fabs(values[1]), 1.0});
  const double x0 = kLeft + 40;
  const double room = kChartWidth - 40 - 56;
  for (std::size_t side = 0; side < 2; ++side) {
    const double top = y + 16 + 32 * static_cast<double>(side);
    canvas.text(kLeft, top + 13.6, side == 0 ? "before" : "after", {7.4}, kInk2);
    const double w = room * std::fabs(values[side]) / most;
    const double both = room * std::min(std::fabs(values[0]), std::fabs(values[1])) / most;
    if (both > 0.3) canvas.rect({x0, top, both, 22}, kOther);
    if (w > both && side == 1) canvas.rect({x0 + both, top, w - both, 22}, kGrow.c500);
    if (w > both && side == 0) canvas.gone({x0 + both, top, w - both, 22});
    canvas.painter().stroke(Path().move({x0, top - 2}).line({x0, top + 24}), {kInk3, 0.7});
    const auto value = static_cast<std::int64_t>(std::clamp(values[side], -9.2e18, 9.2e18));
    canvas.text(x0 + w + 5, top + 13.8, q.value(value), {8, FontWeight::semibold}, kInk);
  }
}

/// Root side first; of a deep path the middle is left out.
void draw_stack(const Culprit& culprit, Canvas& canvas, double y) {
  const double x = kLeft + kChartWidth + 22;
  const double w = kRight - x;
  std::vector<std::pair<std::string, std::string>> lines;
  for (const FrameView& frame : culprit.path) {
    std::string name = frame_name(frame);
    std::string site = site_text(frame);
    if (!lines.empty() && lines.back().first == name) {
      if (!lines.back().second.ends_with("\u21bb")) lines.back().second.append(" \u21bb");
      continue;
    }
    lines.emplace_back(std::move(name), std::move(site));
  }
  canvas.text(x, y, "through, from the entry down", {7}, kInk2);
  double line = y + 13;
  const std::size_t hidden = lines.size() > kStackLines ? lines.size() - (kStackLines - 1) : 0;
  constexpr std::size_t kHead = 3;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (hidden > 0 && i == kHead) {
      canvas.text(x + 6, line, concat("\u2026 ", counted(hidden, "frame"), " more"), {7}, kInk3);
      line += kStackStep;
      i += hidden - 1;
      continue;
    }
    const bool end = i + 1 == lines.size();
    const TextStyle style{end ? 8.4 : 7.8, end ? FontWeight::semibold : FontWeight::regular};
    canvas.text(x, line, "\u203a", {7.4}, kInk3);
    const double site_w = lines[i].second.empty() ? 0 : std::min(canvas.width(lines[i].second, {6.8}), w * 0.42) + 8;
    const double used = canvas.text_within(x + 8, line, lines[i].first, style, kInk, w - 8 - site_w);
    if (site_w > 0) canvas.text_within(x + 8 + used + 6, line, lines[i].second, {6.8}, kInk2, site_w - 6);
    line += kStackStep;
  }
}

double draw_sites(const PostmortemPages& pages, const Culprit& culprit, Canvas& canvas, double y) {
  const GrowthReport& report = pages.report.growth();
  const Quantity q = quantity_of(report.unit);
  std::string remark = std::string("over ").append(counted(culprit.rows.size(), "stack"));
  draw_section(canvas, y, "Allocated in", remark);
  y += 16;
  for (const Suspect::Site& site : culprit.sites) {
    const double w = canvas.text_within(kLeft, y, frame_name(site.frame), {8, FontWeight::medium}, kInk, 190);
    if (!site.frame.file.empty()) canvas.text_within(kLeft + w + 8, y, site_text(site.frame), {7}, kInk2, 320 - w - 8);
    canvas.growth(kLeft + 420, y, site.growth, q.growth(site.growth), {8.2, FontWeight::semibold},
                  growth_color(site.growth), Align::right);
    if (report.has_objects && q.bytes)
      canvas.text(kRight, y,
                  count_growth_text(site.objects).append(std::abs(site.objects) == 1 ? " object" : " objects"), {7.6},
                  kInk, Align::right);
    canvas.rule(kLeft, kRight, y + 4.2, kLine, 0.3);
    y += 12.6;
  }
  return y;
}

std::vector<KeyFigure> figures_of(const GrowthReport& report, const Culprit& culprit) {
  const Quantity q = quantity_of(report.unit);
  const Change& value = culprit.value;
  const std::int64_t objects = culprit.objects.growth();
  std::vector<KeyFigure> out;
  out.push_back({"growth, first \u2192 last", q.growth(culprit.value.growth()),
                 q.value(value.baseline).append(" \u2192 ").append(q.value(value.current)),
                 growth_color(culprit.value.growth(), kInk)});
  out.push_back({culprit.value.growth() < 0 ? "of all shrinkage" : "of all growth", share_text(culprit.share),
                 std::string("\u00b1 ").append(error_text(report, culprit.error)), kInk});
  if (report.has_objects && q.bytes) {
    std::string each;
    if (objects != 0 && culprit.value.growth() / objects > 0)
      each = concat("about ", size_text(culprit.value.growth() / objects), " each");
    out.push_back({"objects", count_growth_text(objects), each, kInk});
  }
  const std::size_t n = report.series_length;
  if (n > 2) {
    std::string band;
    if (!culprit.verdict.word.empty()) {
      const auto whole = [](double v) { return static_cast<std::int64_t>(std::llround(std::clamp(v, -9e18, 9e18))); };
      band = concat("slope ", q.growth(whole(culprit.verdict.slope_low)), " to ",
                    q.growth(whole(culprit.verdict.slope_high)));
    }
    out.push_back(
        {"mean per snapshot", q.growth(culprit.value.growth() / static_cast<std::int64_t>(n - 1)), band, kInk});
  }
  return out;
}

/// Its rows as a comparison of their own.
GrowthReport part_of(const GrowthReport& report, const Culprit& culprit) {
  GrowthReport part;
  part.baseline = report.baseline;
  part.current = report.current;
  part.options = report.options;
  part.metric = report.metric;
  part.unit = report.unit;
  part.objects_metric = report.objects_metric;
  part.has_objects = report.has_objects;
  part.has_error = report.has_error;
  part.rounded = report.rounded;
  part.exact = report.exact;
  part.view = report.view;
  part.rule_set = report.rule_set;
  part.common_path = report.common_path;
  part.series_length = report.series_length;
  const bool series = has_series(report);
  if (!series) part.series_length = 0;
  std::vector<std::uint32_t> chosen;
  for (const std::uint32_t number : culprit.rows) {
    if (number >= report.rows.size()) continue;
    GrowthRow row = report.rows[number];
    part.stacks.push_back(report.stacks[row.key]);
    row.key = static_cast<std::uint32_t>(part.stacks.size() - 1);
    part.total.baseline += row.value.baseline;
    part.total.current += row.value.current;
    part.total_objects.baseline += row.objects.baseline;
    part.total_objects.current += row.objects.current;
    part.grew += row.grew;
    part.shrank += row.shrank;
    part.rows.push_back(row);
    if (!series) continue;
    chosen.push_back(number);
  }
  if (series) part.series = report.series.only(chosen);
  Suspect mark;
  mark.path = culprit.path;
  mark.growth = culprit.value.growth();
  mark.share = culprit.share;
  for (std::uint32_t row = 0; row < part.rows.size(); ++row) mark.rows.push_back(row);
  part.suspects.push_back(std::move(mark));
  return part;
}

/// The culprits and what was freed, or where there are none the rows that changed most, in the same form.
struct Subject {
  Culprit culprit;
  bool is_culprit = true;
  std::size_t number = 0;
};

/// Where the parts of a page lie; the same when it is planned and when it is drawn.
struct Places {
  std::vector<ProseLine> sentence;
  double figures = 0, chart = 0, sites = 0, graph = 0;
};

constexpr TextStyle kSentence{10};

std::string sentence_of(const PostmortemPages& pages, const Subject& subject) {
  const GrowthReport& report = pages.report.growth();
  const Quantity q = quantity_of(report.unit);
  const Culprit& culprit = subject.culprit;
  const std::int64_t growth = culprit.value.growth();
  std::string text =
      culprit.path.empty() ? std::string("A path without frames") : shortened(frame_name(culprit.path.back()), 60);
  text.append(growth < 0 ? " shrank by " : " grew by ").append(q.size(growth));
  text.append(", ").append(share_text(culprit.share)).append(growth < 0 ? " of all shrinkage" : " of all growth");
  if (!subject.is_culprit) text.append("; it is no culprit, but one of the largest changes");
  text.append(". ");
  if (!culprit.verdict.word.empty())
    text.append(printable(culprit.verdict.word)).append(": ").append(printable(culprit.verdict.reason)).append(".");
  if (culprit.verdict.word.empty() && !told(report).no_verdict.empty())
    text.append("No verdict: ").append(told(report).no_verdict).append(".");
  return text;
}

Places places_of(const PostmortemPages& pages, const Subject& subject) {
  Places places;
  places.sentence = wrap_prose({{sentence_of(pages, subject)}}, pages.type, kSentence, kWidth, 4);
  const auto lines = static_cast<double>(places.sentence.size());
  places.figures = kTop + 57 + line_step(kSentence) * (lines - 1) + 20;
  places.chart = places.figures + 50 + 20;
  // Two bars need less room than a line; the path beside it may need more.
  const std::size_t frames = std::min(subject.culprit.path.size(), kStackLines);
  const double chart = pages.report.growth().series_length > 2 ? kChartHeight : 74;
  places.sites = places.chart + std::max(chart, 10 + kStackStep * static_cast<double>(frames)) + 26;
  places.graph = places.sites + 16 + 12.6 * static_cast<double>(subject.culprit.sites.size()) + 20;
  return places;
}

std::string title_of(const Subject& subject) {
  const std::string name =
      subject.culprit.path.empty() ? std::string("a path without frames") : frame_name(subject.culprit.path.back());
  return concat(!subject.is_culprit                  ? "Change "
                : subject.culprit.value.growth() < 0 ? "Freed "
                                                     : "Culprit ",
                subject.number, ": ", name);
}

void draw_subject(const PostmortemPages& pages, const Subject& subject, const FittedScene* fitted,
                  PdfDocument& document) {
  Canvas& canvas = document.canvas();
  const Culprit& culprit = subject.culprit;
  const Places places = places_of(pages, subject);
  canvas.badge(kRight, kTop + 34, culprit.verdict.word, 9.5, Align::right);
  draw_prose(places.sentence, canvas, kLeft, kTop + 57, kSentence, kInk);
  draw_figures(figures_of(pages.report.growth(), culprit), canvas, places.figures);
  const std::vector<double> values(culprit.values.begin(), culprit.values.end());
  canvas.text(kLeft, places.chart, values.size() > 2 ? "Its value at each snapshot" : "Its value before and after",
              {9, FontWeight::semibold}, kInk);
  if (values.size() > 2) {
    draw_chart(pages, values, canvas, places.chart + 6);
  } else {
    draw_pair(pages, values, canvas, places.chart + 6);
  }
  draw_stack(culprit, canvas, places.chart);
  draw_sites(pages, culprit, canvas, places.sites);
  if (fitted == nullptr) return;
  canvas.text(kLeft, places.graph - 4, "Its part of the graph", {9, FontWeight::semibold}, kInk);
  canvas.painter().begin_link(pages.plan.anchor_of("graph"));
  canvas.text(
      kRight, places.graph - 4,
      std::string("shares are of this part; the whole: page ").append(std::to_string(pages.plan.page_of("graph"))), {7},
      kInk3, Align::right);
  canvas.painter().end_link();
  SceneLinks links{concat("subject", subject.number, "-"), {}, false};
  draw_scaled(*fitted, canvas, places.graph + 8, links);
  draw_legend(fitted->scene, canvas, kLegendTop);
}

/// A row in the form of a culprit, for series without one.
Subject subject_of_row(const GrowthReport& report, std::uint32_t number) {
  const GrowthRow& row = report.rows[number];
  Subject subject;
  subject.is_culprit = false;
  std::vector<FrameView> frames;
  if (report.view != nullptr) report.frames(row, frames);
  subject.culprit.path.assign(frames.rbegin(), frames.rend());
  subject.culprit.value = row.value;
  subject.culprit.objects = row.objects;
  const auto whole = static_cast<double>(subject.culprit.value.growth() < 0 ? -static_cast<double>(report.shrank)
                                                                            : static_cast<double>(report.grew));
  subject.culprit.values = values_of(report, number);
  if (whole > 0) subject.culprit.share = std::fabs(static_cast<double>(subject.culprit.value.growth())) / whole;
  if (!frames.empty())
    subject.culprit.sites.push_back({frames.front(), subject.culprit.value.growth(), row.objects.growth()});
  subject.culprit.rows.push_back(number);
  return subject;
}

std::vector<Subject> subjects_of(const Postmortem& report) {
  const GrowthReport& growth = report.growth();
  std::vector<Subject> out;
  for (const std::vector<Culprit>* list : {&told(growth).freed, &told(growth).culprits}) {
    for (const Culprit& culprit : *list) out.push_back({culprit, true, out.size() + 1});
  }
  if (!out.empty()) return out;
  // The rows may be sorted by something else.
  std::vector<std::uint32_t> rows(growth.rows.size());
  for (std::uint32_t row = 0; row < rows.size(); ++row) rows[row] = row;
  const std::size_t most = std::min(kSubjects, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(most), rows.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      const double x = std::fabs(static_cast<double>(growth.rows[a].value.growth()));
                      const double y = std::fabs(static_cast<double>(growth.rows[b].value.growth()));
                      return x != y ? x > y : a < b;
                    });
  for (std::size_t i = 0; i < most; ++i) {
    if (growth.rows[rows[i]].value.growth() == 0) continue;
    out.push_back(subject_of_row(growth, rows[i]));
    out.back().number = out.size();
  }
  return out;
}

}  // namespace

Status plan_suspects(PostmortemPages& pages) {
  for (const Subject& subject : subjects_of(pages.report)) {
    std::shared_ptr<const FittedScene> scene;
    const double room = kLegendTop - 16 - (places_of(pages, subject).graph + 8);
    // The model reads the part only while it is trimmed.
    const GrowthReport part = part_of(pages.report.growth(), subject.culprit);
    if (room >= kLeastGraph && !part.rows.empty()) {
      Result<graph::GrowthModel> model = graph::GrowthModel::read(part, pages.options);
      if (!model) return std::move(model).error();
      SceneWords words;
      words.root = "growth of this part";
      words.root_both = "change of this part";
      Result<FittedScene> fitted = fit_scene([&](std::size_t nodes) { return model->trim(nodes); }, pages.type,
                                             std::min<std::size_t>(pages.options.max_nodes, 24), kWidth, room, words);
      if (!fitted) return std::move(fitted).error();
      scene = std::make_shared<const FittedScene>(*std::move(fitted));
    }
    pages.plan.add(
        {suspect_key(subject.number), title_of(subject), "What is this, and how sure is it?",
         subject.is_culprit ? "Culprits" : "Largest changes",
         [&pages, subject, scene](PdfDocument& document) { draw_subject(pages, subject, scene.get(), document); }});
  }
  return ok();
}

}  // namespace snapdiff::render
