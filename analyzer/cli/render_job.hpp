#pragma once

#include <string>
#include <string_view>

#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/memory_story.hpp"
#include "analyzer/graph/growth_graph.hpp"
#include "analyzer/render/render.hpp"
#include "snapdiff/flame.hpp"

/// What the pictures that `render` draws have in common.
namespace snapdiff::cli {

struct RenderOptions {
  bool pdf = false, svg = false, png = false, dot = false, html = false;
  MemoryPages memory;
  bool retained = false;
  bool flame = false;
  FlameWidth width = FlameWidth::change;  ///< of --flame
  std::string paper = "a4";
  bool full = false;  ///< --pdf: a page per step and all inputs as well
  graph::GraphOptions graph;

  std::string_view ending() const { return svg ? "svg" : png ? "png" : dot ? "dot" : "pdf"; }
  render::PictureForm form() const {
    return svg ? render::PictureForm::svg : png ? render::PictureForm::png : render::PictureForm::pdf;
  }
  render::Paper page() const { return paper == "letter" ? render::Paper::letter : render::Paper::a4; }
};

/// Writes the picture where the options say and tells so. Returns the exit code.
int write_picture(const Options& options, std::string_view ending, const std::string& bytes);

/// The comparison as render draws it; `pairs` of consecutive snapshots only where asked for.
Result<render::Story> tell_story(const Compared& compared, bool with_pairs);

/// --flame: first -> last of the operands, or one snapshot. Returns the exit code.
int render_flame(const Options& options, const RenderOptions& wanted, const Terminal& terminal);

/// --html: the page of a report, opened where --flame or --timeline asks for. Returns the exit code.
int render_html(const Options& options, const RenderOptions& wanted, const Terminal& terminal);

/// --timeline of a series of heaps. Returns the exit code.
int render_series(const Options& options, const RenderOptions& wanted, const Compared& compared);

}  // namespace snapdiff::cli
