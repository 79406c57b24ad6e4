#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/role_names.hpp"
#include "analyzer/render/chart/chart.hpp"
#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

using Kind = TimelineBand::Kind;

constexpr std::array<Color, 4> kSteady = {Color::hex(0x33475B), Color::hex(0x55697D), Color::hex(0x8296A9),
                                          Color::hex(0xB4C1CD)};
constexpr std::array<Color, 2> kGrown = {kGrow.c500, kGrow.c300};
constexpr double kPlotHeight = 270;
constexpr double kTimelinePageX0 = kLeft + 34, kTimelinePageX1 = kRight - 118;

struct StackPaint {
  Color fill;
  bool hatched = false;
  Color hatch;
};

std::vector<StackPaint> stack_paints(const MemoryTimeline& t, bool by_role) {
  std::vector<StackPaint> paints;
  std::size_t steady = 0;
  std::size_t grown = 0;
  for (const TimelineBand& band : t.bands) {
    switch (band.kind) {
      case Kind::before_trace: paints.push_back({kPaper, true, kInk3}); break;
      case Kind::others: paints.push_back({kOther, false, kPaper}); break;
      case Kind::pending: paints.push_back({kPaper, true, kShrink.c500}); break;
      case Kind::stack:
        if (by_role)
          paints.push_back({kRoles[std::min<std::size_t>(band.group, kRoles.size() - 1)], false, kPaper});
        else if (band.grew)
          paints.push_back({kGrown[std::min(grown++, kGrown.size() - 1)], false, kPaper});
        else
          paints.push_back({kSteady[std::min(steady++, kSteady.size() - 1)], false, kPaper});
        break;
    }
  }
  return paints;
}

std::string bytes(std::int64_t value) { return size_text(value); }

class Plot {
 public:
  Plot(const TimelinePage& page, Canvas& canvas, double top)
      : t_(page.timeline),
        page_(page),
        canvas_(canvas),
        chart_{kTimelinePageX0, kTimelinePageX1, top + 16, top + 16 + kPlotHeight} {
    std::int64_t most = 0;
    for (const std::int64_t v : t_.held) most = std::max(most, v);
    for (const std::int64_t v : t_.reserved) most = std::max(most, v);
    if (t_.failure && t_.failure->reserved) {
      if (__builtin_add_overflow(*t_.failure->reserved, t_.failure->device_free, &room_)) room_ = 0;
      // A device that was mostly free says nothing about the heights.
      if (static_cast<double>(room_) <= 1.6 * static_cast<double>(most)) most = std::max(most, room_);
    }
    axis_ = axis_for(static_cast<double>(most), true);
    paints_ = stack_paints(t_, page_.by_role);
    name_bands();
  }

  /// Returns the lower edge, tick texts included.
  double draw() {
    grid();
    bands();
    steps();
    reserved();
    limit();
    failures();
    names();
    return chart_.y1 + 16;
  }

 private:
  double x(double at) const { return chart_.x0 + (chart_.x1 - chart_.x0) * at; }
  double column_x(std::size_t column) const {
    return x((static_cast<double>(column) + 0.5) / static_cast<double>(t_.columns));
  }
  double y(std::int64_t value) const {
    const double most = axis_.top * axis_.unit;
    return chart_.y1 -
           (chart_.y1 - chart_.y0) * std::clamp(static_cast<double>(value) / (most > 0 ? most : 1), 0.0, 1.0);
  }

  void grid() {
    chart_.value_axis(canvas_, {axis_, 0, axis_.top, axis_.step}, true,
                      [this](double value) { return y(static_cast<std::int64_t>(std::min(value, 9e18))); });
    // Ticks of the axis below.
    const TimeScale scale = t_.by_time ? time_scale(t_.span_us) : TimeScale{static_cast<double>(t_.events), ""};
    const Axis axis = axis_for(std::max(scale.span, 1e-9), false);
    for (int i = 0; i <= 12; ++i) {
      const double value = i * axis.step;
      if (value > scale.span * (1 + 1e-9)) break;
      if (!t_.by_time && value != std::floor(value)) continue;
      const double at = x(scale.span > 0 ? value / scale.span : 0);
      canvas_.painter().stroke(Path().move({at, chart_.y1}).line({at, chart_.y1 + 2.5}), {kInk3, 0.5});
      std::string text = t_.by_time ? tick_text(value, axis).append(" ").append(scale.unit)
                                    : count_text(static_cast<std::int64_t>(std::llround(value)));
      if (!t_.by_time && i == 0) text.append(" events");
      canvas_.text(at, chart_.y1 + 11, text, {7}, kInk2, Align::centre);
    }
  }

  /// Values of one edge as a line; runs of equal values are two points.
  void trace(Path& path, const std::vector<std::int64_t>& values, bool forward, bool start) const {
    const std::size_t n = values.size();
    const auto point = [&](double at, std::int64_t value) {
      if (start) {
        path.move({at, y(value)});
        start = false;
      } else {
        path.line({at, y(value)});
      }
    };
    if (forward) point(chart_.x0, values.front());
    if (!forward) point(chart_.x1, values.back());
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = forward ? k : n - 1 - k;
      if (i > 0 && i + 1 < n && values[i - 1] == values[i] && values[i + 1] == values[i]) continue;
      point(column_x(i), values[i]);
    }
    if (forward) point(chart_.x1, values.back());
    if (!forward) point(chart_.x0, values.front());
  }

  void bands() {
    std::vector<std::int64_t> low(t_.columns, 0);
    for (std::size_t b = 0; b < t_.bands.size(); ++b) {
      std::vector<std::int64_t> high(t_.columns);
      for (std::size_t c = 0; c < t_.columns; ++c) high[c] = low[c] + t_.bands[b].bytes[c];
      Path area;
      trace(area, low, true, true);
      trace(area, high, false, false);
      area.close();
      canvas_.painter().begin_item(std::string(name_of(b).name).append(": ").append(bytes(t_.bands[b].at_peak)));
      canvas_.painter().fill(area, paints_[b].fill);
      if (paints_[b].hatched)
        canvas_.painter().hatch(area, {chart_.x0, chart_.y0, chart_.x1 - chart_.x0, chart_.y1 - chart_.y0},
                                paints_[b].hatch, 3.2, 0.5);
      canvas_.painter().end_item();
      Path edge;
      trace(edge, high, true, true);
      canvas_.painter().stroke(edge, {paints_[b].hatched ? kInk3 : kPaper, paints_[b].hatched ? 0.4 : 0.6});
      low = std::move(high);
    }
    tops_ = low;
  }

  void steps() {
    if (t_.steps.empty()) return;
    const bool lines = t_.steps.size() <= 24;
    for (const TimelineMark& step : t_.steps) {
      const double at = x(step.at);
      if (lines) chart_.upright(canvas_, at, {kInk3, 0.4, 1, 2.4});
      canvas_.painter().stroke(Path().move({at, chart_.y1}).line({at, chart_.y1 + 3.5}), {kInk, 0.7});
    }
    // The numbers that have room; above the name of the limit where that is at the top.
    const bool limit_on_top = limit_drawn() && y(room_) < chart_.y0 + 9;
    const double base = limit_on_top ? chart_.y0 - 11.5 : chart_.y0 - 2;
    double free_from = chart_.x0;
    for (const TimelineMark& step : t_.steps) {
      const std::string text = &step == &t_.steps.front() ? std::string("step ").append(step.text) : step.text;
      const double w = canvas_.width(text, {6.4});
      if (x(step.at) < free_from || x(step.at) + w + 2 > chart_.x1) continue;
      canvas_.text(x(step.at) + 1.5, base, text, {6.4}, kInk2);
      free_from = x(step.at) + w + 7;
    }
  }

  void reserved() {
    if (t_.reserved.empty()) return;
    Path path;
    std::int64_t last = t_.reserved.front();
    path.move({chart_.x0, y(last)});
    for (std::size_t c = 1; c < t_.columns; ++c) {
      if (t_.reserved[c] == last) continue;
      const double at = x(static_cast<double>(c) / static_cast<double>(t_.columns));
      path.line({at, y(last)}).line({at, y(t_.reserved[c])});
      last = t_.reserved[c];
    }
    path.line({chart_.x1, y(last)});
    canvas_.painter().stroke(path, {kInk, 1.3});
    name_reserved();
  }

  /// Where the line has most room below it over the length of its name, else above it.
  void name_reserved() {
    const TextStyle style{7, FontWeight::medium};
    const std::string text = "reserved by the allocator";
    const double w = canvas_.width(text, style);
    const auto span = static_cast<std::size_t>((w + 8) / (chart_.x1 - chart_.x0) * static_cast<double>(t_.columns)) + 1;
    double best = -1;
    std::size_t at = 0;
    double base = 0;
    for (std::size_t c = 1; c + span < t_.columns; ++c) {
      double lowest = 0;
      double highest = 1e9;
      double top = 1e9;
      for (std::size_t i = c; i < c + span; ++i) {
        lowest = std::max(lowest, y(t_.reserved[i]));
        highest = std::min(highest, y(t_.reserved[i]));
        top = std::min(top, y(tops_[i]));
      }
      const double below = top - lowest - 11;
      const double above = highest - chart_.y0 - 11 - (limit_drawn() && y(room_) < highest ? 12 : 0);
      if (below > best) {
        best = below;
        at = c;
        base = lowest + 8.5;
      }
      if (above > best + 6) {  // below it reads better
        best = above;
        at = c;
        base = highest - 3.5;
      }
    }
    if (best < 0) {  // no room anywhere: on a plate
      at = t_.columns / 3;
      base = y(t_.reserved[at]) + 10;
      canvas_.rect({column_x(at) - 2, base - 6.5, w + 4, 8.6}, kPaper);
    }
    canvas_.text(column_x(at), base, text, style, kInk);
  }

  bool limit_drawn() const { return room_ > 0 && static_cast<double>(room_) <= axis_.top * axis_.unit; }

  void limit() {
    if (!limit_drawn()) return;
    canvas_.painter().stroke(Path().move({chart_.x0, y(room_)}).line({chart_.x1, y(room_)}), {kInk, 0.8, 3, 2});
    const std::string text = std::string("reserved and free at the failure ").append(bytes(room_));
    const double w = canvas_.width(text, {7, FontWeight::medium});
    canvas_.rect({chart_.x0 + 3, y(room_) - 10, w + 4, 8.6}, kPaper);
    canvas_.text(chart_.x0 + 5, y(room_) - 3.4, text, {7, FontWeight::medium}, kInk);
  }

  void failures() {
    for (const TimelineMark& failure : t_.failures) {
      const double at = x(failure.at);
      canvas_.painter().stroke(Path().move({at, chart_.y1}).line({at, chart_.y0 - 4}), {kInk, 1});
      canvas_.cross({at, chart_.y0 - 8}, 3, {kInk, 1.5});
    }
    if (t_.failures.empty() || !t_.failure) return;
    const double at = x(t_.failures.back().at);
    std::string text = std::string("out of memory, asked ").append(bytes(t_.failure->asked));
    const double w = canvas_.width(text, {7.2, FontWeight::semibold});
    const bool right = at + 7 + w <= kRight;
    canvas_.text(right ? at + 7 : at - 7, chart_.y0 - 5.5, text, {7.2, FontWeight::semibold}, kInk,
                 right ? Align::left : Align::right);
  }

  /// Beside the right end of the bands, moved apart where they would touch.
  void names() {
    struct Name {
      std::size_t band;
      double at;
    };
    std::vector<Name> names;
    std::int64_t low = 0;
    for (std::size_t b = 0; b < t_.bands.size(); ++b) {
      const std::int64_t bytes_here = t_.bands[b].bytes.back();
      names.push_back({b, y(low + bytes_here / 2) + 2.4});
      low += bytes_here;
    }
    constexpr double kStep = 10.5;
    double floor = chart_.y1 + 2;
    for (Name& name : names) {
      name.at = std::min(name.at, floor);
      floor = name.at - kStep;
    }
    double ceiling = chart_.y0 + 4;
    for (std::size_t i = names.size(); i-- > 0;) {
      names[i].at = std::max(names[i].at, ceiling);
      ceiling = names[i].at + kStep;
    }
    for (const Name& name : names) {
      const TimelineBand& band = t_.bands[name.band];
      swatch({chart_.x1 + 7, name.at - 6, 7, 7}, name.band);
      canvas_.text_within(chart_.x1 + 18, name.at, name_of(name.band).name,
                          {7.2, band.grew ? FontWeight::semibold : FontWeight::medium},
                          band.grew                  ? kGrow.c900
                          : band.kind == Kind::stack ? kInk
                                                     : kInk2,
                          kRight - chart_.x1 - 18);
    }
  }

 public:
  void swatch(const Box& box, std::size_t band) {
    canvas_.rect(box, paints_[band].fill);
    if (paints_[band].hatched) canvas_.hatched(box, paints_[band].hatch, 2.2, 0.5);
    canvas_.frame(box, {Color::hex(0x9AA6B2), 0.4});
  }

  const StackLabel& name_of(std::size_t b) const { return labels_[b]; }

  /// The bands with their names in full; they add up.
  double table(double y, double bottom) {
    constexpr double kRowHeight = 15.5;
    const double peak_x = kRight - 78;
    canvas_.text(kLeft, y,
                 page_.by_role ? "role, from the top of the chart down" : "stack, from the top of the chart down", {7},
                 kInk2);
    canvas_.text(peak_x, y, "at the peak", {7}, kInk2, Align::right);
    canvas_.text(kRight, y, "at the end", {7}, kInk2, Align::right);
    y += 5;
    canvas_.rule(kLeft, kRight, y, kInk3, 0.7);
    std::int64_t peak = 0;
    std::int64_t end = 0;
    for (std::size_t b = t_.bands.size(); b-- > 0;) {
      const TimelineBand& band = t_.bands[b];
      peak += band.at_peak;
      end += band.at_end;
      if (y + 2 * kRowHeight > bottom) continue;
      const StackLabel& label = name_of(b);
      swatch({kLeft, y + 4.4, 7, 7}, b);
      const double room = peak_x - 52 - kLeft - 12;
      const double w =
          canvas_.text_within(kLeft + 12, y + 11, label.name,
                              {7.8, band.grew ? FontWeight::semibold : FontWeight::medium}, kInk, room * 0.6);
      draw_origin(canvas_, kLeft + 18 + w, y + 11, label, {6.8}, room - w - 6);
      canvas_.number(peak_x, y + 11, bytes(band.at_peak), {7.6}, kInk, 20);
      canvas_.number(kRight, y + 11, bytes(band.at_end), {7.6}, kInk, 20);
      y += kRowHeight;
      canvas_.rule(kLeft, kRight, y, kLine, 0.4);
    }
    canvas_.text(kLeft, y + 11, "TOTAL", {7.8, FontWeight::semibold}, kInk);
    canvas_.number(peak_x, y + 11, bytes(peak), {7.6, FontWeight::semibold}, kInk, 20);
    canvas_.number(kRight, y + 11, bytes(end), {7.6, FontWeight::semibold}, kInk, 20);
    return y + 14;
  }

 private:
  void name_bands() {
    std::vector<StackRef> stacks;
    for (const TimelineBand& band : t_.bands) {
      if (band.kind == Kind::stack && !page_.by_role) stacks.push_back(page_.stacks[band.group]);
    }
    const std::vector<StackLabel> of_stacks =
        stacks.empty() ? std::vector<StackLabel>() : labels_of(*page_.view, stacks);
    auto next = of_stacks.begin();
    for (const TimelineBand& band : t_.bands) {
      switch (band.kind) {
        case Kind::before_trace: labels_.push_back({"[before trace]", "", {}}); break;
        case Kind::pending: labels_.push_back({"pending free", "", {}}); break;
        case Kind::others: labels_.push_back({others_text(band.groups), "", {}}); break;
        case Kind::stack:
          labels_.push_back(page_.by_role ? StackLabel{std::string(kRoleNames.at(band.group)), "", {}} : *next++);
          break;
      }
    }
  }

  const MemoryTimeline& t_;
  const TimelinePage& page_;
  Canvas& canvas_;
  Chart chart_;
  std::int64_t room_ = 0;
  std::vector<StackLabel> labels_;  // by band
  Axis axis_;
  std::vector<StackPaint> paints_;
  std::vector<std::int64_t> tops_;
};

std::string number(const char* format, double value) {
  char text[48] = {};
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string place_text(const MemoryTimeline& t, double at, std::uint64_t event) {
  if (event == 0) return "the start";
  if (!t.by_time) return "event " + count_text(event);
  const TimeScale scale = time_scale(t.span_us);
  return number("%.3g ", at * scale.span).append(scale.unit);
}

}  // namespace

double draw_page(const TimelinePage& page, Canvas& canvas, double top, double bottom) {
  const MemoryTimeline& t = page.timeline;
  double y = canvas.paragraph(top, timeline_sentence(t), {9.2}, kInk, 5) + 26;
  canvas.text(kLeft, y, page.by_role ? "Memory in use by role" : "Memory in use by allocating stack",
              {8.5, FontWeight::semibold}, kInk);
  canvas.text(kRight, y, moments_text(t), {7}, kInk3, Align::right);
  Plot plot(page, canvas, y + 10);
  y = plot.draw();
  return plot.table(y + 18, bottom);
}

TimeScale time_scale(std::int64_t span_us) {
  const auto us = static_cast<double>(span_us);
  if (us >= 1e6) return {us * 1e-6, "s"};
  if (us >= 1e3) return {us * 1e-3, "ms"};
  return {us, "us"};
}

std::string timeline_sentence(const MemoryTimeline& t) {
  std::string text;
  if (t.failure) text = concat("Asked for ", size_text(t.failure->asked), "; ", t.failure->sentence, ". ");
  text += concat("Memory in use went from ", size_text(t.held_at_start), " to ", size_text(t.held_at_end));
  text += concat(", with a peak of ", size_text(t.peak), " at ", place_text(t, t.peak_at, t.peak_event));
  if (!t.reserved.empty()) {
    const std::int64_t most = *std::ranges::max_element(t.reserved);
    text.append("; the allocator had reserved ").append(size_text(most)).append(" at most");
  }
  text.append(".");
  const auto is_orange = [](const TimelineBand& band) { return band.kind == TimelineBand::Kind::stack && band.grew; };
  if (std::ranges::any_of(t.bands, is_orange)) text += " Orange: grew over the run.";
  return text;
}

std::string moments_text(const MemoryTimeline& t) {
  std::string note = counted(t.events, "event") + "; the fullest moment of each ";
  if (t.by_time) {
    const TimeScale step = time_scale(std::max<std::int64_t>(t.span_us / static_cast<std::int64_t>(t.columns), 1));
    note.append(number("%.3g ", step.span)).append(step.unit);
  } else {
    note.append(count_text(std::max<std::uint64_t>(t.events / t.columns, 1))).append(" events");
  }
  return note.append(" shown");
}

PageText text_of(const TimelinePage& page) {
  const MemoryTimeline& t = page.timeline;
  PageText text;
  text.question = "What filled the device?";
  text.title = t.failure && !t.failures.empty()
                   ? "Out of memory at " + place_text(t, t.failures.back().at, t.failure->event + 1)
                   : concat("Peak of ", size_text(t.peak), " at ", place_text(t, t.peak_at, t.peak_event));
  text.title += concat(", device ", t.device);
  return text;
}

}  // namespace snapdiff::render
