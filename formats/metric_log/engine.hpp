#pragma once

#include <memory>
#include <vector>

#include "formats/metric_log/log_session.hpp"
#include "snapdiff/importer.hpp"

namespace snapdiff::formats::metric_log {

/// The matchers of all known trackers, in the order in which they are offered a line.
std::vector<std::unique_ptr<Matcher>> known_matchers();

/// Reads all lines of `in` into `session`, each by the first matcher that takes it.
/// Errors: what Input returns.
void read_lines(Input& in, const std::vector<std::unique_ptr<Matcher>>& matchers, Session& session);

}  // namespace snapdiff::formats::metric_log
