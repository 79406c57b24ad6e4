#pragma once

#include "analyzer/render/paint/pdf_document.hpp"
#include "analyzer/render/render.hpp"

/// The page of a series over time, for documents that hold others as well.
namespace snapdiff::render {

/// What stands round it: title, question and foot, printable.
PageFrame series_frame(const Story& story);

/// Its content between kLeft and kRight, from `top` (below the page's title) down to at most `bottom`; returns the
/// lower edge. Two or more steps.
double draw_series_content(const Story& story, Canvas& canvas, double top, double bottom);

}  // namespace snapdiff::render
