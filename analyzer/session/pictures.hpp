#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/render/drawing.hpp"
#include "analyzer/session/compared.hpp"
#include "analyzer/session/postmortem_series.hpp"
#include "snapdiff/picture.hpp"

/// Pictures and documents of what was loaded, as the bytes of a file. The module that draws is opened when it is needed
/// (render::open_drawing(), whose errors are among those of each function).
namespace snapdiff::session {

/// Of two snapshots or more, by stack; of snapshots that hold counters alone, draw_counters().
/// Errors: usage (one snapshot), those of the comparison and of drawing.
Result<std::string> draw_growth(const Compared& compared, const PictureOptions& options, const Watch& watch);

/// First -> last, or one snapshot. Errors: usage (counters alone, a width that needs two, DOT), and as above.
Result<std::string> draw_flame(const Compared& compared, const PictureOptions& options);

/// Totals of a series of heaps over time.
Result<std::string> draw_timeline(const Compared& compared, const PictureOptions& options);

/// Lines over time, of snapshots that hold counters. Errors: usage (one snapshot, DOT).
Result<std::string> draw_counters(const Loaded& loaded, const PictureOptions& options);

/// Pages about the memory of devices or a chart of several series, with the title and the time that they lack.
Result<std::string> draw_memory(render::MemoryStory story, const Loaded& loaded, const PictureOptions& options);

/// The dominator tree of the last snapshot's object graph, or its growth since the first.
Result<std::string> draw_retained(const Loaded& loaded, const PictureOptions& options, const Watch& watch);

/// A page for browsers, of a series or of the moments of one trace.
///   no_graph  why the page has no graph: the module that draws is missing; nothing where it has one or needs none
struct Page {
  std::string bytes;
  std::optional<Error> no_graph;
};
/// It opens at what the options ask for; with a `limit` it says when the total will reach it. Errors: usage (one
/// snapshot).
Result<Page> make_page(const Compared& compared, const PictureOptions& options, std::optional<std::int64_t> limit = {});

/// The picture that the options ask for; of counters alone their lines over time, whatever its kind.
Result<std::string> draw(const Compared& compared, const PictureOptions& options, const Watch& watch);

}  // namespace snapdiff::session
