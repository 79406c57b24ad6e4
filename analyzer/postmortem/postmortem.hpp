#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "snapdiff/postmortem.hpp"
#include "snapdiff/result.hpp"

/// The door of the post-mortem room: from the snapshots of one series to everything that its report
/// says.
namespace snapdiff::postmortem {

/// What the caller knows beside the snapshots.
///   view   metric, filters and frames to show; the grouping is by stack, whatever it says
///   limit  in the metric's unit, for the forecast
///   pins, failure, notes  as in Postmortem; notes of the snapshots themselves are added
struct Request {
  DiffOptions view;
  std::optional<std::int64_t> limit;
  std::string title;
  std::string version;
  std::string order_note;
  std::int64_t created_at_ns = 0;
  std::optional<PinReport> pins;
  std::optional<OutOfMemory> failure;
  Notes notes;
};

/// Two or more snapshots, oldest first. The narrative is still empty. Of snapshots that hold counters
/// alone, growth() has no metric and no rows, and the steps have no totals.
/// Errors: those of the diff.
Result<Postmortem> assemble(std::span<const SnapshotRef> snapshots, Request request);

}  // namespace snapdiff::postmortem
