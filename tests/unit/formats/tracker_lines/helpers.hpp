#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/importer.hpp"

namespace snapdiff::test {

inline const std::string kHeader = R"({"k":"header","format":"snapdiff-tracker","version":1})";

/// The lines, each with its end.
std::string lines(std::initializer_list<std::string> all);

/// header, snapshot "s", `inside`, end with as many rows as it has lines.
std::string one_snapshot(std::initializer_list<std::string> inside);

/// Reads; the test fails when it is refused.
std::vector<Snapshot> read_lines(const std::string& bytes);
/// The error; the test fails when it is read.
Error error_of_lines(const std::string& bytes, bool strict = false);

/// "LINE RULE SEVERITY TEXT" of everything that a check of the file tells, and at last its error, if any.
std::vector<std::string> check_lines(const std::string& bytes);

/// "leaf;caller {label=value,...} bytes count", "?" for unknown, "-" for a column that is not there; sorted.
std::vector<std::string> rows_of(const Snapshot& snapshot);

const Note* note_with(const Snapshot& snapshot, std::string_view part);
std::optional<Counter> counter_called(const Snapshot& snapshot, std::string_view name);

}  // namespace snapdiff::test
