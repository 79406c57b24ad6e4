#include <catch2/catch.hpp>

#include <algorithm>

#include "analyzer/render/render.hpp"
#include "unit/analyzer/render/stories.hpp"
#include "unit/analyzer/render/tools.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

render::TimelinePage timeline_page(std::size_t bands, std::size_t columns) {
  FakeReport names;
  render::TimelinePage page;
  MemoryTimeline& t = page.timeline;
  t.events = 1000;
  t.by_time = true;
  t.span_us = 2'250'000;
  t.columns = columns;
  t.held.assign(columns, 0);
  for (std::size_t b = 0; b < bands; ++b) {
    names.row(std::string("main@train.py:1;a_function_with_quite_a_long_name_")
                  .append(std::to_string(b))
                  .append("@train.py:7"),
              0, 1);
    TimelineBand band;
    band.group = static_cast<std::uint32_t>(b);
    band.grew = b + 1 == bands;
    for (std::size_t c = 0; c < columns; ++c) {
      band.bytes.push_back(band.grew ? static_cast<std::int64_t>(c) * kMiB : 40 * kMiB);
      t.held[c] += band.bytes.back();
    }
    band.at_end = band.at_peak = band.bytes.back();
    t.bands.push_back(std::move(band));
  }
  for (std::size_t c = 0; c < columns; ++c) t.reserved.push_back(t.held[c] + 20 * kMiB);
  t.held_at_start = t.held.front();
  t.held_at_end = t.peak = t.held.back();
  t.peak_at = 1;
  t.peak_event = 1000;
  t.steps = {{0.25, "1"}, {0.5, "2"}};
  t.failures = {{1.0, ""}};
  OutOfMemory failure;
  failure.asked = 3 * kMiB;
  failure.reserved = t.reserved.back();
  failure.device_free = 10 * kMiB;
  failure.sentence = "fragmentation: 20.0 MiB are free in 9 blocks, the largest 2.00 MiB, none of 3.00 MiB";
  t.failure = failure;
  page.stacks = names.get().stacks;
  page.view = names.get().view;
  return page;
}

/// Segments with one live block each, of `sizes`, half of it free; each second block of another stack.
PinReport pins_of(const std::vector<std::int64_t>& sizes, bool baseline) {
  FakeReport names;
  names.row("main@train.py:1;keep@train.py:9", 0, 1);
  names.row("main@train.py:1;<b>&amp;\x1b[31m@train.py:12", 0, 1);
  PinReport pins;
  auto state = std::make_shared<AllocatorState>();
  state->streams = {0, 0x55};
  state->pools = {{0, 0}, {0, 1}};
  pins.rows.resize(2);
  pins.stacks = names.get().stacks;
  pins.view = names.get().view;
  pins.rows[1].key = 1;
  std::uint64_t address = 0x7f0000000000;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t half = sizes[i] / 2;
    SegmentTable& s = state->segments;
    s.device.push_back(0);
    s.address.push_back(address);
    s.size.push_back(sizes[i]);
    s.stated_allocated.push_back(-1);
    s.stated_active.push_back(-1);
    s.stated_requested.push_back(-1);
    s.stream.push_back(i % 7 == 6 ? 1 : 0);
    s.pool.push_back(i % 5 == 4 ? 1 : 0);
    s.flags.push_back(0);
    s.stack.push_back(StackId{});
    BlockTable& b = state->blocks;
    for (const bool live : {true, false}) {
      b.segment.push_back(static_cast<std::uint32_t>(i));
      b.address.push_back(address + (live ? 0 : static_cast<std::uint64_t>(half)));
      b.size.push_back(live ? half : sizes[i] - half);
      b.requested.push_back(live ? half * 3 / 4 : 0);
      b.state.push_back(!live ? BlockState::inactive : i % 11 == 10 ? BlockState::pending : BlockState::allocated);
      b.stack.push_back(StackId{});
    }
    s.block_begin.push_back(b.size_rows());
    address += static_cast<std::uint64_t>(sizes[i]);
    SegmentFacts facts;
    facts.address = s.address.back();
    facts.size = sizes[i];
    facts.live = half;
    facts.free = facts.pinned = sizes[i] - half;
    facts.holders = 1;
    pins.segments.push_back(facts);
    PinEdge edge;
    edge.row = static_cast<std::uint32_t>(i % 2);
    edge.segment = static_cast<std::uint32_t>(i);
    edge.blocks = 1;
    edge.live = half;
    edge.pinned = facts.pinned;
    pins.edges.push_back(edge);
    PinnedRow& row = pins.rows[edge.row];
    row.live.current += half;
    row.pinned.current += facts.pinned;
    row.sole.current += sizes[i];
    ++row.segments;
    ++row.sole_segments;
    pins.reserved += sizes[i];
    pins.live.current += half;
    pins.pinned.current += facts.pinned;
  }
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->allocator = state;
  pins.current = {snapshot, "run.pickle@end", ""};
  if (baseline) pins.baseline = {snapshot, "run.pickle@100", ""};
  return pins;
}

render::MemoryStory story_of_pages(std::vector<render::MemoryPage> pages) {
  render::MemoryStory story;
  story.pages = std::move(pages);
  story.title = "run";
  story.source = "run.pickle 24732c64";
  story.version = "snapdiff test";
  return story;
}

std::string drawn(const render::MemoryStory& story, render::PictureForm form, render::Paper paper = render::Paper::a4) {
  auto bytes = render::draw_memory(story, form, paper);
  if (!bytes) FAIL(bytes.error().text());
  // The same each time.
  CHECK(*bytes == *render::draw_memory(story, form, paper));
  return *bytes;
}

/// Texts of an SVG that lie over one another or outside the page; python's own parser reads it.
std::string text_faults(const std::string& svg) {
  if (!installed("python3")) {
    WARN("skipped: python3 is not installed");
    return "";
  }
  const std::string script =
      "import sys,re,xml.etree.ElementTree as E\n"
      "r=E.parse(sys.argv[1]).getroot();n='{http://www.w3.org/2000/svg}'\n"
      "w,h=[float(v) for v in r.get('viewBox').split()[2:]]\n"
      "boxes=[]\n"
      "def walk(e,dx,dy):\n"
      "  m=re.search(r'translate\\(([-0-9.]+)[ ,]+([-0-9.]+)',e.get('transform') or '')\n"
      "  if m: dx,dy=dx+float(m.group(1)),dy+float(m.group(2))\n"
      "  if e.tag==n+'text':\n"
      "    s=float(e.get('font-size'));x=dx+float(e.get('x'));y=dy+float(e.get('y'))\n"
      "    boxes.append((x,y-s*.70,x+float(e.get('textLength') or 0),y+s*.12,e.text))\n"
      "  for c in e: walk(c,dx,dy)\n"
      "walk(r,0,0)\n"
      "for i,a in enumerate(boxes):\n"
      "  if a[0]<20 or a[2]>w-20 or a[1]<0 or a[3]>h: print('outside',a)\n"
      "  for b in boxes[:i]:\n"
      "    if min(a[2],b[2])-max(a[0],b[0])>0.5 and min(a[3],b[3])-max(a[1],b[1])>0.5: print('over',a,b)\n"
      "print(len(boxes),'texts')\n";
  int status = 0;
  const std::string told = output_of(std::string("PYTHONIOENCODING=utf-8 python3 '")
                                         .append(temporary_file("faults.py", script))
                                         .append("' '")
                                         .append(temporary_file("page.svg", svg))
                                         .append("' 2>&1"),
                                     status);
  INFO(told);
  CHECK(status == 0);
  CHECK(told.find("over") == std::string::npos);
  CHECK(told.find("outside") == std::string::npos);
  return told;
}

}  // namespace

TEST_CASE("memory: one page each in a PDF, on both papers") {
  const std::vector<std::int64_t> sizes(40, 20 * kMiB);
  const render::MemoryStory story = story_of_pages(
      {timeline_page(5, 90), render::SegmentsPage{pins_of(sizes, false)}, render::PinsPage{pins_of(sizes, true)}});
  for (const render::Paper paper : {render::Paper::a4, render::Paper::letter}) {
    const std::string pdf = drawn(story, render::PictureForm::pdf, paper);
    CHECK(pdf.substr(0, 5) == "%PDF-");
    if (!installed("pdftotext")) {
      WARN("skipped: pdftotext is not installed");
      continue;
    }
    int status = 0;
    const std::string text =
        output_of(std::string("pdftotext -layout ").append(temporary_file("m.pdf", pdf)).append(" -"), status);
    CHECK(std::count(text.begin(), text.end(), '\f') == 3);
    CHECK(text.find("Out of memory at 2.25 s, device 0") != std::string::npos);
    CHECK(text.find("fragmentation: 20.0 MiB are free in 9 blocks") != std::string::npos);
    CHECK(text.find("40 segments, 800 MiB reserved") != std::string::npos);
    CHECK(text.find("400 MiB free but pinned") != std::string::npos);
    CHECK(text.find("reserved by the allocator") != std::string::npos);
    CHECK(text.find("reserved and free at the failure") != std::string::npos);
    CHECK(text.find("out of memory, asked 3.00 MiB") != std::string::npos);
  }
}

TEST_CASE("memory: segments have the colour of the stack that pins them, which the table has too") {
  FakeReport names;
  // Stack 0 is the root, which allocates nothing.
  for (const char* stack : {"main@a.py:1", "main@a.py:1;big@a.py:2", "main@a.py:1;small@a.py:3"})
    names.row(stack, 0, 1);
  PinReport pins = pins_of({64 * kMiB, 2 * kMiB}, false);
  pins.stacks = names.get().stacks;
  pins.view = names.get().view;
  auto snapshot = std::make_shared<Snapshot>(*pins.current.snapshot);
  auto state = std::make_shared<AllocatorState>(*snapshot->allocator);
  // A live block, then a free one, in each segment.
  for (std::size_t block = 0; block < 4; block += 2)
    state->blocks.stack[block] = names.get().stacks[block / 2 + 1].stack;
  snapshot->allocator = state;
  pins.current.snapshot = snapshot;
  for (PinnedRow& row : pins.rows) row.key = static_cast<std::uint32_t>(&row - pins.rows.data()) + 1;
  const std::string svg = drawn(story_of_pages({render::SegmentsPage{pins}}), render::PictureForm::svg);
  const auto fills = [&](const std::string& color) {
    std::size_t count = 0;
    for (std::size_t at = svg.find(color); at != std::string::npos; at = svg.find(color, at + 1)) ++count;
    return count;
  };
  // In the key, in the table and on the map; the third colour is in the key alone.
  CHECK(fills("fill=\"#4477aa\"") == 3);
  CHECK(fills("fill=\"#ee6677\"") == 3);
  CHECK(fills("fill=\"#228833\"") == 1);
}

TEST_CASE("memory: no text lies over another or outside the page") {
  text_faults(drawn(story_of_pages({timeline_page(1, 1)}), render::PictureForm::svg));
  text_faults(drawn(story_of_pages({timeline_page(8, 360)}), render::PictureForm::svg));
  for (const bool baseline : {false, true}) {
    for (const std::size_t segments : {1U, 3U, 12U, 60U, 900U}) {
      INFO(segments << " segments");
      std::vector<std::int64_t> sizes;
      for (std::size_t i = 0; i < segments; ++i)
        sizes.push_back((i % 13 == 0 ? 900 : 2 + static_cast<int>(i % 20)) * kMiB);
      const PinReport pins = pins_of(sizes, baseline);
      text_faults(
          drawn(story_of_pages({render::SegmentsPage{pins}, render::PinsPage{pins}}), render::PictureForm::svg));
    }
  }
}

TEST_CASE("memory: one segment of 80 GiB, or a hundred thousand small ones") {
  const std::string large =
      drawn(story_of_pages({render::SegmentsPage{pins_of({80 * 1024 * kMiB}, false)}}), render::PictureForm::svg);
  CHECK(large.find("1 segment, 80.0 GiB reserved") != std::string::npos);
  const std::string many =
      drawn(story_of_pages({render::SegmentsPage{pins_of(std::vector<std::int64_t>(100000, 2 * kMiB), false)}}),
            render::PictureForm::svg);
  CHECK(many.find("more segments are too small or too many to draw") != std::string::npos);
  CHECK(many.size() < 32 * 1024 * 1024);
}

TEST_CASE("memory: nothing at all is no failure, no page is one") {
  CHECK(render::draw_memory({}, render::PictureForm::pdf).error().code == ErrorCode::usage);
  drawn(story_of_pages({render::SegmentsPage{pins_of({}, false)}, render::PinsPage{pins_of({}, false)}}),
        render::PictureForm::svg);
}

namespace {

/// `panels` series from 10:00 to 11:00 on 12 July 2026.
render::AxisPage axis_page(std::size_t panels, std::size_t points) {
  constexpr std::int64_t kTen = std::int64_t{1783850400} * 1'000'000'000, kHour = std::int64_t{3600} * 1'000'000'000;
  render::AxisPage page;
  page.first_ns = kTen;
  page.last_ns = kTen + kHour;
  page.all_series = panels;
  for (std::size_t s = 0; s < panels; ++s) {
    render::AxisPage::Series series{"svc" + std::to_string(s), "inuse_space", s == 2 ? "count" : "bytes", "", {}};
    for (std::size_t i = 0; i < points; ++i) {
      const auto at =
          static_cast<std::int64_t>(i) * kHour / static_cast<std::int64_t>(std::max<std::size_t>(points - 1, 1));
      series.points.push_back({kTen + at, static_cast<std::int64_t>((i + 1) * (s + 1)) * kMiB});
    }
    page.series.push_back(std::move(series));
  }
  return page;
}

}  // namespace

TEST_CASE("axis: panels of one scale") {
  const std::string svg = drawn(story_of_pages({axis_page(2, 4)}), render::PictureForm::svg);
  text_faults(svg);
  for (const char* part :
       {"2 series on one time axis", ">10:00<", ">10:30<", ">11:00<", "2026-07-12 10:00:00Z to 2026-07-12 11:00:00Z"}) {
    INFO(part);
    CHECK(svg.find(part) != std::string::npos);
  }
}

TEST_CASE("axis: from one point to many thousands, from one series to a full page with notes") {
  render::AxisPage full = axis_page(render::kMostAxisPanels, 30000);
  for (int i = 0; i < 40; ++i)
    full.notes.push_back("lone" + std::to_string(i) + ": 1 of 1 snapshots have no place here");
  const std::string svg = drawn(story_of_pages({full}), render::PictureForm::svg);
  text_faults(svg);
  CHECK(svg.size() < 1'000'000);
  CHECK(svg.find("33 more") != std::string::npos);
  render::AxisPage one = axis_page(1, 1);
  one.last_ns = one.first_ns;
  text_faults(drawn(story_of_pages({one}), render::PictureForm::svg));
  // Extremes of time and value.
  render::AxisPage wild = axis_page(1, 2);
  wild.series[0].points = {{INT64_MIN, INT64_MIN}, {INT64_MAX, INT64_MAX}};
  wild.first_ns = INT64_MIN;
  wild.last_ns = INT64_MAX;
  drawn(story_of_pages({wild}), render::PictureForm::pdf);
  drawn(story_of_pages({axis_page(3, 12)}), render::PictureForm::png);
}

TEST_CASE("memory: as pixels") {
  const std::string png = drawn(story_of_pages({timeline_page(3, 20)}), render::PictureForm::png);
  CHECK(png.substr(1, 3) == "PNG");
}
