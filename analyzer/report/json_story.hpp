#pragma once

#include "analyzer/report/json_writer.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::report {

/// "suspects" and "story" of a report, into the object that is open; null where nobody asked for a story.
void json_story_fields(JsonWriter& json, const GrowthReport& report);

}  // namespace snapdiff::report
