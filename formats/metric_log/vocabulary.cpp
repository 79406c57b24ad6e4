#include "formats/metric_log/vocabulary.hpp"

#include <unordered_map>

#include "formats/metric_log/metric_text.hpp"

namespace snapdiff::formats::metric_log {
namespace {

constexpr bool kCount = true;
constexpr bool kAlone = true;
constexpr bool kUnit = true;
constexpr bool kStep = true;
constexpr bool kCountsUp = true;

// psutil.Process.memory_info, /proc/self/status, torch.cuda, tracemalloc, process.memoryUsage() of Node,
// runtime.MemStats of Go, and what people write around them.
constexpr Word kWords[] = {
    {"rss|vmrss|resident set size", "rss", false, kAlone},
    {"peak rss|max rss|maxrss|vmhwm", "peak_rss", false, kAlone},
    {"vms|vmsize", "vms", false, kAlone},
    {"uss", "uss", false, kAlone},
    {"pss", "pss", false, kAlone},
    {"working set", "working_set", false, kAlone, kUnit},
    {"private bytes", "private_bytes", false, kAlone},
    {"current|current memory", "current"},
    {"current memory usage", "current", false, kAlone, kUnit},
    {"peak", "peak"},
    {"peak memory|peak memory usage", "peak", false, kAlone, kUnit},
    {"allocated", "allocated"},
    {"allocated memory|mem allocated", "allocated", false, kAlone, kUnit},
    {"memory allocated", "allocated", false, kAlone},
    {"max allocated|peak allocated", "max_allocated"},
    {"max memory allocated", "max_allocated", false, kAlone},
    {"reserved", "reserved"},
    {"reserved memory|mem reserved", "reserved", false, kAlone, kUnit},
    {"memory reserved", "reserved", false, kAlone},
    {"max reserved|peak reserved", "max_reserved"},
    {"max memory reserved", "max_reserved", false, kAlone},
    {"cached", "cached"},
    {"memory cached", "cached", false, kAlone},
    {"max cached", "max_cached"},
    {"max memory cached", "max_cached", false, kAlone},
    {"used", "used", false, false, kUnit},
    {"used memory", "used", false, kAlone},  // Redis: in bytes
    {"memory used|mem used", "used", false, kAlone, kUnit},
    {"free", "free", false, false, kUnit},
    {"free memory", "free", false, kAlone, kUnit},
    {"memory|mem|ram", "memory", false, false, kUnit},
    {"memory usage|mem usage|ram usage", "memory", false, kAlone, kUnit},
    {"memory get usage", "memory", false, kAlone},  // PHP: in bytes
    {"memory get peak usage", "peak", false, kAlone},
    {"vram|gpu mem|gpu memory|cuda memory", "gpu_memory", false, false, kUnit},
    {"gpu memory usage", "gpu_memory", false, kAlone, kUnit},
    {"max mem|max memory", "max_memory", false, false, kUnit},
    {"heaptotal", "heap_total", false, kAlone},
    {"heapused", "heap_used", false, kAlone},
    {"heap used", "heap_used", false, kAlone, kUnit},
    {"arraybuffers", "array_buffers", false, kAlone},
    {"external", "external", false, false, false, kStep},
    {"bytes", "bytes", false, false, false, kStep},
    {"live bytes", "bytes", false, kAlone},
    {"totalalloc|total alloc", "total_alloc", false, kAlone, kUnit, false, kCountsUp},
    {"memstats totalalloc", "total_alloc", false, kAlone, false, false, kCountsUp},  // expvar's /debug/vars: in bytes
    {"memstats alloc", "alloc", false, kAlone},
    {"memstats sys", "sys", false, kAlone},
    {"heap alloc|heapalloc", "heap_alloc", false, kAlone},
    {"heap sys|heapsys", "heap_sys", false, kAlone},
    {"heap idle|heapidle", "heap_idle", false, kAlone},
    {"heap inuse|heapinuse", "heap_inuse", false, kAlone},
    {"heap released|heapreleased", "heap_released", false, kAlone},
    {"heap objects|heapobjects", "heap_objects", kCount, kAlone},
    {"stack inuse|stackinuse", "stack_inuse", false, kAlone},
    {"goroutines|num goroutine|numgoroutine", "goroutines", kCount, false, false, kStep},
    {"live tensors|num tensors", "live_tensors", kCount, kAlone},
    {"tensors", "live_tensors", kCount, false, false, kStep},
    {"live objects", "live_objects", kCount, kAlone},
    {"gc objects", "gc_objects", kCount, kAlone},
    {"objects", "live_objects", kCount, false, false, kStep},
    {"graph nodes|graph ops|graph operations|nodes in graph|ops in graph|get operations|graph def node", "graph_nodes",
     kCount, kAlone},
};

constexpr std::array<std::string_view, 20> kOthers = {
    "delta",  "diff", "change", "changed", "avg",     "average", "mean",   "median", "increase", "increased",
    "growth", "grew", "limit",  "min",     "minimum", "leaked",  "before", "after",  "expected", "threshold"};

constexpr std::array<std::string_view, 22> kMemoryWords = {
    "memory",   "mem",   "heap",   "rss",    "vms",       "uss",       "pss",      "ram",
    "vram",     "swap",  "alloc",  "malloc", "gpu",       "allocated", "reserved", "cached",
    "resident", "freed", "leaked", "mapped", "committed", "footprint"};

constexpr std::array<std::string_view, 9> kShares = {"ratio", "percent",  "pct", "perc", "rate",
                                                     "time",  "fraction", "id",  "speed"};

template <class Visit>
void each_word(std::string_view words, Visit visit) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    visit(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

template <class List>
bool any_word_of(std::string_view words, const List& list) {
  bool found = false;
  each_word(words,
            [&](std::string_view word) { found = found || std::find(list.begin(), list.end(), word) != list.end(); });
  return found;
}

const std::unordered_map<std::string_view, const Word*>& index() {
  static const std::unordered_map<std::string_view, const Word*> kIndex = [] {
    std::unordered_map<std::string_view, const Word*> all;
    for (const Word& word : kWords) {
      for (std::string_view rest = word.words; !rest.empty();) {
        const std::size_t end = std::min(rest.find('|'), rest.size());
        all.emplace(rest.substr(0, end), &word);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
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

bool counts_up(std::string_view words) {
  const Word* const word = find_word(words);
  return word != nullptr && word->cumulative;
}

std::string words_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c)) {
      out += lower(c);
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

bool has_memory_word(std::string_view words) { return any_word_of(words, kMemoryWords); }

bool is_other_measure(std::string_view words) {
  bool is_leak = false;  // a total that leaked is a level; only its share of a line is not
  each_word(words, [&](std::string_view word) { is_leak = is_leak || word == "leaked"; });
  return any_word_of(words, kShares) || (!is_leak && any_word_of(words, kOthers));
}

std::string name_of_words(std::string_view words) {
  constexpr std::size_t kMostWords = 4;
  std::vector<std::string_view> all;
  each_word(words, [&](std::string_view word) {
    // A number in the words changes from line to line, and the words before it name another thing.
    if (std::any_of(word.begin(), word.end(), [](char c) { return is_digit(c); })) return all.clear();
    all.push_back(word);
  });
  if (all.size() > kMostWords) all.erase(all.begin(), all.end() - kMostWords);
  std::string out;
  for (const std::string_view word : all) out.append(out.empty() ? "" : "_").append(word);
  return out;
}

std::uint64_t take_unit_word(std::string& words, bool decimal_units) {
  const std::size_t last = words.rfind(' ');
  if (last == std::string::npos || words.size() - last < 3) return 0;  // "m", "b" are not units here
  const std::uint64_t unit = size_unit(std::string_view(words).substr(last + 1), decimal_units);
  std::string rest = words.substr(0, last);
  if (rest.ends_with(" in")) rest.resize(rest.size() - 3);
  const bool is_known = find_word(rest) != nullptr && find_word(words) == find_word(words.substr(last + 1));
  if (unit == 0 || !(is_known || (find_word(words) == nullptr && has_memory_word(rest)))) return 0;
  words = std::move(rest);
  return unit;
}

}  // namespace snapdiff::formats::metric_log
