#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kMostEdges = 24, kMostSegments = 14, kMostStacks = 14;
constexpr double kSegmentW = 122, kBlockW = 112, kStackW = 168;
constexpr double kBoxH = 22, kBlockH = 13.5, kPinsPageGap = 8;

struct Chosen {
  std::vector<PinEdge> edges;           ///< by place of their segment, then of their stack
  std::vector<std::uint32_t> segments;  ///< most pinned first
  std::vector<std::uint32_t> rows;
  std::int64_t drawn = 0;
  std::size_t hidden_edges = 0;
};

/// The edges that pin most, until the page is full.
Chosen choose(const PinReport& report) {
  std::vector<PinEdge> order;
  for (const PinEdge& edge : report.edges) {
    if (edge.pinned > 0) order.push_back(edge);
  }
  std::ranges::stable_sort(order, std::greater<>(), &PinEdge::pinned);
  Chosen chosen;
  std::set<std::uint32_t> segments;
  std::set<std::uint32_t> rows;
  for (const PinEdge& edge : order) {
    const bool room = chosen.edges.size() < kMostEdges &&
                      (segments.count(edge.segment) != 0 || segments.size() < kMostSegments) &&
                      (rows.count(edge.row) != 0 || rows.size() < kMostStacks);
    if (!room) {
      ++chosen.hidden_edges;
      continue;
    }
    segments.insert(edge.segment);
    rows.insert(edge.row);
    chosen.edges.push_back(edge);
    chosen.drawn += edge.pinned;
  }
  chosen.segments.assign(segments.begin(), segments.end());
  std::ranges::stable_sort(chosen.segments, std::greater<>(),
                           [&](std::uint32_t s) { return report.segments[s].pinned; });
  std::map<std::uint32_t, std::size_t> place;
  for (std::size_t i = 0; i < chosen.segments.size(); ++i) place[chosen.segments[i]] = i;
  std::ranges::stable_sort(chosen.edges, {},
                           [&](const PinEdge& edge) { return std::pair(place[edge.segment], edge.row); });
  // Stacks are at the middle of their blocks, so that few lines cross.
  std::map<std::uint32_t, std::pair<double, double>> middle;
  for (std::size_t i = 0; i < chosen.edges.size(); ++i) {
    auto& [weighted, weight] = middle[chosen.edges[i].row];
    weighted += static_cast<double>(i) * static_cast<double>(chosen.edges[i].pinned);
    weight += static_cast<double>(chosen.edges[i].pinned);
  }
  chosen.rows.assign(rows.begin(), rows.end());
  std::ranges::stable_sort(chosen.rows, {}, [&](std::uint32_t r) { return middle[r].first / middle[r].second; });
  return chosen;
}

class Graph {
 public:
  Graph(const PinReport& report, Canvas& canvas) : report_(report), canvas_(canvas), chosen_(choose(report)) {
    for (const PinEdge& edge : chosen_.edges) most_ = std::max(most_, static_cast<double>(edge.pinned));
    for (const PinnedRow& row : report.rows)
      most_growth_ = std::max(most_growth_, std::fabs(static_cast<double>(row.pinned.growth())));
  }
  const Chosen& chosen() const { return chosen_; }

  double draw(double y, double bottom) {
    const double segment_x = kLeft;
    const double block_x = kLeft + kSegmentW + 48;
    const double stack_x = kRight - kStackW;
    const auto head = [&](double x, const char* text) { canvas_.text(x, y, text, {7}, kInk2); };
    head(segment_x, "segment, and what is free but pinned");
    head(block_x, "its blocks, and what they pin");
    head(stack_x, "allocating stack");
    y += 8;
    const double height = bottom - y;
    // All columns are as high as the highest.
    const double used =
        std::min(height, std::max({static_cast<double>(chosen_.edges.size()) * (kBlockH + kPinsPageGap),
                                   static_cast<double>(std::max(chosen_.segments.size(), chosen_.rows.size())) *
                                       (kBoxH + kPinsPageGap)}));
    const std::vector<double> segments = places(chosen_.segments.size(), kBoxH, y, used);
    const std::vector<double> blocks = places(chosen_.edges.size(), kBlockH, y, used);
    const std::vector<double> rows = places(chosen_.rows.size(), kBoxH, y, used);
    for (std::size_t i = 0; i < chosen_.edges.size(); ++i) {
      const PinEdge& edge = chosen_.edges[i];
      const double from = segments[place(chosen_.segments, edge.segment)] + kBoxH / 2;
      const double to = rows[place(chosen_.rows, edge.row)] + kBoxH / 2;
      const double middle = blocks[i] + kBlockH / 2;
      curve({segment_x + kSegmentW, from}, {block_x, middle}, edge);
      curve({block_x + kBlockW, middle}, {stack_x, to}, edge);
    }
    for (std::size_t i = 0; i < chosen_.segments.size(); ++i)
      segment_box({segment_x, segments[i], kSegmentW, kBoxH}, report_.segments[chosen_.segments[i]]);
    for (std::size_t i = 0; i < chosen_.edges.size(); ++i)
      block_box({block_x, blocks[i], kBlockW, kBlockH}, chosen_.edges[i]);
    for (std::size_t i = 0; i < chosen_.rows.size(); ++i)
      stack_box({stack_x, rows[i], kStackW, kBoxH}, report_.rows[chosen_.rows[i]]);
    return y + used;
  }

  double legend(double y) {
    double x = kLeft;
    canvas_.text(x, y, "line: pinned bytes", {7}, kInk2);
    x += canvas_.width("line: pinned bytes", {7}) + 8;
    for (const double share : {1.0, 0.25, 0.04}) {
      const double w = width_of(most_ * share);
      canvas_.painter().stroke(Path().move({x, y - 2.4}).line({x + 18, y - 2.4}), {kBorder, w});
      x += 22 + canvas_.text(x + 22, y, size_text(static_cast<std::int64_t>(most_ * share)), {7}, kInk2) + 10;
    }
    if (report_.has_baseline()) {
      canvas_.rect({x + 4, y - 6.5, 14, 8}, tint(1, 1));
      x += 22 + canvas_.text(x + 22, y, "+ pins more than before", {7}, kInk2) + 8;
      canvas_.rect({x + 4, y - 6.5, 14, 8}, tint(-1, 1));
      canvas_.text(x + 22, y, "\u2212 pins less (dashed)", {7}, kInk2);
    }
    y += 11;
    const std::int64_t pinned = report_.pinned.current;
    std::string text =
        concat("drawn ", size_text(chosen_.drawn), " + hidden ", size_text(pinned - chosen_.drawn), " in ");
    text += concat(counted(chosen_.hidden_edges, "group"), " of blocks = ", size_text(pinned), " pinned");
    canvas_.text(kLeft, y, text, {7}, kInk2);
    return y + 4;
  }

 private:
  static constexpr Color kBorder = Color::hex(0x9AA6B2);

  /// Tops of boxes, spread evenly.
  static std::vector<double> places(std::size_t count, double box, double y, double height) {
    std::vector<double> tops;
    const double step = count > 0 ? height / static_cast<double>(count) : 0;
    for (std::size_t i = 0; i < count; ++i) tops.push_back(y + (static_cast<double>(i) + 0.5) * step - box / 2);
    return tops;
  }
  static std::size_t place(const std::vector<std::uint32_t>& in, std::uint32_t what) {
    return static_cast<std::size_t>(std::ranges::find(in, what) - in.begin());
  }
  double width_of(double pinned) const { return 0.5 + 5.5 * std::sqrt(most_ > 0 ? pinned / most_ : 0); }

  std::int64_t growth_of(const PinnedRow& row) const { return report_.has_baseline() ? row.pinned.growth() : 0; }

  void curve(Point from, Point to, const PinEdge& edge) {
    const auto growth = static_cast<double>(growth_of(report_.rows[edge.row]));
    Stroke stroke{growth == 0 ? Color::hex(0xB4C1CD) : ramp_of(growth).c300,
                  width_of(static_cast<double>(edge.pinned))};
    if (growth < 0) stroke.dash_on = 4, stroke.dash_off = 2.5;
    const double middle = (from.x + to.x) / 2;
    canvas_.painter().stroke(Path().move(from).curve({middle, from.y}, {middle, to.y}, to), stroke);
  }

  void box(const Box& b, Color fill, const std::string& first, const std::string& value, const std::string& second) {
    canvas_.rect(b, fill, 2);
    canvas_.frame(b, {kBorder, 0.6}, 2);
    const double w = value.empty() ? 0 : canvas_.width(value, {7, FontWeight::semibold});
    canvas_.text_within(b.x + 5, b.y + 9, first, {7, FontWeight::medium}, kInk, b.w - 14 - w);
    if (!value.empty()) canvas_.text(b.x + b.w - 5, b.y + 9, value, {7, FontWeight::semibold}, kInk, Align::right);
    canvas_.text_cut(b.x + 5, b.y + 18, second, {6.4}, kOnFill, b.w - 10);
  }

  void segment_box(const Box& b, const SegmentFacts& segment) {
    std::string where = concat(size_text(segment.size), ", ", size_text(segment.live + segment.pending), " used");
    if (segment.stream != 0) where.append(", stream ").append(hex_text(segment.stream));
    if (segment.pool != PoolId{}) where.append(", ").append(pool_name(segment.pool));
    canvas_.painter().begin_item(hex_text(segment.address));
    box(b, kPanel, hex_text(segment.address), size_text(segment.pinned), where);
    canvas_.painter().end_item();
  }

  void block_box(const Box& b, const PinEdge& edge) {
    const std::string blocks =
        concat(counted(static_cast<std::uint64_t>(edge.blocks), "block"), ", ", size_text(edge.live));
    canvas_.rect(b, kPaper, 2);
    canvas_.frame(b, {kBorder, 0.6}, 2);
    canvas_.text(b.x + 5, b.y + 9.3, blocks, {6.8}, kInk);
    canvas_.text(b.x + b.w - 5, b.y + 9.3, size_text(edge.pinned), {6.8, FontWeight::semibold}, kInk, Align::right);
  }

  void stack_box(const Box& b, const PinnedRow& row) {
    const StackLabel label = label_of(*report_.view, report_.stacks[row.key]);
    const std::int64_t growth = growth_of(row);
    std::string second = std::string(size_text(row.live.current)).append(" live");
    if (report_.has_baseline()) second.append(", pinned ").append(size_growth_text(growth));
    if (row.sole_segments > 0) second.append(", alone in ").append(count_text(row.sole_segments));
    if (!label.site.empty()) second.append(", ").append(label.site);
    canvas_.painter().begin_item(label.name);
    box(b, growth == 0 ? kPanel : tint(static_cast<double>(growth), most_growth_), label.name,
        size_text(row.pinned.current), second);
    canvas_.painter().end_item();
  }

  const PinReport& report_;
  Canvas& canvas_;
  Chosen chosen_;
  double most_ = 0;
  double most_growth_ = 0;
};

constexpr double kPinsTableRow = 17;
constexpr double kSwatch = 7;

struct Sums {
  Change live, pinned;
  std::int64_t sole = 0;
  void add(const PinnedRow& row) {
    live.baseline += row.live.baseline;
    live.current += row.live.current;
    pinned.baseline += row.pinned.baseline;
    pinned.current += row.pinned.current;
    sole += row.sole.current;
  }
};

class Table {
 public:
  Table(const PinReport& report, Canvas& canvas, bool coloured)
      : report_(report), canvas_(canvas), grown_(report.has_baseline()), coloured_(coloured) {
    live_ = grown_ ? kLeft + 220 : kRight - 200;
    live_growth_ = kLeft + 280;
    segments_ = grown_ ? kLeft + 328 : kRight - 150;
    pinned_ = grown_ ? kLeft + 384 : kRight - 80;
    pinned_growth_ = kLeft + 442;
  }

  double draw(double y, double bottom) {
    canvas_.text(kLeft, y, "Who pins the segments", {8.5, FontWeight::semibold}, kInk);
    canvas_.text_cut(
        kLeft + 112, y,
        "a segment goes back only when nothing in it is in use; its free bytes are shared among its stacks", {7}, kInk3,
        kWidth - 112);
    y += 15;
    const auto head = [&](double x, const char* text) { canvas_.text(x, y, text, {7}, kInk2, Align::right); };
    canvas_.text(kLeft, y, "stack", {7}, kInk2);
    head(live_, "live");
    head(segments_, "segments");
    head(pinned_, "pinned");
    head(kRight, "freed if it went");
    if (grown_) {
      head(live_growth_, "growth");
      head(pinned_growth_, "growth");
    }
    y += 5;
    canvas_.rule(kLeft, kRight, y, kInk3, 0.7);
    const auto room = static_cast<std::size_t>(std::max((bottom - y) / kPinsTableRow - 2, 0.0));
    const std::size_t shown = std::min({report_.rows.size(), room, std::size_t{14}});
    Sums others;
    Sums total;
    for (std::size_t i = 0; i < report_.rows.size(); ++i) {
      const PinnedRow& row = report_.rows[i];
      total.add(row);
      if (i >= shown) {
        others.add(row);
        continue;
      }
      const StackLabel label = label_of(*report_.view, report_.stacks[row.key]);
      const double left = kLeft + (coloured_ ? kSwatch + 5 : 0);
      if (coloured_) canvas_.rect({kLeft, y + 12 - kSwatch, kSwatch, kSwatch}, owner_color(i));
      const double width = live_ - 50 - left;
      const double w = canvas_.text_within(left, y + 12, label.name, {7.8, FontWeight::medium}, kInk, width * 0.66);
      draw_origin(canvas_, left + w + 6, y + 12, label, {6.8}, width - w - 6);
      numbers(y + 12, row.live, row.pinned, row.sole.current, FontWeight::regular);
      canvas_.text(segments_, y + 12, count_text(row.segments), {7.6}, kInk, Align::right);
      y += kPinsTableRow;
      canvas_.rule(kLeft, kRight, y, kLine, 0.4);
    }
    if (shown < report_.rows.size()) {
      canvas_.text(kLeft, y + 12, others_text(report_.rows.size() - shown), {7.8}, kInk2);
      numbers(y + 12, others.live, others.pinned, others.sole, FontWeight::regular);
      y += kPinsTableRow;
      canvas_.rule(kLeft, kRight, y, kLine, 0.4);
    }
    canvas_.text(kLeft, y + 12, "TOTAL", {7.8, FontWeight::semibold}, kInk);
    numbers(y + 12, total.live, total.pinned, total.sole, FontWeight::semibold);
    return y + kPinsTableRow;
  }

 private:
  void numbers(double y, const Change& live, const Change& pinned, std::int64_t sole, FontWeight weight) {
    canvas_.number(live_, y, size_text(live.current), {7.6, weight}, kInk, 20);
    canvas_.number(pinned_, y, size_text(pinned.current), {7.6, weight}, kInk, 20);
    canvas_.number(kRight, y, size_text(sole), {7.6, weight}, kInk, 20);
    if (!grown_) return;
    growth(live_growth_, y, live.growth());
    growth(pinned_growth_, y, pinned.growth());
  }
  void growth(double x, double y, std::int64_t value) {
    const Color color = growth_color(value);
    canvas_.number(x, y, size_growth_text(value), {7.8, value == 0 ? FontWeight::regular : FontWeight::semibold}, color,
                   20);
  }

  const PinReport& report_;
  Canvas& canvas_;
  bool grown_;
  bool coloured_;
  double live_ = 0, live_growth_ = 0, segments_ = 0, pinned_ = 0, pinned_growth_ = 0;
};

}  // namespace

PageText text_of(const PinsPage& page) {
  std::string title = size_text(page.pins.pinned.current);
  return {title.append(" free but pinned"), "Which stack keeps which segment?"};
}

double draw_page(const PinsPage& page, Canvas& canvas, double top, double bottom) {
  const PinReport& pins = page.pins;
  std::string text =
      "Retained by containment: a segment holds blocks, and goes back to the driver only when none of them is in use. "
      "Its free bytes are shared evenly among the stacks that have a block in it.";
  if (pins.has_baseline()) {
    text.append(" Since ").append(printable(base_name(pins.baseline.ref))).append(": pinned ");
    text.append(size_growth_text(pins.pinned.growth())).append(", live ").append(size_growth_text(pins.live.growth()));
    text.append(".");
  }
  double y = canvas.paragraph(top, text, {9.2}, kInk, 4) + 26;
  Graph graph(pins, canvas);
  if (graph.chosen().edges.empty()) {
    canvas.text(kLeft, y, "Nothing is pinned: no segment with a live block has free bytes.", {8.5}, kInk);
    return draw_pins_table(pins, canvas, y + 26, bottom);
  }
  const double table = 20 + 17 * (2 + static_cast<double>(std::min<std::size_t>(pins.rows.size(), 5))) + 24;
  y = graph.draw(y, bottom - table - 44);
  y = graph.legend(y + 18);
  return draw_pins_table(pins, canvas, y + 22, bottom);
}

double draw_pins_table(const PinReport& report, Canvas& canvas, double y, double bottom, bool coloured) {
  return Table(report, canvas, coloured).draw(y, bottom);
}

}  // namespace snapdiff::render
