#include <algorithm>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/canvas.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kMostCounterPages = 2;
constexpr std::size_t kCountersPerPage = 7;
constexpr double kDevicePagesContent = kTop + 57;

struct Figure {
  std::string name, value, meaning;
};

std::vector<Figure> figures_of(const OutOfMemory& failure) {
  const auto free_text = [](const FreeBytes& free) {
    return size_text(free.bytes).append(", the largest ").append(size_text(free.largest));
  };
  std::vector<Figure> out;
  out.push_back({"asked for", size_text(failure.asked), "as the allocator looked for it, rounded up"});
  out.push_back({"a new segment for it", size_text(failure.segment), "what the device would have had to give"});
  out.push_back({"free on the device", size_text(failure.device_free), "outside of what the allocator has reserved"});
  if (failure.reserved) out.push_back({"reserved", size_text(*failure.reserved), "by this process's allocator"});
  out.push_back({"in use", size_text(failure.allocated),
                 concat(counted(static_cast<std::uint64_t>(std::max<std::int64_t>(failure.blocks, 0)), "block"),
                        ", of that lost by rounding sizes up: ", size_text(failure.rounding()))});
  out.push_back({"pending", size_text(failure.pending), "freed, waiting for another stream"});
  if (!failure.reserved) return out;
  out.push_back({"free where it could go", free_text(failure.usable), "same pool, stream and size class"});
  out.push_back({"free, other size class", free_text(failure.other_size), "same pool and stream"});
  out.push_back({"free, other streams", free_text(failure.other_streams), "same pool"});
  out.push_back({"free, other pools", free_text(failure.other_pools), "private pools cannot serve it"});
  return out;
}

void draw_failure(const PostmortemPages& pages, Canvas& canvas) {
  const OutOfMemory& failure = *pages.report.failure;
  double y = kTop + 58;
  std::string sentence = concat("An allocation of ", size_text(failure.asked), " failed: ");
  sentence.append(failure.sentence.empty() ? std::string(to_text(failure.reason)) : failure.sentence).append(".");
  constexpr TextStyle kSentence{10.5};
  y = draw_prose(wrap_prose({{std::move(sentence)}}, canvas.type(), kSentence, kWidth, 5), canvas, kLeft, y, kSentence,
                 kInk);
  std::string when = concat("Device ", failure.device, ", after ");
  when.append(counted(failure.event, "event")).append(" of ").append(std::to_string(failure.events));
  if (failure.failures > 1)
    when.append("; the last of ").append(std::to_string(failure.failures)).append(" failures in the trace");
  when.append(failure.exact ? ". Sizes are the allocator\u2019s own." : ". Sizes are worked out from later events.");
  canvas.text_cut(kLeft, y + 16, when, {8}, kInk2, kWidth);
  y += 38;
  draw_section(canvas, y, "Memory just before", std::string("reason: ").append(to_text(failure.reason)));
  y += 18;
  for (const Figure& figure : figures_of(failure)) {
    canvas.text(kLeft, y, figure.name, {8.2}, kInk);
    canvas.text(kLeft + 270, y, figure.value, {8.2, FontWeight::semibold}, kInk, Align::right);
    canvas.text_cut(kLeft + 286, y, figure.meaning, {7.4}, kInk2, kWidth - 286);
    canvas.rule(kLeft, kRight, y + 4.6, kLine, 0.3);
    y += 14.2;
  }
  if (pages.report.pins) draw_pins_table(*pages.report.pins, canvas, y + 18, kBottom - 6);
}

}  // namespace

void plan_failure(PostmortemPages& pages) {
  pages.plan.add({"failure", "Why the allocation failed", "What was full, and what held it?", "",
                  [&pages](PdfDocument& document) { draw_failure(pages, document.canvas()); }});
}

void plan_counters(PostmortemPages& pages) {
  if (!pages.report.counters || pages.report.counters->rows.empty()) return;
  const CounterReport& counters = *pages.report.counters;
  const std::size_t rows = counters.rows.size();
  const std::size_t needed = (rows + kCountersPerPage - 1) / kCountersPerPage;
  const std::size_t count = std::min(needed, kMostCounterPages);
  pages.plan.add_each(
      count, "counters", "Numbers of the whole process", "Numbers of the process, continued", "Which counters grow?",
      "Counters", [&counters, count, rows](PdfDocument& document, std::size_t part) {
        const std::size_t first = part * kCountersPerPage;
        const std::size_t end_row = std::min(first + kCountersPerPage, rows);
        CountersPage page;
        page.counters.snapshots = counters.snapshots;
        page.counters.axis = counters.axis;
        page.counters.rows.assign(counters.rows.begin() + static_cast<std::ptrdiff_t>(first),
                                  counters.rows.begin() + static_cast<std::ptrdiff_t>(end_row));
        const double end = draw_page(page, document.canvas(), kDevicePagesContent, kBottom - 16);
        if (part + 1 == count && rows > end_row)
          document.canvas().text(kLeft, std::min(end + 10, kBottom - 4),
                                 counted(rows - end_row, "more counter").append(" in the JSON report"), {7}, kInk2);
      });
}

}  // namespace snapdiff::render
