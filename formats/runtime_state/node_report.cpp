#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/type_row.hpp"
#include "formats/json/json_walk.hpp"

namespace snapdiff::formats {
namespace {

/// Members of javascriptHeap that are levels of bytes. Source: Node.js src/node_report.cc, PrintGCStatistics().
constexpr std::array<std::string_view, 7> kHeapLevels = {"totalMemory",   "executableMemory", "totalCommittedMemory",
                                                         "usedMemory",    "memoryLimit",      "mallocedMemory",
                                                         "externalMemory"};

class Report final : public json::Walk {
 public:
  void number(std::int64_t value) override {
    if (at({"javascriptHeap", "*"})) {
      for (const std::string_view level : kHeapLevels) {
        if (key(1) == level) add(std::string("heap.").append(level), value);
      }
      if (key(1) == "detachedContextCount" || key(1) == "nativeContextCount")
        builder_.facts().counters.push_back({std::string("heap.").append(key(1)), value, "count"});
    } else if (at({"javascriptHeap", "heapSpaces", "*", "*"})) {
      Space& space = spaces_[std::string(key(2))];
      if (key(3) == "used") space.used = value;
      if (key(3) == "committedMemory") space.committed = value;
    } else if (at({"resourceUsage", "rss"})) {
      add("rss", value);
    } else if (at({"header", "processId"})) {
      builder_.facts().pid = value;
    }
  }
  void text(std::string_view value) override {
    SnapshotFacts& facts = builder_.facts();
    if (at({"header", "event"})) event_ = value;
    if (at({"header", "nodejsVersion"})) facts.producer = std::string("node ").append(value);
    if (at({"header", "commandLine", "*"}))
      facts.command_line.append(facts.command_line.empty() ? "" : " ").append(value);
    if (at({"header", "dumpEventTimeStamp"})) {
      if (const auto ms = text::whole_number(value); ms && *ms < std::numeric_limits<std::int64_t>::max() / 1'000'000)
        facts.taken_at_ns = *ms * 1'000'000;
    }
  }

  Snapshot finish() {
    if (spaces_.empty()) malformed("report without a heap: expected javascriptHeap.heapSpaces");
    SnapshotFacts& facts = builder_.facts();
    facts.sampling = Sampling::exact;
    facts.default_metric = "used";
    builder_.add_column({"used", "bytes"});
    builder_.add_column({"committed", "bytes"});
    for (const auto& [name, space] : spaces_) {
      add_type_row(builder_, name, {space.used, space.committed});
    }
    if (!event_.empty()) facts.notes.add(Severity::info, "event: " + event_.substr(0, 256));
    return value_or_throw(builder_.finish());
  }

 private:
  struct Space {
    std::int64_t used = 0, committed = 0;
  };
  void add(std::string name, std::int64_t value) {
    builder_.facts().counters.push_back({std::move(name), value, "bytes"});
  }

  SnapshotBuilder builder_;
  std::map<std::string, Space> spaces_;
  std::string event_;
};

bool is_report(std::string_view head) {
  return text::begins_with(head, {"{", "\"header\""}) && contains(head, "\"reportVersion\"") &&
         contains(head, "\"nodejsVersion\"");
}

}  // namespace

constexpr Format kNodeReport{.info = {"node-report", "diagnostic report of Node.js: spaces of V8's heap",
                                      "report.*.json", "stacks, handles of libuv, environment, times"},
                             .sniff = [](std::string_view head) { return certain_if(is_report(head)); },
                             .decode = json::decode_value<Report>};

}  // namespace snapdiff::formats
