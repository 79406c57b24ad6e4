#pragma once

#include <string>
#include <vector>

#include "analyzer/render/paint/canvas.hpp"
#include "snapdiff/growth.hpp"

/// What a comparison says of its inputs, below a picture of it: a page is read without the terminal's words.
namespace snapdiff::render {

/// The gravest first, "warning: ..." and the like in front of all that is more than a remark. printable().
std::vector<std::string> note_texts(const Notes& notes);

/// Height of the lines that draw_notes() draws; 0 without notes. Long notes are wrapped, many are counted.
double notes_height(const std::vector<std::string>& notes, Typesetter& type);

/// From y, the upper edge, down.
void draw_notes(const std::vector<std::string>& notes, Canvas& canvas, double y);

}  // namespace snapdiff::render
