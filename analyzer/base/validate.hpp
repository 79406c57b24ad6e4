#pragma once

#include "snapdiff/api.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff {

/// The part of validate() about AllocatorState. Events are not decoded: whoever reads them looks
/// their ids up with a check, as validate_event() does.
SNAPDIFF_API Status validate(const AllocatorState& state, const Dictionary& d);

/// Whether the ids of an event exist.
inline bool validate_event(const TraceEvent& event, const AllocatorState& state, const Dictionary& d) {
  return event.stream < state.streams.size() && event.pool < state.pools.size() &&
         index_of(event.stack) < d.stacks.size();
}

/// The part of validate() about a dictionary, which many snapshots may share.
SNAPDIFF_API Status validate(const Dictionary& d);

/// The rest of validate(): its dictionary was found valid.
SNAPDIFF_API Status validate_samples(const Snapshot& snapshot);

/// The one validity pass over a finished model, whatever format it came from: table columns of
/// equal length, every id inside its table, stack and label runs in order, rows sorted and
/// unique, column names unique, column totals within 64 bits.
/// Errors: limit, when a total does not fit; internal for all else (readers must never let it come
/// to that; only a store with damaged rows can).
SNAPDIFF_API Status validate(const Snapshot& snapshot);

}  // namespace snapdiff
