#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/base/retention.hpp"
#include "analyzer/graph/growth_graph.hpp"
#include "snapdiff/counters.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/flame.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/postmortem.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/trend.hpp"

/// The public header of the render module: documents and pictures of diffs. Graphviz gives positions, cairo
/// and pango paint; both stay inside. Same input, same fonts: same bytes.
namespace snapdiff::render {

/// Everything one document shows.
struct Story {
  GrowthReport overall;               ///< first -> last, by stack
  std::vector<SeriesStep> steps;      ///< one per snapshot; two or more
  std::vector<SeriesStep> before;     ///< of snapshots before a restart: in the plot of totals, in nothing else
  std::vector<MissingInput> missing;  ///< gaps between `before` and `steps`, counted through both
  std::vector<Verdict> verdicts;      ///< parallel to overall.rows; empty below 8 snapshots
  std::string title;                  ///< series or program name for the page head
  std::string version;                ///< "snapdiff 0.1"
  std::string order_note;             ///< "12 snapshots, ordered by the number in the file name; ..."
  std::int64_t created_at_ns = 0;     ///< document date: SOURCE_DATE_EPOCH or the newest input
};

enum class Paper { a4, letter };

/// One PDF: the answer, the graph first -> last, the table by stack.
/// Errors: io (no fonts installed: names the package), internal. Returns the file's bytes.
Result<std::string> to_pdf(const Story& story, const graph::GraphOptions& options, Paper paper = Paper::a4);

/// The first -> last graph alone. PNG at 2 pixels a point.
Result<std::string> to_svg(const Story& story, const graph::GraphOptions& options);
Result<std::string> to_png(const Story& story, const graph::GraphOptions& options);
Result<std::string> to_dot(const Story& story, const graph::GraphOptions& options);

/// Memory of one device over its trace.
struct TimelinePage {
  MemoryTimeline timeline;
  std::vector<StackRef> stacks;  ///< by TimelineBand::group
  std::shared_ptr<const StackView> view;
  bool by_role = false;  ///< groups are numbers of roles instead (role_names.hpp)
};
/// Where segments and blocks lie, and who pins them; the blocks are those of pins.current's allocator.
struct SegmentsPage {
  PinReport pins;
  bool by_role = false;  ///< blocks are coloured by their role, where they have one
};
/// The retention graph segment -> blocks -> stack.
struct PinsPage {
  PinReport pins;
};
/// Counters over time, one panel each, in the report's order.
struct CountersPage {
  CounterReport counters;
};
/// Series of any kinds on one axis of time, one panel each, first the one given first.
///   points   in the order of the series
///   metric   what the values are: "inuse_space"; unit "bytes" or another
///   remark   what else the head of the panel says, "" for nothing
/// All pages of one document have the same first_ns and last_ns, so that panels can be laid beside each other.
struct AxisPage {
  struct Point {
    std::int64_t time_ns = 0;
    std::int64_t value = 0;
  };
  struct Series {
    std::string name;
    std::string metric;
    std::string unit;
    std::string remark;
    std::vector<Point> points;
  };
  std::int64_t first_ns = 0, last_ns = 0;
  std::vector<Series> series;      ///< at most kMostAxisPanels, each with one point at least
  std::size_t all_series = 0;      ///< of the whole document
  std::vector<std::string> notes;  ///< below the panels, one line each: what is not drawn, and why
};

inline constexpr std::size_t kMostAxisPanels = 6;

using MemoryPage = std::variant<TimelinePage, SegmentsPage, PinsPage, CountersPage, AxisPage>;

/// Pages about the memory of devices, and about numbers of whole processes.
struct MemoryStory {
  std::vector<MemoryPage> pages;
  std::string title;    ///< file or program, for the page head
  std::string source;   ///< inputs, for the foot: "run.pickle 24732c64"
  std::string version;  ///< "snapdiff 0.1"
  std::int64_t created_at_ns = 0;
};

enum class PictureForm { pdf, svg, png };

/// PDF: a page each. SVG and PNG (at 2 pixels a point): one below the other.
/// Errors: usage (no pages), io (no fonts), limit, internal. Returns the file's bytes.
Result<std::string> draw_memory(const MemoryStory& story, PictureForm form, Paper paper = Paper::a4);

/// A flame graph and what stands round it.
struct FlameStory {
  FlameTree tree;             ///< its frames' texts belong to the snapshots, which must live as long
  bool two_sided = true;      ///< false: the values of one snapshot
  std::string before, after;  ///< names of the sides, "svc.0001.heap"; `before` "" for one snapshot
  std::string source;         ///< inputs, for the foot
  std::string title;          ///< series or program, for the page head
  std::string version;        ///< "snapdiff 0.1"
  std::string order_note;     ///< "12 snapshots, ordered by ..."; may be ""
  std::int64_t created_at_ns = 0;
};
/// With what the report knows: sides and source. `title`, `version`, `order_note` and `created_at_ns` are left.
FlameStory tell_flame(FlameTree tree, const GrowthReport& report);
FlameStory tell_flame(FlameTree tree, const TopReport& report);

/// One page: the boxes, how to read them, a table of those without callees with their full paths. SVG and PNG
/// have the height they need. Errors: usage (a tree without root), io (no fonts), limit, internal.
Result<std::string> draw_flame(const FlameStory& story, PictureForm form, Paper paper = Paper::a4);

/// The post-mortem report: the answer, the narrative, then the graph or the failed allocation, counters, losses.
/// `source` names the inputs in the foot where no stacks are compared. Errors: io (no fonts), limit, internal.
/// Returns the file's bytes.
Result<std::string> postmortem_pdf(const Postmortem& postmortem, const std::string& source,
                                   const graph::GraphOptions& options, Paper paper = Paper::a4);

/// The growth graph of a report, first -> last, as to_svg() draws it.
Result<std::string> growth_svg(const Postmortem& postmortem, const graph::GraphOptions& options);

/// One page: totals over time in bands of what grew, then tables of the bands and of the snapshots. Two or
/// more snapshots. Errors as above.
Result<std::string> draw_series(const Story& story, PictureForm form, Paper paper = Paper::a4);

/// Retention in an object graph, or its growth between two.
struct RetainedStory {
  RetainedTree tree;
  std::string title;    ///< file or program, for the page head
  std::string source;   ///< inputs, for the foot
  std::string version;  ///< "snapdiff 0.1"
  std::int64_t created_at_ns = 0;
};

/// The dominator tree by types, trimmed, as a picture or one page. Errors: as draw_memory.
Result<std::string> draw_retained(const RetainedStory& story, PictureForm form, const graph::GraphOptions& options,
                                  Paper paper = Paper::a4);
Result<std::string> retained_as_dot(const RetainedStory& story, const graph::GraphOptions& options);

}  // namespace snapdiff::render
