#pragma once

#include <string>

#include "snapdiff/growth.hpp"

namespace snapdiff::diff {

/// The name of a frame in a table: the function's, else "module+0x12", "[unknown in module]" or
/// the address.
std::string function_text(const FrameView& frame);
std::string key_text(const FrameView& frame, GroupBy by);
/// The values of one label of a set, or what says that it is missing.
std::string label_text(const Dictionary& dictionary, LabelSetId set, const std::string& key);

}  // namespace snapdiff::diff
