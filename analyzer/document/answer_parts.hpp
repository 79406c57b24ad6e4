#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/story.hpp"

/// Texts that reports print beside their tables, worded once for all forms. A text may hold names of inputs: each form
/// makes it printable.
namespace snapdiff::document {

/// The gravest first, else in their order.
std::vector<const Note*> by_gravity(const Notes& notes);

/// "(0, 1)".
std::string pool_text(const PoolId& pool);

/// A labelled fact, and what it means: "" where the label says it.
struct Fact {
  std::string label, text;
  std::string_view meaning = {};
};

/// "out of memory on device 0, event 12 of 400": where and when an allocation failed.
std::string failure_line(const OutOfMemory& failure, const NumberGlyphs& glyphs = {});
std::vector<Fact> failure_facts(const OutOfMemory& failure, const NumberGlyphs& glyphs = {});

/// "+7.12 MiB, +17 596 objects over 13 snapshots, 68 min; the net hides ....": the line below the headline.
Prose answer_figures(const Story& story);

/// The remarks below the culprits: coverage, stacks that levelled off, advice, the reason for no verdict. May be empty.
Prose answer_remarks(const Story& story);

/// The lists of a story with their titles, without empty ones: freed stacks, culprits, parts of a peak.
struct CulpritList {
  std::string_view title;
  std::span<const Culprit> culprits;
};
std::vector<CulpritList> culprit_lists(const Story& story);

}  // namespace snapdiff::document
