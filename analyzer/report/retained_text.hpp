#pragma once

#include <string>

#include "analyzer/report/report.hpp"
#include "snapdiff/retention.hpp"

/// The part of the report module's public headers that is about object graphs.
namespace snapdiff::report {

/// Types of object graphs and what they keep alive. Text, CSV, or one JSON object for all other forms.
std::string write_retained(const RetainedReport& report, const Style& style);
std::string csv_retained(const RetainedReport& report, const Style& style);

/// Paths from roots to objects, and what grows along them. Text, or one JSON object for all other forms.
std::string write_paths(const PathReport& report, const Style& style);

}  // namespace snapdiff::report
