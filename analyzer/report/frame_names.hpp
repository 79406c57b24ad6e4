#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/growth.hpp"

/// Names of frames and stacks for people.
namespace snapdiff::report {

/// A frame in tables: recorded_frame_text(), shortened (snapdiff/function_name.hpp), printable.
std::string frame_name(const FrameView& frame, const Glyphs& glyphs);

/// "svc_cache.cc:24", or "" when the frame has no file. Printable.
std::string site_text(const FrameView& frame, const Glyphs& glyphs);

/// A stack as one cell: frames after folding, leaf first, and where its leaf stands.
struct StackCell {
  std::string text;
  std::string site;
};

/// Leaf first, at most `width` columns: library frames folded into the own frame that calls them, the one at the leaf
/// named in brackets after it,
/// recursion into one frame with its mark, entry points dropped from the root end; then callers are
/// dropped from the root end, and the last name is cut in the middle (design.md section 7).
StackCell stack_cell(std::span<const FrameView> frames, std::size_t width, const Glyphs& glyphs);

/// The frames of a row, leaf first, and the columns it has.
using FramesOf = std::function<void(std::size_t row, std::vector<FrameView>& frames)>;
using WidthOf = std::function<std::size_t(std::size_t row)>;

/// Where a table shows the file and line of a stack's leaf.
enum class LeafSite { beside, nowhere };

/// The texts of rows that are listed below one another: stack_cell(), but rows that would read alike leave out what
/// they have in common, so that each shows where it differs: "alloc ‹ … ‹ parse_header ‹ …". Stacks of the same
/// functions show the line where they differ: "alloc ‹ parse_header:31 ‹ …". The first 500 are compared.
std::vector<std::string> stack_cells(std::size_t count, const FramesOf& frames_of, const WidthOf& width_of,
                                     const Glyphs& glyphs, LeafSite site = LeafSite::beside);

/// The same where all rows have `width` columns.
inline std::vector<std::string> stack_cells(std::size_t count, const FramesOf& frames_of, std::size_t width,
                                            const Glyphs& glyphs) {
  return stack_cells(
      count, frames_of, [width](std::size_t) { return width; }, glyphs);
}

/// Text of a row's key in a table of functions, files, ...: `key` shortened to `width` columns.
std::string key_text(const std::string& key, GroupBy by, std::size_t width, const Glyphs& glyphs);

/// A row of a diff in at most `width` columns: its stack_cell() or key_text().
std::string row_text(const GrowthReport& report, const GrowthRow& row, std::size_t width, const Glyphs& glyphs);

/// The same of several rows, distinguished as stack_cells() does for tables without the site of the leaf.
std::vector<std::string> row_texts(const GrowthReport& report, std::span<const std::uint32_t> rows, std::size_t width,
                                   const Glyphs& glyphs);

}  // namespace snapdiff::report
