#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/base/overview.hpp"
#include "analyzer/session/request.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::session {

/// The series of a folder and of the folders in it, three levels deep; or those of a store (`place` is its file, "" =
/// that of the request). One that cannot be read or judged has a note. Errors: usage (nothing there), io.
Result<Overview> overview_of(const std::string& place, const DiffOptions& view, const Request& request,
                             std::optional<std::int64_t> limit);

}  // namespace snapdiff::session
