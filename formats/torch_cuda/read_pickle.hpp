#pragma once

#include "analyzer/base/importer.hpp"

namespace snapdiff::formats::torch_cuda {

/// What reading a pickle took, for the benchmark and its tests.
struct PickleStatistics {
  std::uint64_t memo_slots = 0;
  std::uint64_t memo_bytes = 0;
};

/// One pickle, up to the end of the input, into one snapshot.
Result<Snapshot> read_pickle(Input& in, PickleStatistics* statistics = nullptr);

}  // namespace snapdiff::formats::torch_cuda
