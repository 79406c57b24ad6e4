#pragma once

#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::pprof {

/// As Format::sniff(): certain when the head is fields of a profile from end to end; possible
/// when it begins so and breaks later, so that a damaged profile is reported as that and not as an
/// unknown file.
Match sniff_profile(std::string_view head);

}  // namespace snapdiff::formats::pprof
