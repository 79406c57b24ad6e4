#include "formats/metric_log/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

namespace snapdiff::formats::metric_log {
namespace {

constexpr bool kCount = true;
constexpr bool kAlone = true;
constexpr bool kUnit = true;
constexpr bool kStep = true;

// psutil.Process.memory_info, /proc/self/status, torch.cuda, tracemalloc, process.memoryUsage() of Node,
// and what people write around them.
constexpr Word kWords[] = {
    {"rss", "rss", false, kAlone},
    {"vmrss", "rss", false, kAlone},
    {"resident set size", "rss", false, kAlone},
    {"peak rss", "peak_rss", false, kAlone},
    {"max rss", "peak_rss", false, kAlone},
    {"maxrss", "peak_rss", false, kAlone},
    {"vmhwm", "peak_rss", false, kAlone},
    {"vms", "vms", false, kAlone},
    {"vmsize", "vms", false, kAlone},
    {"uss", "uss", false, kAlone},
    {"pss", "pss", false, kAlone},
    {"working set", "working_set", false, kAlone, kUnit},
    {"private bytes", "private_bytes", false, kAlone},
    {"current", "current"},
    {"current memory", "current"},
    {"current memory usage", "current", false, kAlone, kUnit},
    {"peak", "peak"},
    {"peak memory", "peak", false, kAlone, kUnit},
    {"peak memory usage", "peak", false, kAlone, kUnit},
    {"allocated", "allocated"},
    {"allocated memory", "allocated", false, kAlone, kUnit},
    {"memory allocated", "allocated", false, kAlone},
    {"mem allocated", "allocated", false, kAlone, kUnit},
    {"max allocated", "max_allocated"},
    {"peak allocated", "max_allocated"},
    {"max memory allocated", "max_allocated", false, kAlone},
    {"reserved", "reserved"},
    {"reserved memory", "reserved", false, kAlone, kUnit},
    {"memory reserved", "reserved", false, kAlone},
    {"mem reserved", "reserved", false, kAlone, kUnit},
    {"max reserved", "max_reserved"},
    {"peak reserved", "max_reserved"},
    {"max memory reserved", "max_reserved", false, kAlone},
    {"cached", "cached"},
    {"memory cached", "cached", false, kAlone},
    {"max cached", "max_cached"},
    {"max memory cached", "max_cached", false, kAlone},
    {"used", "used", false, false, kUnit},
    {"used memory", "used", false, kAlone, kUnit},
    {"memory used", "used", false, kAlone, kUnit},
    {"mem used", "used", false, kAlone, kUnit},
    {"free", "free", false, false, kUnit},
    {"free memory", "free", false, kAlone, kUnit},
    {"memory", "memory", false, false, kUnit},
    {"mem", "memory", false, false, kUnit},
    {"memory usage", "memory", false, kAlone, kUnit},
    {"mem usage", "memory", false, kAlone, kUnit},
    {"ram", "memory", false, false, kUnit},
    {"ram usage", "memory", false, kAlone, kUnit},
    {"vram", "gpu_memory", false, false, kUnit},
    {"gpu mem", "gpu_memory", false, false, kUnit},
    {"gpu memory", "gpu_memory", false, false, kUnit},
    {"gpu memory usage", "gpu_memory", false, kAlone, kUnit},
    {"cuda memory", "gpu_memory", false, false, kUnit},
    {"max mem", "max_memory", false, false, kUnit},
    {"max memory", "max_memory", false, false, kUnit},
    {"heaptotal", "heap_total", false, kAlone},
    {"heapused", "heap_used", false, kAlone},
    {"heap used", "heap_used", false, kAlone, kUnit},
    {"arraybuffers", "array_buffers", false, kAlone},
    {"external", "external", false, false, false, kStep},
    {"bytes", "bytes", false, false, false, kStep},
    {"live bytes", "bytes", false, kAlone},
    {"live tensors", "live_tensors", kCount, kAlone},
    {"num tensors", "live_tensors", kCount, kAlone},
    {"tensors", "live_tensors", kCount, false, false, kStep},
    {"live objects", "live_objects", kCount, kAlone},
    {"gc objects", "gc_objects", kCount, kAlone},
    {"objects", "live_objects", kCount, false, false, kStep},
    {"graph nodes", "graph_nodes", kCount, kAlone},
    {"graph ops", "graph_nodes", kCount, kAlone},
    {"graph operations", "graph_nodes", kCount, kAlone},
    {"nodes in graph", "graph_nodes", kCount, kAlone},
    {"ops in graph", "graph_nodes", kCount, kAlone},
    {"get operations", "graph_nodes", kCount, kAlone},
    {"graph def node", "graph_nodes", kCount, kAlone},
};

constexpr std::array<std::string_view, 20> kOthers = {
    "delta",  "diff", "change", "changed", "avg",     "average", "mean",   "median", "increase", "increased",
    "growth", "grew", "limit",  "min",     "minimum", "leaked",  "before", "after",  "expected", "threshold"};

const std::unordered_map<std::string_view, const Word*>& index() {
  static const std::unordered_map<std::string_view, const Word*> kIndex = [] {
    std::unordered_map<std::string_view, const Word*> all;
    for (const Word& word : kWords) all.emplace(word.words, &word);
    return all;
  }();
  return kIndex;
}

}  // namespace

const Word* find_word(std::string_view words) {
  constexpr int kMostWords = 4;
  // Where each of the last words begins, the last one first.
  std::array<std::size_t, kMostWords + 1> begins{};
  int count = 0;
  for (std::size_t i = words.size(); i-- > 0 && count <= kMostWords;) {
    if (i == 0 || words[i - 1] == ' ') begins[static_cast<std::size_t>(count++)] = i;
  }
  for (int n = std::min(count, kMostWords); n > 0; --n) {
    const std::size_t begin = begins[static_cast<std::size_t>(n - 1)];
    const auto found = index().find(words.substr(begin));
    if (found == index().end()) continue;
    if (n < count) {
      const std::size_t before = begins[static_cast<std::size_t>(n)];
      const std::string_view word = words.substr(before, begin - before - 1);
      if (std::find(kOthers.begin(), kOthers.end(), word) != kOthers.end()) return nullptr;
    }
    return found->second;
  }
  return nullptr;
}

}  // namespace snapdiff::formats::metric_log
