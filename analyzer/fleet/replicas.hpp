#pragma once

#include <chrono>
#include <thread>

#include "analyzer/fleet/impl.hpp"

namespace snapdiff::fleet {

/// What `ask` gives. Where rows are missing and shards have replicas, the one that was asked may only be late: it is
/// asked again for some seconds before the rows are said to be missing.
template <class Ask>
auto when_replicas_agree(Fleet::Impl& from, const Ask& ask) {
  auto answer = guarded(ask);
  for (std::chrono::milliseconds wait{250}; wait <= std::chrono::seconds{4}; wait *= 2) {
    if (answer || answer.error().code != ErrorCode::internal) return answer;
    const Result<bool> replicas = guarded([&] { return from.has_replicas(); });
    if (!replicas || !*replicas) return answer;
    std::this_thread::sleep_for(wait);
    answer = guarded(ask);
  }
  return answer;
}

}  // namespace snapdiff::fleet
