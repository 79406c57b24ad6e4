#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/metric_log/log_session.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::formats::metric_log {

/// A user's own expression, compiled once; shared by readers in several threads.
class UserPattern;

/// `number` distinguishes patterns without a name: their counters are value, value2, ...
/// Errors: usage.
Result<std::shared_ptr<const UserPattern>> compile_pattern(const std::string& expression, std::size_t number);
std::unique_ptr<Matcher> make_pattern_matcher(std::vector<std::shared_ptr<const UserPattern>> patterns);

/// Errors: usage.
Result<std::shared_ptr<const LineTags>> compile_tags(const std::string& expression);

}  // namespace snapdiff::formats::metric_log
