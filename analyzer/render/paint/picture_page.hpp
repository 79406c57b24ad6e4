#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/pdf_document.hpp"
#include "analyzer/render/render.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::render {

/// Where a page's content begins below its title.
inline constexpr double kContent = kTop + 57;
/// Width of pictures that are laid out as pages are.
inline constexpr double kPictureWidth = kLeft + kRight;

/// The foot, below content that ends at y; returns the height of the picture so far.
double draw_picture_foot(Canvas& canvas, double y, const std::string& foot);

/// SVG or PNG, `width` points wide; `draw` draws all of it and returns its height. It is called more than once for a
/// PNG.
Result<std::string> write_picture(const std::string& title, PictureForm form, double width, Typesetter& type,
                                  const std::function<double(Canvas&)>& draw);

/// What `make` returns; where memory runs out the error "WHAT: out of memory".
template <class Make>
Result<std::string> within_memory(std::string_view what, const Make& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, concat(what, ": out of memory")};
  }
}

/// The same with a typesetter. Errors: io (no fonts), limit.
template <class Make>
Result<std::string> typeset(std::string_view what, const Make& make) {
  return within_memory(what, [&]() -> Result<std::string> {
    Result<std::unique_ptr<Typesetter>> type = Typesetter::make();
    if (!type) return std::move(type).error();
    return make(**type);
  });
}

/// A document of one page.
struct SinglePage {
  PageFrame frame;  ///< printable
  std::string version;
  std::int64_t created_at_ns = 0;
  /// Draws from `top` to at most `bottom`, returns the lower edge. Called more than once for a PNG.
  std::function<double(Canvas& canvas, double top, double bottom)> draw;
};
/// Errors: io (no fonts), limit, internal.
Result<std::string> draw_single_page(const SinglePage& page, PictureForm form, Paper paper);

}  // namespace snapdiff::render
