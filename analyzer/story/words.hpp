#pragma once

#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"
#include "snapdiff/trend.hpp"

/// What a story says, in words: every form of output uses these, so that all say the same.
namespace snapdiff::story {

/// Fills the texts of a story and of its culprits. `axis`: null without times.
void put_into_words(const GrowthReport& report, const TimeAxis* axis, Story& story);

/// "std::vector<float>" of "std::vector<float, std::allocator<float> >::push_back": the type whose function a
/// library frame is, else the function, short.
std::string via_name(std::string_view function);

}  // namespace snapdiff::story
