#pragma once

#include <cstdint>
#include <string>

#include "analyzer/render/render.hpp"
#include "snapdiff/retention.hpp"

/// The part of the render module's public headers that is about object graphs.
namespace snapdiff::render {

/// What keeps what alive in an object graph, or how that grew between two.
struct RetainedStory {
  RetainedTree tree;
  std::string title;    ///< file or program, for the page head
  std::string source;   ///< inputs, for the foot
  std::string version;  ///< "snapdiff 0.1"
  std::int64_t created_at_ns = 0;
};

/// The dominator tree by types, trimmed, as a picture or one page. Errors: as draw_memory.
Result<std::string> draw_retained(const RetainedStory& story, PictureForm form, const graph::GraphOptions& options,
                                  Paper paper = Paper::a4, double scale = 2.0);
Result<std::string> retained_as_dot(const RetainedStory& story, const graph::GraphOptions& options);

}  // namespace snapdiff::render
