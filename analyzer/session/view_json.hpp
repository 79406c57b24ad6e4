#pragma once

#include <optional>
#include <string>

#include "snapdiff/growth.hpp"
#include "snapdiff/ids.hpp"

/// The view of a comparison as a store keeps it with the last one, and back.
namespace snapdiff::session {

/// `newest`: the snapshot that was imported last when it was compared.
std::string options_to_json(const DiffOptions& options, std::optional<SnapshotId> newest = {});
/// What is missing or wrong is as in DiffOptions.
DiffOptions options_from_json(const std::string& json);
std::optional<SnapshotId> newest_from_json(const std::string& json);

}  // namespace snapdiff::session
