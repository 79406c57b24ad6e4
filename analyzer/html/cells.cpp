#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/frame_text.hpp"
#include "snapdiff/function_name.hpp"

namespace snapdiff::html {
namespace {

constexpr std::size_t kMostFrames = 13;
constexpr std::size_t kLeafWidth = 44;
constexpr std::size_t kCallerWidth = 30;
constexpr std::size_t kLongestCall = 300;

std::string shown_name(const FrameView& frame) {
  if (frame.function.empty()) return bounded(address_text(frame), kLongestCall);
  if (frame.pseudo) return bounded(frame.function, kLongestCall);
  return bounded(without_std(short_function_name(frame.function)), kLongestCall);
}

bool same(const FrameView& a, const FrameView& b) {
  return a.function == b.function && (!a.function.empty() || (a.module == b.module && a.offset == b.offset));
}

}  // namespace

std::string stack_cell(const std::vector<FrameView>& frames) {
  if (frames.empty()) return "<b>[filtered out]</b>";
  std::size_t end = frames.size();
  while (end > 1 && is_entry_point(frames[end - 1].function)) --end;
  struct Folded {
    const FrameView* frame;
    bool again;
  };
  std::vector<Folded> folded;
  const bool has_own = std::any_of(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(end),
                                   [](const FrameView& frame) { return !frame.library; });
  std::string_view called;
  for (std::size_t i = 0; i < end && folded.size() < kMostFrames; ++i) {
    if (has_own && frames[i].library) {
      if (folded.empty()) called = frames[i].function;
      continue;
    }
    if (!folded.empty() && same(*folded.back().frame, frames[i])) {
      folded.back().again = true;
      continue;
    }
    folded.push_back({&frames[i], false});
  }
  const auto name = [](const Folded& f, std::size_t width) {
    return entities(report::cut_name(shown_name(*f.frame), width, "\u2026")) + (f.again ? " \u21bb" : "");
  };
  std::string out = "<span class=\"leaf\"><b>" + name(folded[0], kLeafWidth) + "</b>";
  const FrameView& leaf = *folded[0].frame;
  if (!called.empty())
    out += " <span class=\"called\">(" + entities(bounded(via_name(called), kLongestCall)) + ")</span>";
  if (!leaf.file.empty()) {
    out += "<span class=\"site\">" + entities(bounded(base_name(leaf.file), kLongestCall));
    if (leaf.line > 0) out += ":" + std::to_string(leaf.line);
    out += "</span>";
  }
  out += "</span><span class=\"via\">";
  // Each name by itself: two in Arabic or Hebrew, side by side, would change places.
  for (std::size_t i = 1; i < folded.size(); ++i)
    out += (i == 1 ? "\u2039 <bdi>" : " \u2039 <bdi>") + name(folded[i], kCallerWidth) + "</bdi>";
  if (folded.size() == kMostFrames) out += " \u2039 \u2026";
  return out += "</span>";
}

std::string badge(std::string_view word, bool big) {
  if (word.empty()) return {};
  const std::string text = safe(word);
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return "<span class=\"badge" + std::string(big ? " big" : "") + (plain ? " " + text : "") + "\">" + text + "</span>";
}

std::string cell(std::int64_t v, std::string_view unit, bool is_growth) {
  const std::string text = is_growth ? growth(v, unit) : value(v, unit);
  const std::string_view gap = kGlyphs.before_unit;
  const std::size_t at = text.rfind(gap);
  if (at == std::string::npos) return entities(text);
  return entities(text.substr(0, at)) + "<span class=\"u\">" + entities(text.substr(at + gap.size())) + "</span>";
}

std::string sparkline(const std::vector<double>& values) {
  double least = 0;
  double most = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    least = std::min(least, v);
    most = std::max(most, v);
  }
  const double range = most > least ? most - least : 1;
  const std::size_t n = values.size();
  std::string points;
  double first = std::nan("");
  double last = 0;
  char text[48] = {};
  const std::size_t every = std::max<std::size_t>(1, n / 160);
  for (std::size_t i = 0; i < n; i += i + every >= n && i + 1 < n ? n - 1 - i : every) {
    if (!std::isfinite(values[i])) continue;
    if (std::isnan(first)) first = values[i];
    last = values[i];
    std::snprintf(text, sizeof text, "%s%.1f,%.1f", points.empty() ? "" : " ",
                  2 + 72 * static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(1, n - 1)),
                  21 - 18 * (values[i] - least) / range);
    points += text;
  }
  if (points.empty()) return {};
  const std::string_view kind = last > first ? "up" : most > last || last < first ? "down" : "";
  return "<svg class=\"spark " + std::string(kind) +
         "\" viewBox=\"0 0 76 24\" aria-hidden=\"true\"><path d=\"M2 21.5H74\"/><polyline points=\"" + points +
         "\"/></svg>";
}

}  // namespace snapdiff::html
