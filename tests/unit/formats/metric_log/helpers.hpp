#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/importer.hpp"
#include "formats/input/all_formats.hpp"

namespace snapdiff::test {

/// A sample of tests/data/metric_log; fails the test when it is missing.
std::string sample(const std::string& name);

/// Reads `log`; fails the test when it cannot be read. `window` as of MemoryInput.
std::vector<Snapshot> read_log(std::string_view log, const formats::ReadRequest& options = {}, std::size_t window = 0);

Error log_error(std::string_view log, const formats::ReadRequest& options = {});

/// The counter of a snapshot, or null.
const Counter* counter(const Snapshot& snapshot, std::string_view name);

/// Its values over the snapshots that have it.
std::vector<std::int64_t> series(const std::vector<Snapshot>& snapshots, std::string_view name);

/// Steps between them.
std::vector<std::int64_t> steps(const std::vector<Snapshot>& snapshots, std::string_view name);

/// "rss=5 peak=7": all counters of a snapshot, in the order of the log.
std::string counters(const Snapshot& snapshot);

/// How often the notes of the last snapshot say something that holds `text`; 0 = never.
std::uint64_t noted(const std::vector<Snapshot>& snapshots, std::string_view text);

}  // namespace snapdiff::test
