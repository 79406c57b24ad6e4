#pragma once

#include <string>

#include "snapdiff/growth.hpp"

namespace snapdiff::diff {

/// What rows by something else than stacks are called: by function recorded_frame_text().
std::string key_text(const FrameView& frame, GroupBy by);
/// The values of one label of a set, or what says that it is missing.
std::string label_text(const Dictionary& dictionary, LabelSetId set, const std::string& key);

}  // namespace snapdiff::diff
