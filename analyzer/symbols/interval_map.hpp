#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace snapdiff::symbols {

/// Which of many overlapping address ranges counts at an address: the one of the highest priority,
/// among equals the lower value. Ranges first, then build(), then find().
class IntervalMap {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void add(std::uint64_t low, std::uint64_t high, std::uint64_t priority, std::uint32_t value) {
    if (low < high) ranges_.push_back({low, high, priority, value});
  }

  void build() {
    struct Edge {
      std::uint64_t at;
      bool opens;
      std::uint32_t range;
    };
    std::vector<Edge> edges;
    edges.reserve(ranges_.size() * 2);
    for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
      edges.push_back({ranges_[i].low, true, i});
      edges.push_back({ranges_[i].high, false, i});
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
    // (rank, range): the first is the one that counts.
    const auto key = [&](std::uint32_t i) { return std::pair(~ranges_[i].priority, std::pair(ranges_[i].value, i)); };
    std::set<std::pair<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>>> open;
    for (std::size_t i = 0; i < edges.size();) {
      const std::uint64_t at = edges[i].at;
      for (; i < edges.size() && edges[i].at == at; ++i) {
        if (edges[i].opens) {
          open.insert(key(edges[i].range));
        } else {
          open.erase(key(edges[i].range));
        }
      }
      const std::uint32_t value = open.empty() ? kNone : open.begin()->second.first;
      if (steps_.empty() ? value != kNone : steps_.back().second != value) steps_.emplace_back(at, value);
    }
    ranges_ = {};
  }

  std::uint32_t find(std::uint64_t address) const {
    const auto above = std::upper_bound(steps_.begin(), steps_.end(), address,
                                        [](std::uint64_t a, const auto& step) { return a < step.first; });
    return above == steps_.begin() ? kNone : std::prev(above)->second;
  }

 private:
  struct Range {
    std::uint64_t low, high, priority;
    std::uint32_t value;
  };
  std::vector<Range> ranges_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> steps_;  // from this address on
};

}  // namespace snapdiff::symbols
