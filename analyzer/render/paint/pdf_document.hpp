#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/render/paint/cairo_painter.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/render.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::render {

/// The frame of every page.
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

/// How a page is drawn. A function that returns nothing cannot fail.
class PageDrawing {
 public:
  template <class Draw>
  PageDrawing(Draw draw)  // NOLINT(google-explicit-constructor): a page is planned with a lambda
      : draw_([draw = std::move(draw)](PdfDocument& document) -> Status {
          if constexpr (std::is_void_v<decltype(draw(document))>) {
            draw(document);
            return ok();
          } else {
            return draw(document);
          }
        }) {}
  Status operator()(PdfDocument& document) const { return draw_(document); }

 private:
  std::function<Status(PdfDocument&)> draw_;
};

/// A page before it is drawn.
struct PlannedPage {
  std::string title, question;
  std::string section;  ///< bookmark above its own; "" for none
  PageDrawing draw;
};

class PagePlan {
 public:
  void add(PlannedPage page) { pages_.push_back(std::move(page)); }
  /// `count` pages of one subject: `continued` is the title of all but the first, `section` is above them where they
  /// are several. `draw` gets the document and which of them it is.
  template <class Draw>
  void add_each(std::size_t count, const std::string& title, const std::string& continued, const std::string& question,
                const std::string& section, const Draw& draw) {
    for (std::size_t i = 0; i < count; ++i)
      add({i == 0 ? title : continued, question, count > 1 ? section : "",
           [draw, i](PdfDocument& document) { draw(document, i); }});
  }
  const std::vector<PlannedPage>& pages() const { return pages_; }

 private:
  std::vector<PlannedPage> pages_;
};

/// Metadata of a document; all printable.
struct DocumentText {
  std::string kind;  ///< "snapdiff report: ", in front of the program in the document's title
  std::string program, foot, version;
  std::int64_t created_at_ns = 0;
};

/// Errors: those of the pages; internal, when cairo failed.
Result<std::string> write_document(const PagePlan& plan, const DocumentText& text, Typesetter& type, Paper paper);

/// A part that stays on one page. `draw` gets the upper edge.
struct Block {
  double height = 0;
  std::function<void(Canvas&, double y)> draw;
  bool keep_with_next = false;  ///< a title: never the last of a page
};

/// Blocks by page, each page `room` high. At most `most` pages: what is left is dropped, and `dropped` says how many
/// blocks that are.
struct Flow {
  std::vector<std::vector<Block>> pages;
  std::size_t dropped = 0;
};
Flow flow_over_pages(std::vector<Block> blocks, double room, std::size_t most);

/// Draws one page's blocks from `y` down; returns the lower edge.
double draw_blocks(const std::vector<Block>& blocks, Canvas& canvas, double y);

}  // namespace snapdiff::render
