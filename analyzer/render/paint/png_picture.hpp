#pragma once

#include <functional>
#include <string>

#include "analyzer/render/paint/canvas.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::render {

/// A drawing of w x h points on white, as the bytes of a PNG: `scale` pixels a point, less where a side
/// would pass 16 000 pixels (viewers and image libraries stop being reliable about there).
Result<std::string> png_picture(double w, double h, double scale, Typesetter& type,
                                const std::function<void(Canvas&)>& draw);

}  // namespace snapdiff::render
