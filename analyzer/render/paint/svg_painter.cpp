#include "analyzer/render/paint/svg_painter.hpp"

#include <cmath>
#include <cstdio>

#include "analyzer/render/paint/text.hpp"
#include "snapdiff/concat.hpp"
#include "snapdiff/markup_text.hpp"

namespace snapdiff::render {
namespace {

/// Hundredths of a point, without trailing zeros and without the locale's decimal comma.
std::string number(double value) {
  const long long hundredths = std::llround(value * 100);
  const unsigned long long size =
      hundredths < 0 ? 0ULL - static_cast<unsigned long long>(hundredths) : static_cast<unsigned long long>(hundredths);
  std::string out = std::to_string(size / 100);
  if (size % 100 != 0) {
    out += '.';
    out += static_cast<char>('0' + size % 100 / 10);
    if (size % 10 != 0) out += static_cast<char>('0' + size % 10);
  }
  if (hundredths < 0) out.insert(out.begin(), '-');
  return out;
}

std::string point(Point p) { return number(p.x).append(1, ' ').append(number(p.y)); }

std::string data(const Path& path) {
  std::string out;
  for (const Path::Part& part : path.parts()) {
    switch (part.op) {
      case Path::Op::move: out.append("M").append(point(part.a)); break;
      case Path::Op::line: out.append("L").append(point(part.a)); break;
      case Path::Op::curve:
        out.append("C").append(point(part.a)).append(" ").append(point(part.b)).append(" ").append(point(part.c));
        break;
      case Path::Op::close: out.append("Z"); break;
    }
  }
  return out;
}

int css_weight(FontWeight weight) { return 400 + 100 * static_cast<int>(weight); }

}  // namespace

void SvgPainter::fill(const Path& path, Color color) {
  body_.append("<path d=\"").append(data(path)).append("\" fill=\"").append(color_text(color)).append("\"/>\n");
}

void SvgPainter::stroke(const Path& path, const Stroke& stroke) {
  body_.append("<path d=\"").append(data(path)).append("\" fill=\"none\" stroke=\"").append(color_text(stroke.color));
  body_.append("\" stroke-width=\"").append(number(stroke.width)).append("\"");
  if (stroke.dash_on > 0)
    body_ += concat(" stroke-dasharray=\"", number(stroke.dash_on), " ", number(stroke.dash_off), "\"");
  if (stroke.round_joins) body_.append(" stroke-linejoin=\"round\"");
  body_.append("/>\n");
}

void SvgPainter::hatch(const Path& region, const Box& bounds, Color color, double gap, double line_width) {
  const std::string id = std::string("clip").append(std::to_string(++clips_));
  body_.append("<clipPath id=\"").append(id).append("\"><path d=\"").append(data(region)).append("\"/></clipPath>\n");
  Path lines;
  for (double t = -bounds.h; t < bounds.w; t += gap)
    lines.move({bounds.x + t, bounds.y + bounds.h}).line({bounds.x + t + bounds.h, bounds.y});
  body_.append("<g clip-path=\"url(#").append(id).append(")\">\n");
  stroke(lines, {color, line_width});
  body_.append("</g>\n");
}

void SvgPainter::text(Point at, std::string_view text, const TextStyle& style, Color color, double width) {
  if (text.empty()) return;
  body_.append("<text x=\"").append(number(at.x)).append("\" y=\"").append(number(at.y)).append("\" font-size=\"");
  body_.append(number(type_.real_size(style.size))).append("\" fill=\"").append(color_text(color)).append("\"");
  if (style.weight != FontWeight::regular)
    body_.append(" font-weight=\"").append(std::to_string(css_weight(style.weight))).append("\"");
  if (style.mono) body_.append(" class=\"m\"");
  if (style.italic) body_.append(" font-style=\"italic\"");
  if (width > 0) body_.append(" textLength=\"").append(number(width)).append("\" lengthAdjust=\"spacingAndGlyphs\"");
  body_.append(">").append(entities(left_to_right(text))).append("</text>\n");
}

void SvgPainter::push(Point origin, double scale) {
  body_.append("<g transform=\"translate(").append(point(origin)).append(")");
  char factor[32] = {};
  std::snprintf(factor, sizeof factor, " scale(%lld.%04lld)", std::llround(scale * 10000) / 10000,
                std::llround(scale * 10000) % 10000);
  if (scale != 1) body_.append(factor);
  body_.append("\">\n");
}

void SvgPainter::pop() { body_.append("</g>\n"); }

void SvgPainter::begin_item(std::string_view title) {
  body_.append("<g>");
  if (!title.empty()) body_.append("<title>").append(entities(title)).append("</title>");
  body_.append("\n");
}

void SvgPainter::end_item() { body_.append("</g>\n"); }

std::string SvgPainter::finish(std::string_view title, double width, double height) {
  const std::string size = number(width).append(" ").append(number(height));
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";
  out.append(number(width)).append("pt\" height=\"").append(number(height)).append("pt\" viewBox=\"0 0 ").append(size);
  out.append("\">\n<title>").append(entities(title)).append("</title>\n<style>text{font-family:\"");
  out.append(entities(type_.sans()))
      .append("\",\"DejaVu Sans\",sans-serif;font-feature-settings:\"tnum\" 1,\"calt\" 0;white-space:pre}");
  out.append(".m{font-family:\"").append(entities(type_.mono())).append("\",\"DejaVu Sans Mono\",monospace}</style>\n");
  out.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n").append(body_).append("</svg>\n");
  return out;
}

}  // namespace snapdiff::render
