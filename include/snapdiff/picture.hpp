#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "snapdiff/flame.hpp"

/// What can be drawn of a comparison, and how.
namespace snapdiff {

/// Of the file that comes out: a document, a page for browsers, the graph as a picture, its text for Graphviz.
enum class PictureForm : std::uint8_t { pdf, html, svg, png, dot };

/// What is on it.
///   growth    what grew and where: answer, graph, table
///   flame     flame graph of what was allocated and freed
///   timeline  totals over the series, in bands of what grew
enum class PictureKind : std::uint8_t { growth, flame, timeline };

///   width      of a flame graph
///   letter     paper of documents; else A4
///   max_nodes  boxes of a graph at most
struct PictureOptions {
  PictureKind kind = PictureKind::growth;
  PictureForm form = PictureForm::pdf;
  FlameWidth width = FlameWidth::change;
  bool letter = false;
  std::size_t max_nodes = 40;
};

/// A file and what it holds.
struct Document {
  std::string name;  ///< "report.pdf"
  std::string bytes;
};

}  // namespace snapdiff
