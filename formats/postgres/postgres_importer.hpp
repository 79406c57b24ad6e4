#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Memory contexts of a PostgreSQL backend as its log has them: a snapshot for each dump.
extern const Format kPostgresContexts;

}  // namespace snapdiff::formats
