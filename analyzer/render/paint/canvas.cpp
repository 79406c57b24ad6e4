#include "analyzer/render/paint/canvas.hpp"

#include <algorithm>

#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

struct BadgeForm {
  std::string_view word;
  Color fill, ink;
  Stroke border;
};

/// Growing verdicts are orange, falling ones blue, the others grey; filled, outlined, pale, dashed
/// and dotted distinguish them without colour.
BadgeForm form_of(std::string_view word) {
  const Stroke none{kPaper, 0};
  if (word == "GROWING") return {word, kGrow.c700, kPaper, none};
  if (word == "SHRINKING") return {word, kShrink.c700, kPaper, none};
  if (word == "RISING") return {word, kGrow.c100, kGrow.c900, {kGrow.c700, 0.8}};
  if (word == "SATURATING") return {word, kGrow.c100, kGrow.c900, none};
  if (word == "STEP" || word == "NEW") return {word, kPaper, kGrow.c900, {kGrow.c700, 0.8}};
  if (word == "GONE") return {word, kPaper, kShrink.c900, {kShrink.c700, 0.8, 2, 1.5}};
  if (word == "NOISY") return {word, kPaper, kInk2, {kInk3, 0.8, 1, 1.5}};
  return {word, kPanel, kInk2, {kLine, 0.8}};
}

/// A longer name would bury its sentence.
constexpr std::size_t kLongestName = 72;

struct Word {
  std::string text;
  bool name = false;
  bool glued = false;  ///< no space before it
};

TextStyle style_of(const TextStyle& base, bool name) {
  TextStyle style = base;
  if (name && base.weight == FontWeight::regular) style.weight = FontWeight::medium;
  return style;
}

std::vector<Word> words_of(const Prose& prose) {
  std::vector<Word> words;
  bool glued = false;
  for (const Span& span : prose) {
    const std::string text = span.name ? shortened(printable(span.text), kLongestName) : unbroken(printable(span.text));
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t space = std::min(text.find(' ', at), text.size());
      if (space > at) {
        words.push_back({text.substr(at, space - at), span.name, glued});
        glued = true;
      }
      if (space < text.size()) glued = false;
      at = space + 1;
    }
  }
  if (!words.empty()) words.front().glued = false;
  return words;
}

}  // namespace

double Canvas::width(std::string_view text, const TextStyle& style) { return type_.width(printable(text), style); }

double Canvas::text(double x, double y, std::string_view text, const TextStyle& style, Color color, Align align) {
  const std::string shown = printable(text);
  const double w = type_.width(shown, style);
  if (align == Align::right) x -= w;
  if (align == Align::centre) x -= w / 2;
  painter_.text({x, y}, shown, style, color, w);
  return w;
}

double Canvas::text_within(double x, double y, std::string_view text, const TextStyle& style, Color color,
                           double width) {
  return this->text(x, y, type_.fit_middle(printable(text), style, width), style, color);
}

double Canvas::text_cut(double x, double y, std::string_view text, const TextStyle& style, Color color, double width) {
  return this->text(x, y, type_.fit_end(printable(text), style, width), style, color);
}

double Canvas::paragraph(double y, std::string_view text, const TextStyle& style, Color color, std::size_t max_lines) {
  return draw_prose(wrap_prose({{std::string(text)}}, type_, style, kWidth, max_lines), *this, kLeft, y, style, color);
}

void Canvas::number(double x, double y, std::string_view text, const TextStyle& style, Color color, double unit_width) {
  const std::size_t space = text.find(' ');
  this->text(x - unit_width, y, text.substr(0, space), style, color, Align::right);
  if (space == std::string_view::npos) return;
  TextStyle small = style;
  small.size *= 0.92;
  small.weight = FontWeight::regular;
  this->text(x - unit_width + 2.5, y, text.substr(space + 1), small,
             style.weight != FontWeight::regular ? color : kInk3);
}

void Canvas::rule(double x0, double x1, double y, Color color, double width) {
  painter_.stroke(Path().move({x0, y}).line({x1, y}), {color, width});
}

void Canvas::rect(const Box& box, Color fill, double radius) {
  painter_.fill(radius > 0 ? Path::round_rect(box, radius) : Path::rect(box), fill);
}

void Canvas::frame(const Box& box, const Stroke& stroke, double radius) {
  painter_.stroke(radius > 0 ? Path::round_rect(box, radius) : Path::rect(box), stroke);
}

void Canvas::hatched(const Box& box, Color color, double gap, double width) {
  painter_.hatch(Path::rect(box), box, color, gap, width);
}

void Canvas::dot(Point at, double radius, Color fill, const Stroke& edge) {
  const Path path = Path::circle(at, radius);
  painter_.fill(path, fill);
  painter_.stroke(path, edge);
}

void Canvas::cross(Point at, double arm, const Stroke& stroke) {
  painter_.stroke(Path().move({at.x - arm, at.y - arm}).line({at.x + arm, at.y + arm}), stroke);
  painter_.stroke(Path().move({at.x + arm, at.y - arm}).line({at.x - arm, at.y + arm}), stroke);
}

void Canvas::gone(const Box& box, double gap, double width, double edge) {
  rect(box, kShrink.c100);
  hatched(box, kShrink.c500, gap, width);
  frame(box, {kShrink.c500, edge});
}

void Canvas::heading(double y, std::string_view title, std::string_view remark) {
  const double w = text(kLeft, y, title, {9, FontWeight::semibold}, kInk);
  if (remark.empty()) return;
  text(kRight, y, type_.fit_end(printable(remark), {7}, kWidth - w - 16), {7}, kInk3, Align::right);
}

void Canvas::triangle(double x, double y, bool up, double size, Color color) {
  Path path;
  if (up) {
    path.move({x, y}).line({x + size, y}).line({x + size / 2, y - size}).close();
  } else {
    path.move({x, y - size}).line({x + size, y - size}).line({x + size / 2, y}).close();
  }
  painter_.fill(path, color);
}

double Canvas::badge(double x, double y, std::string_view word, double size, Align align) {
  if (word.empty()) return 0;
  const TextStyle style{size, FontWeight::semibold, false, false, 0.35};
  const BadgeForm form = form_of(word);
  const double w = width(word, style) + size * 1.5;
  const Box box{align == Align::right ? x - w : x, y - size * 1.3, w, size * 1.9};
  rect(box, form.fill, box.h / 2);
  if (form.border.width > 0) frame(box, form.border, box.h / 2);
  text(box.x + size * 0.75, y, word, style, form.ink);
  return w;
}

void Canvas::sparkline(const Box& box, std::span<const std::int64_t> values) {
  if (values.size() < 2) return;
  const auto [low, high] = std::ranges::minmax_element(values);
  const double most = static_cast<double>(std::max<std::int64_t>(*high, 0));
  const double least = static_cast<double>(std::min<std::int64_t>(*low, 0));
  const double range = most - least > 0 ? most - least : 1;
  const auto at = [&](std::size_t i) {
    return Point{box.x + box.w * static_cast<double>(i) / static_cast<double>(values.size() - 1),
                 box.y + box.h * (most - static_cast<double>(values[i])) / range};
  };
  rule(box.x, box.x + box.w, box.y + box.h * most / range, kLine, 0.5);
  const std::int64_t first = values.front();
  const std::int64_t last = values.back();
  const Color color = last > first ? kGrow.c700 : last < first || *high > last ? kShrink.c700 : kInk3;
  Path path;
  path.move(at(0));
  for (std::size_t i = 1; i < values.size(); ++i) path.line(at(i));
  painter_.stroke(path, {color, 1.1, 0, 0, true});
  painter_.fill(Path::circle(at(values.size() - 1), 1.6), color);
}

double Canvas::growth(double x, double y, std::int64_t value, std::string_view text, const TextStyle& style,
                      Color color, Align align) {
  const double mark = value != 0 ? style.size * 0.95 : 0;
  const double w = width(text, style) + mark;
  if (align == Align::right) x -= w;
  if (align == Align::centre) x -= w / 2;
  if (value != 0) triangle(x, y - 0.4, value > 0, style.size * 0.66, color);
  this->text(x + mark, y, text, style, color);
  return w;
}

std::string unbroken(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("\u2009")) {
      out += "\u202f";
      i += 2;
      continue;
    }
    const std::size_t end = std::min(rest.find_first_of(" ,.;:)", 1), rest.size());
    const std::string_view word = rest.substr(1, end - 1);
    const bool unit = word == "B" || (word.size() == 3 && word.substr(1) == "iB");
    if (text[i] == ' ' && i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9' && unit) {
      out += "\u00a0";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string plain_text(const Prose& prose) {
  std::string text;
  for (const Span& span : prose) text += printable(span.text);
  return text;
}

std::vector<ProseLine> wrap_prose(const Prose& prose, Typesetter& type, const TextStyle& style, double width,
                                  std::size_t max_lines) {
  std::vector<ProseLine> lines;
  const std::vector<Word> words = words_of(prose);
  const double space = type.width("x x", style) - type.width("xx", style);
  double x = 0;
  for (std::size_t i = 0; i < words.size();) {
    // Words without a space between them stay together.
    std::size_t end = i + 1;
    while (end < words.size() && words[end].glued) ++end;
    double w = 0;
    for (std::size_t k = i; k < end; ++k) w += type.width(words[k].text, style_of(style, words[k].name));
    if (lines.empty() || x + space + w > width) {
      if (lines.size() == max_lines) {
        ProseLine::Piece& last = lines.back().pieces.back();
        last.text = type.fit_end(last.text.append("\u2026"), style_of(style, last.name), width - last.x);
        return lines;
      }
      lines.emplace_back();
      x = 0;
    } else {
      x += space;
    }
    for (std::size_t k = i; k < end; ++k) {
      const TextStyle set = style_of(style, words[k].name);
      const std::string text =
          x + w > width ? type.fit_middle(words[k].text, set, std::max(width - x, 20.0)) : words[k].text;
      // Neighbours of one kind are one text: that is how it is selected and searched.
      ProseLine& line = lines.back();
      if (!line.pieces.empty() && line.pieces.back().name == words[k].name) {
        line.pieces.back().text.append(k == i ? " " : "").append(text);
      } else {
        line.pieces.push_back({text, words[k].name, x});
      }
      x += type.width(text, set);
    }
    i = end;
  }
  return lines;
}

double draw_prose(const std::vector<ProseLine>& lines, Canvas& canvas, double x, double y, const TextStyle& style,
                  Color color) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) y += line_step(style);
    for (const ProseLine::Piece& piece : lines[i].pieces)
      canvas.text(x + piece.x, y, piece.text, style_of(style, piece.name), color);
  }
  return y;
}

}  // namespace snapdiff::render
