#include <algorithm>
#include <set>

#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

constexpr double kCounterHeight = 190;
constexpr TextStyle kShort{10};
constexpr std::size_t kShortLines = 3;
constexpr double kContentsRow = 11;
constexpr std::size_t kContentsColumns = 2;
/// Below this much room a list of contents says too little; the bookmarks have it all.
constexpr std::size_t kLeastContents = 3;

std::string title_of(const Postmortem& report) {
  std::string text = plain_text(report.narrative.headline);
  return text.empty() ? "Post-mortem" : text;
}

/// What the report is of, when, and whether its names are real.
std::string kicker(const PostmortemPages& pages) {
  const Postmortem& report = pages.report;
  std::string text = "Post-mortem of ";
  text.append(counted(inputs_of(report).size(), "snapshot"));
  if (report.trend.left_out > 0)
    text += concat(", judged from ", report.trend.left_out + 1, " on: the process restarted there");
  text.append("  \u00b7  ").append(time_text(report.created_at_ns));
  return text;
}

/// One fact of the inputs; different ones are listed.
template <class Fact>
std::string fact_of(const std::vector<Input>& inputs, Fact fact) {
  constexpr std::size_t kListed = 3;
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const Input& input : inputs) {
    if (input.snapshot.snapshot == nullptr) continue;
    std::string value = fact(input.snapshot.snapshot->facts);
    if (value.empty() || !seen.insert(value).second) continue;
    found.push_back(printable(value));
  }
  std::string text;
  for (std::size_t i = 0; i < found.size() && i < kListed; ++i) text.append(i == 0 ? "" : ", ").append(found[i]);
  if (found.size() > kListed) text.append(" and ").append(std::to_string(found.size() - kListed)).append(" more");
  return text;
}

std::string sampling_text(const SnapshotFacts& facts) {
  switch (facts.sampling) {
    case Sampling::exact: return "exact: every allocation recorded";
    case Sampling::poisson: return concat("one sample every ", size_text(facts.period), " on average");
    case Sampling::unknown: return "not recorded";
  }
  return "";
}

struct Fact {
  std::string name, value;
};

std::vector<Fact> environment(const PostmortemPages& pages, const std::vector<Input>& inputs) {
  using F = const SnapshotFacts&;
  std::vector<Fact> facts;
  const auto add = [&facts](const char* name, std::string value) {
    facts.push_back({name, value.empty() ? std::string("not recorded") : std::move(value)});
  };
  add("format", fact_of(inputs, [](F f) {
        return f.format_detail.empty() ? f.format : concat(f.format, " (", f.format_detail, ")");
      }));
  add("producer", fact_of(inputs, [](F f) { return f.producer; }));
  add("host, process", [&] {
    std::string host = fact_of(inputs, [](F f) { return f.host; });
    const std::string pid = fact_of(inputs, [](F f) { return f.pid ? std::to_string(*f.pid) : std::string(); });
    if (!host.empty() && !pid.empty()) host += ", ";
    return pid.empty() ? host : host.append("pid ").append(pid);
  }());
  add("command line", fact_of(inputs, [](F f) { return f.command_line; }));
  add("sampling", fact_of(inputs, [](F f) { return sampling_text(f); }));
  if (pages.has_stacks) {
    const GrowthReport& report = pages.report.growth();
    std::string metric = printable(report.metric);
    metric.append(", in ").append(printable(report.unit)).append("; rule set ").append(printable(report.rule_set));
    add("metric", std::move(metric));
  }
  add("order", printable(pages.report.order_note));
  return facts;
}

double draw_inputs(const PostmortemPages& pages, const std::vector<Input>& inputs, Canvas& canvas, double y) {
  std::string remark = "all of them with their hashes: page ";
  remark.append(std::to_string(pages.plan.page_of("inputs")));
  canvas.painter().begin_link(pages.plan.anchor_of("inputs"));
  draw_section(canvas, y, std::string("Inputs: ").append(counted(inputs.size(), "snapshot")), remark);
  canvas.painter().end_link();
  y += 17;
  const Quantity q = quantity_of(pages.report.growth().unit);
  const std::size_t ends[] = {0, inputs.size() - 1};
  for (std::size_t e = 0; e < (inputs.size() > 1 ? 2U : 1U); ++e) {
    const Input& input = inputs[ends[e]];
    canvas.text(kLeft, y, e == 0 ? "first" : "last", {7.2}, kInk3);
    canvas.text_within(kLeft + 24, y, snapshot_name(input.snapshot), {7.8, FontWeight::medium}, kInk, 132);
    if (input.total) canvas.text(kLeft + 206, y, q.value(*input.total), {7.6}, kInk, Align::right);
    if (input.snapshot.snapshot != nullptr) {
      const SnapshotFacts& facts = input.snapshot.snapshot->facts;
      canvas.text_within(kLeft + 216, y, facts.source.sha256, {6.0, FontWeight::regular, true}, kInk2, kWidth - 216);
    }
    y += 13;
  }
  return y;
}

double draw_facts(const std::vector<Fact>& facts, Canvas& canvas, double y, double x, double w) {
  for (const Fact& fact : facts) {
    canvas.text(x, y, fact.name, {7.2}, kInk3);
    canvas.text_cut(x + 62, y, fact.value, {7.4}, kInk, w - 62);
    y += 11.5;
  }
  return y;
}

/// Share of bytes by what their stacks were matched by, as bars.
double draw_matching(const GrowthReport& report, Canvas& canvas, double y, double x, double w) {
  canvas.text(x, y, "share of bytes matched by", {7.2}, kInk3);
  y += 11.5;
  bool any = false;
  for (std::size_t tier = 0; tier < kMatchTiers; ++tier) {
    if (report.matched[tier] <= 0) continue;
    any = true;
    const bool none = tier + 1 == kMatchTiers;
    const double share = std::clamp(report.matched[tier], 0.0, 1.0);
    canvas.text_cut(x, y, none ? std::string_view("on one side only") : matched_by(static_cast<MatchTier>(tier)), {7.4},
                    kInk, w - 92);
    const Box bar{x + w - 86, y - 5.5, 56, 6};
    canvas.rect(bar, kPanel);
    canvas.rect({bar.x, bar.y, std::max(bar.w * share, 0.4), bar.h}, none ? kOther : kInk3);
    canvas.text(x + w, y, share_text(share), {7.4}, kInk, Align::right);
    y += 11.5;
  }
  if (!any) canvas.text(x, y, "nothing to match", {7.4}, kInk);
  return any ? y : y + 11.5;
}

/// As many pages as fit, by columns.
void draw_contents(const PostmortemPages& pages, Canvas& canvas, double y) {
  const std::vector<PlannedPage>& plan = pages.plan.pages();
  const auto rows = static_cast<std::size_t>(std::max(0.0, (kBottom - 6 - y - 17) / kContentsRow));
  const std::size_t wanted = (plan.size() - 1 + kContentsColumns - 1) / kContentsColumns;
  if (rows < kLeastContents) return;
  const std::size_t shown = std::min(rows, wanted);
  draw_section(canvas, y, "Contents", shown < wanted ? "the first pages; the bookmarks have all" : "");
  const double w = (kWidth - 24) / static_cast<double>(kContentsColumns);
  for (std::size_t i = 1; i < plan.size() && i <= shown * kContentsColumns; ++i) {
    const std::size_t column = (i - 1) / shown;
    const double x = kLeft + (w + 24) * static_cast<double>(column);
    const double line = y + 17 + kContentsRow * static_cast<double>((i - 1) % shown);
    const std::string number = std::to_string(i + 1);
    canvas.painter().begin_link(std::string("p").append(number));
    canvas.text_cut(x, line, plan[i].title, {7.6}, kInk, w - 24);
    canvas.text(x + w, line, number, {7.6}, kInk2, Align::right);
    canvas.painter().end_link();
  }
}

/// The counter that the headline is about, over time.
void draw_leading_counter(const Postmortem& report, Canvas& canvas, double y) {
  if (!report.counters) return;
  const std::vector<CounterRow>& rows = report.counters->rows;
  const auto leading =
      std::ranges::find_if(rows, [](const CounterRow& row) { return !row.cumulative && row.known() > 0; });
  if (leading == rows.end()) return;
  CountersPage page;
  page.counters.snapshots = report.counters->snapshots;
  page.counters.axis = report.counters->axis;
  page.counters.rows = {*leading};
  draw_page(page, canvas, y, y + kCounterHeight);
}

/// Of counters alone there is no story by stacks: what the narrative says in a few lines.
void draw_counters_answer(const Postmortem& report, const std::string& remark, Canvas& canvas) {
  canvas.badge(kRight, kTop + 34, report.narrative.verdict, 9.5, Align::right);
  double y = kTop + 58;
  if (!remark.empty()) {
    canvas.text_cut(kLeft, y, remark, {8.4, FontWeight::semibold}, kInk, kWidth);
    y += 17;
  }
  const std::string title = title_of(report);
  for (const Prose& prose : report.narrative.in_short) {
    const std::string text = plain_text(prose);
    if (text == title || text == title + ".") continue;
    y = draw_prose(wrap_prose(prose, canvas.type(), kShort, kWidth, kShortLines), canvas, kLeft, y, kShort, kInk) + 18;
  }
  draw_leading_counter(report, canvas, y + 12);
}

void draw_environment(const PostmortemPages& pages, Canvas& canvas) {
  const Postmortem& report = pages.report;
  double y = kTop + 53;
  canvas.text_cut(kLeft, y, kicker(pages), {8}, kInk2, kWidth);
  y += 24;
  if (pages.has_stacks) y = draw_figures(key_figures(pages.story), canvas, y) + 22;
  const std::vector<Input> inputs = inputs_of(report);
  if (!inputs.empty()) y = draw_inputs(pages, inputs, canvas, y) + 12;
  draw_section(canvas, y, "Environment and matching");
  const double matching_w = pages.has_stacks ? 196 : 0;
  const double end = draw_facts(environment(pages, inputs), canvas, y + 17, kLeft, kWidth - matching_w - 20);
  if (pages.has_stacks)
    y = std::max(end, draw_matching(report.growth(), canvas, y + 17, kRight - matching_w, matching_w));
  draw_contents(pages, canvas, std::max(end, y) + 10);
}

constexpr std::size_t kRows = 60;
constexpr double kInputPagesRow = 10.6;
constexpr double kInputPagesHead = kTop + 74;
/// A series of thousands is listed by its ends; the JSON report has all.
constexpr std::size_t kMostPages = 4;

struct InputColumn {
  double x;
  Align align;
  const char* head;
};

void draw_head(Canvas& canvas, bool totals) {
  const InputColumn columns[] = {{kLeft + 16, Align::right, "#"},
                                 {kLeft + 22, Align::left, "name"},
                                 {kLeft + 150, Align::left, "SHA-256, first 16 digits"},
                                 {kLeft + 288, Align::right, "file"},
                                 {kLeft + 336, Align::right, totals ? "total" : ""},
                                 {kLeft + 346, Align::left, "format"},
                                 {kRight, Align::right, "taken at"}};
  for (const InputColumn& column : columns)
    canvas.text(column.x, kInputPagesHead, column.head, {7}, kInk2, column.align);
  canvas.rule(kLeft, kRight, kInputPagesHead + 5, kInk3, 0.7);
}

void draw_input(const Input& input, std::size_t number, const Quantity& q, Canvas& canvas, double y) {
  const TextStyle style{7};
  canvas.text(kLeft + 16, y, std::to_string(number), style, kInk3, Align::right);
  canvas.text_within(kLeft + 22, y, snapshot_name(input.snapshot), style, kInk, 124);
  if (input.total) canvas.text(kLeft + 336, y, q.value(*input.total), style, kInk, Align::right);
  if (input.snapshot.snapshot == nullptr) return;
  const SnapshotFacts& facts = input.snapshot.snapshot->facts;
  canvas.text(kLeft + 150, y, std::string_view(facts.source.sha256).substr(0, 16), {6.2, FontWeight::regular, true},
              kInk2);
  const std::uint64_t size = std::min<std::uint64_t>(facts.source.size_bytes, 1ULL << 62);
  canvas.text(kLeft + 288, y, size_text(static_cast<std::int64_t>(size)), style, kInk2, Align::right);
  const double right = facts.taken_at_ns
                           ? canvas.text(kRight, y, time_text(*facts.taken_at_ns), {6.4}, kInk2, Align::right)
                           : canvas.text(kRight, y, "n/a", {6.4}, kInk3, Align::right);
  std::string format = facts.format;
  if (!facts.format_detail.empty()) format.append(", ").append(facts.format_detail);
  if (facts.partial) format.insert(0, "partial; ");
  canvas.text_cut(kLeft + 346, y, format, {6.4}, kInk2, kRight - right - 6 - (kLeft + 346));
}

/// An input, or one that is missing between two.
struct Line {
  std::size_t input = 0;  ///< of inputs_of(); not used where `missing` is set
  const MissingInput* missing = nullptr;
};

std::vector<Line> lines_of(const Postmortem& report) {
  std::vector<Line> lines;
  auto gap = report.missing.begin();
  const std::size_t count = inputs_of(report).size();
  for (std::size_t i = 0; i <= count; ++i) {
    for (; gap != report.missing.end() && (gap->before <= i || i == count); ++gap) lines.push_back({i, &*gap});
    if (i < count) lines.push_back({i, nullptr});
  }
  return lines;
}

void draw_missing(const MissingInput& missing, Canvas& canvas, double y) {
  canvas.text(kLeft + 16, y, "\u00d7", {7}, kInk, Align::right);
  canvas.text_within(kLeft + 22, y, printable(missing.name), {7}, kInk, 124);
  canvas.text_cut(kLeft + 150, y, std::string("missing: ").append(printable(missing.why)), {6.4}, kInk2,
                  kRight - kLeft - 150);
}

}  // namespace

void plan_answer(PostmortemPages& pages) {
  const std::string title = pages.has_stacks ? answer_title(pages.story.overall) : title_of(pages.report);
  pages.plan.add({"cover", title, "What happened, and how sure is that?", "", [&pages](PdfDocument& document) {
                    const std::string remark =
                        pages.report.redacted
                            ? "Redacted: names and paths are replaced by tokens; figures are as measured."
                            : "";
                    if (pages.has_stacks) {
                      draw_answer(pages.story, document.canvas(), remark);
                    } else {
                      draw_counters_answer(pages.report, remark, document.canvas());
                    }
                  }});
}

void plan_environment(PostmortemPages& pages) {
  pages.plan.add({"environment", "What was compared", "Which inputs, and how were they matched?", "",
                  [&pages](PdfDocument& document) { draw_environment(pages, document.canvas()); }});
}

std::vector<Input> inputs_of(const Postmortem& report) {
  std::vector<Input> inputs;
  const bool totals = !report.growth().metric.empty();
  for (const SeriesStep& step : report.steps)
    inputs.push_back({step.snapshot, totals ? std::optional<std::int64_t>(step.total) : std::nullopt});
  if (inputs.empty() && report.counters) {
    for (const SnapshotRef& snapshot : report.counters->snapshots) inputs.push_back({snapshot, std::nullopt});
  }
  return inputs;
}

void plan_inputs(PostmortemPages& pages) {
  const std::size_t count = lines_of(pages.report).size();
  const std::size_t needed = (count + kRows - 1) / kRows;
  const std::size_t most = std::min(needed, kMostPages);
  pages.plan.add_each(most, "inputs", "Inputs", "Inputs, continued", "Which files, in which order?", "Inputs",
                      [&pages, most, needed](PdfDocument& document, std::size_t page) {
                        Canvas& canvas = document.canvas();
                        const std::vector<Input> inputs = inputs_of(pages.report);
                        const std::vector<Line> lines = lines_of(pages.report);
                        const Quantity q = quantity_of(pages.report.growth().unit);
                        std::string lead = printable(pages.report.order_note);
                        if (needed > most)
                          lead += concat("; the first ", (most - 1) * kRows, " and the last ", kRows,
                                         " are listed here, all of them in the JSON report");
                        canvas.paragraph(kLead, lead, {8.2}, kInk2, 1);
                        draw_head(canvas, !inputs.empty() && inputs.front().total.has_value());
                        // Of a series that is too long, the last page has its end.
                        const bool cut = needed > most && page + 1 == most;
                        const std::size_t first = cut ? lines.size() - kRows : page * kRows;
                        for (std::size_t i = first; i < lines.size() && i < first + kRows; ++i) {
                          const double y = kInputPagesHead + 16 + kInputPagesRow * static_cast<double>(i - first);
                          if (lines[i].missing != nullptr) {
                            draw_missing(*lines[i].missing, canvas, y);
                          } else {
                            draw_input(inputs[lines[i].input], lines[i].input + 1, q, canvas, y);
                          }
                        }
                      });
}

}  // namespace snapdiff::render
