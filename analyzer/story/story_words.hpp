#pragma once

#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"
#include "snapdiff/trend.hpp"

/// What a story says, in words: every form of output uses these, so that all say the same.
namespace snapdiff::story {

/// Fills the texts of a story and of its culprits. `axis`: null without times.
void put_into_words(const GrowthReport& report, const TimeAxis* axis, Story& story);

}  // namespace snapdiff::story
