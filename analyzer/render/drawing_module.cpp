#include "analyzer/render/drawing_module.hpp"

namespace {

using namespace snapdiff::render;

constexpr Drawing kDrawing = {
    .to_pdf = to_pdf,
    .to_svg = to_svg,
    .to_png = to_png,
    .to_dot = to_dot,
    .draw_memory = draw_memory,
    .tell_flame_of_growth = tell_flame,
    .tell_flame_of_top = tell_flame,
    .draw_flame = draw_flame,
    .draw_series = draw_series,
    .draw_retained = draw_retained,
    .retained_as_dot = retained_as_dot,
    .postmortem_pdf = postmortem_pdf,
    .growth_svg = growth_svg,
};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const char* snapdiff_drawing_stamp() { return kDrawingStamp; }
__attribute__((visibility("default"))) const Drawing* snapdiff_drawing_functions() { return &kDrawing; }
}
