#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "snapdiff/keyed_hash.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::jfr {

/// Counters at one moment.
struct CounterPoint {
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> collection;                      ///< number of a garbage collection
  std::vector<std::pair<std::uint32_t, std::int64_t>> values;  ///< by number of the counter
};

/// Readings of counters, put together by moment: values of one time, or of one collection, are one point.
class CounterPoints {
 public:
  void add(std::int64_t time_ns, std::optional<std::int64_t> collection, const std::string& name, std::int64_t value);
  /// A collection of the whole heap: what is left after it is live.
  void whole_heap(std::int64_t collection) { whole_.insert(static_cast<std::uint64_t>(collection)); }

  /// Points in order of time, not more than about `most` of them; `left_out` gets how many were dropped.
  std::vector<CounterPoint> take(std::size_t most, std::size_t& left_out);
  /// A value of a point by its name.
  Counter counter(const CounterPoint& point, std::size_t value) const;
  std::size_t names() const { return names_.size(); }
  bool empty() const { return points_.empty(); }

 private:
  std::vector<CounterPoint> points_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> rows_;
  std::unordered_map<std::uint64_t, std::size_t, KeyedHash> of_collection_;
  std::unordered_set<std::uint64_t, KeyedHash> whole_;
};

inline constexpr const char* kHeapAfter = "heap_after_gc";  ///< heap_after_full_gc after one of the whole heap

}  // namespace snapdiff::formats::jfr
