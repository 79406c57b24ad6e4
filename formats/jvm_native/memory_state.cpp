#include "formats/text/counter_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

/// A size behind `word`: "used 839K", "used 4M", "volume 808.00 KB".
std::optional<Quantity> size_behind(std::string_view line, std::string_view word) {
  const auto rest = behind(line, word);
  return rest ? measure_at(*rest, 0).bytes() : std::nullopt;
}

/// The size in front of `word`: "  808.00 KB ( 19%) committed", "64.00 MB reserved".
std::optional<Quantity> size_in_front(std::string_view line, std::string_view word) {
  const std::size_t found = line.find(word);
  if (found == std::string_view::npos) return std::nullopt;
  std::string_view cell = line.substr(0, found);
  cell = cell.substr(cell.find_last_of(",:", found) + 1);
  return parse_size(trim(cell.substr(0, cell.find('('))));
}

/// A line of a heap by its first words, and what its counters begin with.
struct HeapLine {
  std::string_view words, prefix;
};
/// GC.heap_info; the collectors' print_on() of HotSpot, 8 to 25.
constexpr HeapLine kHeapLines[] = {{"garbage-first heap", "heap"},
                                   {"ZHeap", "heap"},
                                   {"def new generation", "young"},
                                   {"DefNew", "young"},
                                   {"PSYoungGen", "young"},
                                   {"par new generation", "young"},
                                   {"tenured generation", "old"},
                                   {"Tenured", "old"},
                                   {"ParOldGen", "old"},
                                   {"PSOldGen", "old"},
                                   {"concurrent mark-sweep", "old"},
                                   {"Metaspace", "metaspace"},
                                   {"class space", "class_space"}};

bool is_heap_line(std::string_view words) {
  for (const HeapLine& line : kHeapLines) {
    if (has_prefix(words, line.words)) return words.find(" used ") != std::string_view::npos;
  }
  return words == "Shenandoah Heap";
}

bool is_metaspace_heading(std::string_view words) {
  return has_prefix(words, "Total Usage - ") && words.find(" classes") != std::string_view::npos;
}

class MemoryStateLog final : public CounterLog {
  using CounterLog::CounterLog;

  void handle(std::string_view line) override {
    const std::string_view words = trim(line);
    if (leaves_out_line() || pid(words)) return;
    if (is_metaspace_heading(words)) return begin_metaspace(words);
    if (words == "Virtual space:" || words == "Chunk freelists:") {
      in_usage_ = false;
      in_space_ = words == "Virtual space:";
      return;
    }
    if ((in_usage_ || in_space_) && has_prefix(words, "Both:")) return metaspace(words);
    if (in_usage_ && has_prefix(words, "Class:")) return set_from(size_in_front(words, " used,"), "class_space_used");
    if (has_prefix(words, "Shenandoah Heap")) {
      in_shenandoah_ = true;
      return;
    }
    if (in_shenandoah_ && words.find(" committed, ") != std::string_view::npos) {
      in_shenandoah_ = false;
      set_from(size_in_front(words, " used"), "heap_used");
      set_from(size_in_front(words, " committed"), "heap_total");
      return;
    }
    for (const HeapLine& one : kHeapLines) {
      if (has_prefix(words, one.words) && words.find(" used ") != std::string_view::npos)
        return heap(words, one.prefix);
    }
    note_time(line);
  }

  /// "19656:", which jcmd writes in front of each report.
  bool pid(std::string_view words) {
    const auto number = pid_line(words);
    if (!number) return false;
    close();
    moment().pid = number;
    return true;
  }

  /// "garbage-first heap   total 10240K, used 1579K", from 25 on "total reserved 65536K, committed 8192K, used 1757K".
  void heap(std::string_view words, std::string_view prefix) {
    const std::string name(prefix);
    set_from(size_behind(words, " used "), name + "_used");
    if (prefix == "metaspace" || prefix == "class_space")
      return set_from(size_behind(words, " committed "), name + "_committed");
    for (const std::string_view word : {" total ", " capacity ", " committed "}) {
      if (const auto size = size_behind(words, word)) return set_from(size, name + "_total");
    }
  }

  /// Of collectors with generations the heap is both.
  void before_close() override {
    for (const std::string ending : {"_used", "_total"}) {
      const auto young = value_of("young" + ending), old = value_of("old" + ending);
      std::int64_t heap = 0;
      if (young && old && checked_add(*young, *old, heap)) set("heap" + ending, heap, "bytes", std::int64_t{1} << 10);
    }
  }

  /// "Total Usage - 23 loaders, 1041 classes (935 shared):"
  void begin_metaspace(std::string_view words) {
    if (value_of("loaders")) close();
    in_usage_ = true;
    Cursor at(words.substr(14));
    std::int64_t number = 0;
    if (at.takes("% loaders, ", number)) set("loaders", number, "count");
    if (at.takes("% ", number)) set("classes", number, "count");
  }

  /// "Both:   66 chunks,      4.46 MB capacity,  917.00 KB ( 20%) committed,   813.02 KB ( 18%) used, ..."; in the
  /// virtual space "Both:        1.06 GB reserved,     960.00 KB ( <1%) committed."
  void metaspace(std::string_view words) {
    if (in_usage_) {
      set_from(size_in_front(words, " used,"), "metaspace_used");
      set_from(size_in_front(words, " free,"), "metaspace_free");
      set_from(size_in_front(words, " waste"), "metaspace_waste");
    } else {
      set_from(size_in_front(words, " reserved"), "metaspace_reserved");
      set_from(size_in_front(words, " committed"), "metaspace_committed");
    }
    in_usage_ = in_space_ = false;
  }

  void set_from(const std::optional<Quantity>& size, std::string_view name) {
    if (!size) return;
    moment().producer = "java";
    set(name, size->value, "bytes", size->half_unit);
  }

  bool in_usage_ = false, in_space_ = false, in_shenandoah_ = false;
};

/// The text begins with a heap, or with the pid that jcmd writes and then a heap: a log with heaps in it is another's.
Match sniff_memory_state(std::string_view head) {
  const std::string plain = plain_head(head);
  std::string_view rest = plain, line;
  while (take_line(rest, line)) {
    const std::string_view words = trim(line);
    if (words.empty() || pid_line(words)) continue;
    return certain_if(is_heap_line(words) || is_metaspace_heading(words));
  }
  return Match::no;
}

}  // namespace

constexpr Format kJvmMemoryState{
    .info = {"jvm-memory", "heap and metaspace of the JVM: jcmd GC.heap_info, VM.metaspace", "*.txt, *.log",
             "spaces and regions, chunks by size"},
    .sniff = sniff_memory_state,
    .decode = read_log<MemoryStateLog, "no heap: the input ends, expected lines of jcmd GC.heap_info or VM.metaspace">};

}  // namespace snapdiff::formats
