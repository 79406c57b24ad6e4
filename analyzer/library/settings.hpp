#pragma once

#include <cstdint>
#include <optional>

#include "snapdiff/snapdiff.h"
#include "snapdiff/snapdiff.hpp"

namespace snapdiff::library {

/// Options of the C interface as the types of snapdiff.hpp.
struct Settings {
  OpenOptions open;
  DiffOptions view;
  GateOptions gate;
  PictureOptions picture;
  PostmortemOptions postmortem;
  std::optional<std::int64_t> limit;
};

/// Groups of options that a function takes; bits.
enum OptionGroup : unsigned {
  kOpenGroup = 1,
  kViewGroup = 2,
  kLimitGroup = 4,
  kGateGroup = 8,
  kDrawGroup = 16,
  kReportGroup = 32
};

/// The options of a list, null or ended by a null name. Throws usage: an unknown name, one outside `groups`, an invalid
/// value.
Settings read_settings(const snapdiff_option* options, unsigned groups);

}  // namespace snapdiff::library
