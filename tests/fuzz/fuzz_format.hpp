#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "formats/input/format.hpp"
#include "support/memory_input.hpp"

/// One input through one format, whole and in small windows: both must end alike.
namespace snapdiff::test {

/// Of what the rows say, labels too. How a reader numbers its stacks, and so the order of the rows, is its own affair.
inline std::uint64_t digest(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  std::uint64_t sum = snapshot.mappings.size();
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    std::uint64_t hash = mix64(d.stacks.hash[index_of(snapshot.samples.stack[row])].low);
    for (const Label& label : d.labels.labels(snapshot.samples.labels[row])) {
      hash = mix64(hash ^ hash_bytes(d.strings[label.key]).low);
      hash = mix64(hash ^ hash_bytes(d.strings[label.text]).low ^ static_cast<std::uint64_t>(label.number));
    }
    for (const Column& column : snapshot.samples.columns)
      hash = mix64(hash ^ static_cast<std::uint64_t>(column.value[row]));
    sum += hash;
  }
  return sum;
}

inline void fuzz_format(const formats::Format& format, const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  format.sniff(bytes.substr(0, kSniffBytes));
  format.refusal(bytes.substr(0, kSniffBytes));
  std::string first;
  for (const std::size_t window : {std::size_t{0}, 1 + size % 61}) {
    MemoryInput in(bytes, window);
    SnapshotList list;
    const Status status = format.read(in, list);
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
