#include <algorithm>

#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

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

double draw_pins_table(const PinReport& report, Canvas& canvas, double y, double bottom, bool coloured) {
  return Table(report, canvas, coloured).draw(y, bottom);
}

}  // namespace snapdiff::render
