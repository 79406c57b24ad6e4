#pragma once

#include "analyzer/render/paint/pdf_document.hpp"
#include "analyzer/render/render.hpp"

/// The page of a flame graph, for documents that hold others as well.
namespace snapdiff::render {

/// What stands round it: title, question and foot, printable.
PageFrame flame_frame(const FlameStory& story);

/// Its content between kLeft and kRight, from `top` (below the page's title) down to at most `bottom`; returns the
/// lower edge. Anchors and links begin with `prefix`, which must be this page's own; "" for none.
double draw_flame_content(const FlameStory& story, Canvas& canvas, double top, double bottom,
                          const std::string& prefix);

}  // namespace snapdiff::render
