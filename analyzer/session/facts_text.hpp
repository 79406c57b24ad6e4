#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "analyzer/store/store.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::session {

/// "2026-03-01T12:00:00Z", with milliseconds where there are any.
std::string time_text(std::int64_t unix_ns);

/// What a snapshot is about: bytes in use, else its own default; null where it has counters only.
const Column* main_column(const Snapshot& snapshot);

/// The same of a stored snapshot: its default metric and the total.
const std::pair<SampleType, std::int64_t>* main_total(const store::SnapshotInfo& info);

/// Total of a column. The model has checked that it fits.
std::int64_t total_of(const Column& column);

/// "6.72 MiB in use, ..." value of one total in its unit: bytes as binary units, else a count.
std::string value_text(const SampleType& type, std::int64_t value);

}  // namespace snapdiff::session
