#include "analyzer/render/memory/memory_pages.hpp"

#include <algorithm>
#include <cstdio>

#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

std::string number(const char* format, double value) {
  char text[48] = {};
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string place_text(const MemoryTimeline& t, double at, std::uint64_t event) {
  if (event == 0) return "the start";
  if (!t.by_time) return std::string("event ").append(count_text(static_cast<std::int64_t>(event)));
  const TimeScale scale = time_scale(t.span_us);
  return number("%.3g ", at * scale.span).append(scale.unit);
}

}  // namespace

TimeScale time_scale(std::int64_t span_us) {
  const auto us = static_cast<double>(span_us);
  if (us >= 1e6) return {us * 1e-6, "s"};
  if (us >= 1e3) return {us * 1e-3, "ms"};
  return {us, "us"};
}

std::string timeline_sentence(const MemoryTimeline& t) {
  std::string text;
  if (t.failure) {
    text.append("Asked for ").append(size_text(t.failure->asked)).append("; ").append(t.failure->sentence).append(". ");
  }
  text.append("Memory in use went from ")
      .append(size_text(t.held_at_start))
      .append(" to ")
      .append(size_text(t.held_at_end));
  text.append(", with a peak of ")
      .append(size_text(t.peak))
      .append(" at ")
      .append(place_text(t, t.peak_at, t.peak_event));
  if (!t.reserved.empty()) {
    const std::int64_t most = *std::ranges::max_element(t.reserved);
    text.append("; the allocator had reserved ").append(size_text(most)).append(" at most");
  }
  text.append(".");
  for (const TimelineBand& band : t.bands) {
    if (band.kind == TimelineBand::Kind::stack && band.grew) {
      text.append(" Orange bands were higher in all of the last quarter than ever in the first.");
      break;
    }
  }
  return text;
}

std::string moments_text(const MemoryTimeline& t) {
  std::string note = count_text(static_cast<std::int64_t>(t.events)).append(t.events == 1 ? " event" : " events");
  note.append("; the fullest moment of each ");
  if (t.by_time) {
    const TimeScale step = time_scale(std::max<std::int64_t>(t.span_us / static_cast<std::int64_t>(t.columns), 1));
    note.append(number("%.3g ", step.span)).append(step.unit);
  } else {
    note.append(count_text(std::max<std::int64_t>(static_cast<std::int64_t>(t.events / t.columns), 1)))
        .append(" events");
  }
  return note.append(" shown");
}

PageText text_of(const TimelinePage& page) {
  const MemoryTimeline& t = page.timeline;
  PageText text;
  text.question = "What filled the device?";
  if (t.failure && !t.failures.empty())
    text.title = std::string("Out of memory at ").append(place_text(t, t.failures.back().at, t.failure->event + 1));
  else
    text.title =
        std::string("Peak of ").append(size_text(t.peak)).append(" at ").append(place_text(t, t.peak_at, t.peak_event));
  text.title.append(", device ").append(std::to_string(t.device));
  return text;
}

}  // namespace snapdiff::render
