#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "snapdiff/snapshot.hpp"

namespace snapdiff::waterfall {

/// The figures of one file about a process's memory.
///   map        mappings of a process by kind: resident bytes
///   status     resident bytes of a process by anonymous, file and shared memory, or in all
///   allocator  totals of malloc or of one like it
///   go         Go's MemStats
///   jvm_heap   the JVM's heap and metaspace
///   jvm        Native Memory Tracking of the JVM
///   v8         V8's heap and what it holds outside
///   profile    bytes in use by stack or type
enum class Source : std::uint8_t { none, map, status, allocator, go, jvm_heap, jvm, v8, profile };

/// Amounts of a file by our names for them (readings.cpp).
///   label  which of several: "glibc", "tcmalloc", "cpython"
struct Reading {
  Source source = Source::none;
  std::string label;
  std::string format;
  std::map<std::string, std::int64_t> bytes;

  bool has(const std::string& name) const { return bytes.contains(name); }
  std::int64_t at(const std::string& name) const {
    const auto found = bytes.find(name);
    return found == bytes.end() ? 0 : found->second;
  }
};

/// By the names of the snapshot's counters, metrics and kinds of rows; a file may tell several things. Throws limit: an
/// amount beyond 128 PiB.
std::vector<Reading> readings_of(const Snapshot& snapshot);

}  // namespace snapdiff::waterfall
