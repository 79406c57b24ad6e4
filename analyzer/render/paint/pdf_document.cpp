#include "analyzer/render/paint/pdf_document.hpp"

#include <cairo-pdf.h>

#include <algorithm>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

constexpr double kTitle = 19;       // points
constexpr double kLeastTitle = 12;  // smaller text does not look like a title

/// A4 is 595.276 by 841.89 points, Letter 612 by 792.
double paper_width(Paper paper) { return paper == Paper::a4 ? 595.276 : 612.0; }
double paper_height(Paper paper) { return paper == Paper::a4 ? 841.89 : 792.0; }

}  // namespace

void draw_head(Canvas& canvas, const PageFrame& frame, double title_width) {
  canvas.text(kLeft, kTop, "snapdiff", {8, FontWeight::bold}, kInk);
  const TextStyle question{8, FontWeight::regular, false, true};
  const double w = canvas.width(frame.question, question);
  canvas.text_within(kLeft + 44, kTop, frame.program, {8}, kInk3, kWidth - 60 - w);
  canvas.text(kRight, kTop, frame.question, question, kInk2, Align::right);
  canvas.rule(kLeft, kRight, kTop + 8);
  // A long title is set smaller before it is cut.
  TextStyle title{kTitle, FontWeight::semibold, false, false, -0.25};
  title.size = std::clamp(kTitle * title_width / std::max(canvas.width(frame.title, title), 1.0), kLeastTitle, kTitle);
  canvas.text_within(kLeft, kTop + 36, frame.title, title, kInk, title_width);
}

PdfDocument::PdfDocument(Typesetter& type, Paper paper, const Metadata& metadata, int pages)
    : surface_(cairo_pdf_surface_create_for_stream(append_bytes, &bytes_, paper_width(paper), paper_height(paper))),
      context_(cairo_create(surface_.get())),
      painter_(context_.get(), type, true),
      canvas_(painter_, type),
      left_margin_((paper_width(paper) - kLeft - kRight) / 2),
      pages_(pages) {
  const auto set = [this](cairo_pdf_metadata_t kind, const std::string& value) {
    cairo_pdf_surface_set_metadata(surface_.get(), kind, value.c_str());
  };
  set(CAIRO_PDF_METADATA_TITLE, metadata.title);
  set(CAIRO_PDF_METADATA_SUBJECT, metadata.subject);
  set(CAIRO_PDF_METADATA_CREATOR, metadata.creator);
  // Left alone, cairo would write the present time.
  const std::string created = utc_text(metadata.created_at_ns, 'T') + "Z";
  set(CAIRO_PDF_METADATA_CREATE_DATE, created);
  set(CAIRO_PDF_METADATA_MOD_DATE, created);
  // A link outside any structure tag makes cairo 1.16 write a damaged file.
  cairo_tag_begin(context_.get(), "Document", nullptr);
}

PdfDocument::~PdfDocument() { cairo_surface_finish(surface_.get()); }

void PdfDocument::begin_page(const PageFrame& frame) {
  ++page_;
  painter_.push({left_margin_, 0}, 1);
  painter_.anchor(std::string("p").append(std::to_string(page_)), {kLeft, kTop - 20});
  draw_head(canvas_, frame, kWidth - 100);
  canvas_.rule(kLeft, kRight, kBottom + 4);
  canvas_.text_within(kLeft, kBottom + 15, frame.foot, {6.8}, kInk3, kWidth - 50);
  canvas_.text(kRight, kBottom + 15, std::to_string(page_).append(" / ").append(std::to_string(pages_)),
               {6.8, FontWeight::medium}, kInk2, Align::right);
}

void PdfDocument::end_page() {
  // Once something could not be set, every page says so: it may be the only one that is looked at.
  if (const std::string missing = canvas_.type().missing_note(); !missing.empty())
    canvas_.text_within(kLeft, kBottom + 24, missing, {6.8}, kInk2, kWidth);
  painter_.pop();
  cairo_show_page(context_.get());
}

int PdfDocument::bookmark(int parent, const std::string& title, const std::string& anchor) {
  const std::string place = concat("dest='", anchor, "'");
  return cairo_pdf_surface_add_outline(surface_.get(), parent, printable(title).c_str(), place.c_str(),
                                       CAIRO_PDF_OUTLINE_FLAG_OPEN);
}

Result<std::string> PdfDocument::finish() {
  cairo_tag_end(context_.get(), "Document");
  const cairo_status_t drawing = cairo_status(context_.get());
  cairo_surface_finish(surface_.get());
  const cairo_status_t writing = cairo_surface_status(surface_.get());
  const cairo_status_t status = drawing != CAIRO_STATUS_SUCCESS ? drawing : writing;
  if (status != CAIRO_STATUS_SUCCESS)
    return Error{ErrorCode::internal, std::string("writing the PDF: ").append(cairo_status_to_string(status))};
  return std::move(bytes_);
}

Result<std::string> write_document(const PagePlan& plan, const DocumentText& text, Typesetter& type, Paper paper) {
  const std::string fonts = concat("fonts: ", type.sans(), ", ", type.mono());
  PdfDocument document(type, paper, {text.kind + text.program, text.version, fonts, text.created_at_ns},
                       static_cast<int>(plan.pages().size()));
  int parent = 0;
  std::string section;
  for (const PlannedPage& page : plan.pages()) {
    document.begin_page({text.program, page.title, page.question, text.foot});
    const std::string here = std::string("p").append(std::to_string(document.page()));
    if (page.section.empty()) parent = 0;
    if (!page.section.empty() && page.section != section) parent = document.bookmark(0, page.section, here);
    section = page.section;
    document.bookmark(parent, page.title, here);
    if (Status status = page.draw(document); !status) return std::move(status).error();
    document.end_page();
  }
  return document.finish();
}

Flow flow_over_pages(std::vector<Block> blocks, double room, std::size_t most) {
  Flow flow;
  double used = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // A title stays together with the block after it.
    double needed = blocks[i].height;
    for (std::size_t k = i; blocks[k].keep_with_next && k + 1 < blocks.size(); ++k) needed += blocks[k + 1].height;
    if (flow.pages.empty() || (used > 0 && used + needed > room)) {
      if (flow.pages.size() == most) {
        const auto titles = std::count_if(blocks.begin() + static_cast<std::ptrdiff_t>(i), blocks.end(),
                                          [](const Block& block) { return block.keep_with_next; });
        flow.dropped = blocks.size() - i - static_cast<std::size_t>(titles);
        return flow;
      }
      flow.pages.emplace_back();
      used = 0;
    }
    used += blocks[i].height;
    flow.pages.back().push_back(std::move(blocks[i]));
  }
  return flow;
}

double draw_blocks(const std::vector<Block>& blocks, Canvas& canvas, double y) {
  for (const Block& block : blocks) {
    block.draw(canvas, y);
    y += block.height;
  }
  return y;
}

}  // namespace snapdiff::render
