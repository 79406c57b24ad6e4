#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/session/load.hpp"

/// What every document about loaded snapshots says of itself.
namespace snapdiff::session {

/// What made it.
inline constexpr const char* kVersion = "snapdiff " SNAPDIFF_VERSION;

/// Name of the series, else of the program that the snapshots are of.
std::string title_of(const Loaded& loaded);

/// The environment's SOURCE_DATE_EPOCH; nothing where it is unset or not a whole number of seconds.
std::optional<std::int64_t> source_date_epoch_s();

/// SOURCE_DATE_EPOCH, else the newest time of the inputs, so that equal inputs give equal bytes.
std::int64_t document_time_ns(const Loaded& loaded);

/// "12 snapshots, ordered by the number in the file name; ...".
std::string order_of(const Loaded& loaded);

}  // namespace snapdiff::session
