#pragma once

#include "analyzer/report/json_writer.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::report {

/// The fullest moment of a device's trace as an object.
void json_peak(JsonWriter& json, const PeakStory& peak);

/// "suspects" and "story" of a report, into the object that is open; null where nobody asked for a story.
void json_story_fields(JsonWriter& json, const GrowthReport& report);

}  // namespace snapdiff::report
