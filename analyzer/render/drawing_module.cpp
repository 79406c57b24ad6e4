#include "analyzer/render/drawing_module.hpp"

namespace {

using namespace snapdiff::render;
using snapdiff::graph::GraphOptions;

constexpr Drawing kDrawing = {
    .to_pdf = to_pdf,
    .to_svg = to_svg,
    .to_png = [](const Story& story, const GraphOptions& options) { return to_png(story, options); },
    .to_dot = to_dot,
    .draw_memory = [](const MemoryStory& story, PictureForm form,
                      Paper paper) { return draw_memory(story, form, paper); },
    .tell_flame_of_growth = tell_flame,
    .tell_flame_of_top = tell_flame,
    .draw_flame = [](const FlameStory& story, PictureForm form, Paper paper) { return draw_flame(story, form, paper); },
    .draw_series = [](const Story& story, PictureForm form, Paper paper) { return draw_series(story, form, paper); },
    .draw_retained = [](const RetainedStory& story, PictureForm form, const GraphOptions& options,
                        Paper paper) { return draw_retained(story, form, options, paper); },
    .retained_as_dot = retained_as_dot,
    .postmortem_pdf = postmortem_pdf,
    .growth_svg = growth_svg,
};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const char* snapdiff_drawing_stamp() { return kDrawingStamp; }
__attribute__((visibility("default"))) const Drawing* snapdiff_drawing_functions() { return &kDrawing; }
}
