#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/render/paint/painter.hpp"
#include "analyzer/render/paint/typesetter.hpp"
#include "snapdiff/postmortem.hpp"

namespace snapdiff::render {

enum class Align : std::uint8_t { left, centre, right };

/// The small marks that all pages are made of. Texts may be any bytes: they are made printable.
class Canvas {
 public:
  Canvas(Painter& painter, Typesetter& type) : painter_(painter), type_(type) {}
  Painter& painter() { return painter_; }
  Typesetter& type() { return type_; }

  /// One line with its baseline at y; x is its left end, middle or right end. Returns its width.
  double text(double x, double y, std::string_view text, const TextStyle& style, Color color,
              Align align = Align::left);
  /// As text(), cut in the middle (or at its end) to `width`.
  double text_within(double x, double y, std::string_view text, const TextStyle& style, Color color, double width);
  double text_cut(double x, double y, std::string_view text, const TextStyle& style, Color color, double width);
  double width(std::string_view text, const TextStyle& style);
  /// Wrapped text, first baseline at y; returns the last baseline.
  double paragraph(double y, std::string_view text, const TextStyle& style, Color color, std::size_t max_lines);
  /// "2.52 MiB" with its digits ending at x - unit_width and its unit after them, so that both form
  /// columns. A text without unit ends at x - unit_width too.
  void number(double x, double y, std::string_view text, const TextStyle& style, Color color, double unit_width);

  void rule(double x0, double x1, double y, Color color = kLine, double width = 0.6);
  void rect(const Box& box, Color fill, double radius = 0);
  void frame(const Box& box, const Stroke& stroke, double radius = 0);
  void hatched(const Box& box, Color color, double gap = 3.4, double width = 0.7);
  void dot(Point at, double radius, Color fill, const Stroke& edge);
  void cross(Point at, double arm, const Stroke& stroke);
  /// Something that is gone: pale, hatched and framed in the colour of shrinkage.
  void gone(const Box& box, double gap = 3.4, double width = 0.7, double edge = 0.6);
  /// A title at the left edge and a remark, cut to the space beside it, at the right one.
  void heading(double y, std::string_view title, std::string_view remark);
  /// On the baseline y: points up for growth, down for shrinkage.
  void triangle(double x, double y, bool up, double size, Color color);
  /// Verdict in a pill, its form as telling as its colour. Returns its width.
  double badge(double x, double y, std::string_view word, double size, Align align);
  /// From zero to the series' own peak; ends in a dot.
  void sparkline(const Box& box, std::span<const std::int64_t> values);
  /// Triangle and text of a growth.
  double growth(double x, double y, std::int64_t value, std::string_view text, const TextStyle& style, Color color,
                Align align = Align::left);

 private:
  Painter& painter_;
  Typesetter& type_;
};

/// Spaces before a unit become no-break, thin spaces narrow no-break ones.
std::string unbroken(std::string_view text);

/// The text alone, printable().
std::string plain_text(const Prose& prose);

/// One line: pieces from left to right, each with its width.
struct ProseLine {
  struct Piece {
    std::string text;
    bool name = false;
    double x = 0;
  };
  std::vector<Piece> pieces;
};

/// Breaks at spaces, never before a unit; names are a little heavier and lose their middle where they are long. The
/// last of `max_lines` lines ends in an ellipsis where something is left.
std::vector<ProseLine> wrap_prose(const Prose& prose, Typesetter& type, const TextStyle& style, double width,
                                  std::size_t max_lines);

/// First baseline at y; returns the last baseline.
double draw_prose(const std::vector<ProseLine>& lines, Canvas& canvas, double x, double y, const TextStyle& style,
                  Color color);

/// Distance of baselines.
inline double line_step(const TextStyle& style) { return style.size * 1.45; }

}  // namespace snapdiff::render
