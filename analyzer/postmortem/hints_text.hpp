#pragma once

#include <string_view>

namespace snapdiff::postmortem {

/// hints.toml, put in by the build.
extern const std::string_view kHintsText;

}  // namespace snapdiff::postmortem
