#include "analyzer/render/paint/prose_lines.hpp"

#include <algorithm>

#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

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
