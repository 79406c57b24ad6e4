#pragma once

#include <string>

#include "analyzer/render/paint/cairo_painter.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/render.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::render {

/// What is printed round every page.
struct PageFrame {
  std::string program;   ///< beside the word snapdiff
  std::string title;     ///< large; "" for none
  std::string question;  ///< what the page answers
  std::string foot;
};

/// The head of a page: program, question, title.
void draw_head(Canvas& canvas, const PageFrame& frame, double title_width);

/// A PDF in memory. Pages are numbered from 1; page n is the anchor "p" + n.
class PdfDocument {
 public:
  struct Metadata {
    std::string title, creator, subject;
    std::int64_t created_at_ns = 0;
  };
  PdfDocument(Typesetter& type, Paper paper, const Metadata& metadata, int pages);
  ~PdfDocument();
  PdfDocument(const PdfDocument&) = delete;
  PdfDocument& operator=(const PdfDocument&) = delete;

  Canvas& canvas() { return canvas_; }
  int page() const { return page_; }
  void begin_page(const PageFrame& frame);
  void end_page();
  /// Entry of the table of contents, leading to the anchor; returns its number, for `parent` (0: top).
  int bookmark(int parent, const std::string& title, const std::string& anchor);
  /// Errors: internal, when cairo failed. Closes the document.
  Result<std::string> finish();

 private:
  std::string bytes_;
  CairoSurface surface_;
  CairoContext context_;
  CairoPainter painter_;
  Canvas canvas_;
  double left_margin_ = 0;
  int pages_ = 0;
  int page_ = 0;
};

}  // namespace snapdiff::render
