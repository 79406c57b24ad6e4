#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "snapdiff/importer.hpp"
#include "support/memory_input.hpp"

/// One input through one importer, whole and in small windows: both must end alike.
namespace snapdiff::test {

inline std::uint64_t digest(const Snapshot& snapshot) {
  std::uint64_t hash = snapshot.mappings.size();
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    hash = mix64(hash ^ snapshot.dictionary->stacks.hash[index_of(snapshot.samples.stack[row])].low);
    for (const Column& column : snapshot.samples.columns)
      hash = mix64(hash ^ static_cast<std::uint64_t>(column.value[row]));
  }
  return hash;
}

inline void fuzz_importer(const Importer& importer, const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  importer.sniff(bytes.substr(0, kSniffBytes));
  importer.refusal(bytes.substr(0, kSniffBytes));
  std::string first;
  for (const std::size_t window : {std::size_t{0}, 1 + size % 61}) {
    MemoryInput in(bytes, window);
    SnapshotList list;
    const Status status = importer.read(in, list);
    std::string outcome;
    if (!status) {
      outcome = status.error().text();
      if (status.error().code == ErrorCode::internal) std::abort();
    } else {
      for (const Snapshot& snapshot : list.snapshots) outcome += std::to_string(digest(snapshot)) + ' ';
    }
    if (window == 0) {
      first = outcome;
    } else if (outcome != first) {
      std::fprintf(stderr, "whole: %s\nin windows: %s\n", first.c_str(), outcome.c_str());
      std::abort();
    }
  }
}

}  // namespace snapdiff::test
