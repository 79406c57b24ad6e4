#include "formats/leak_reports/memcheck_lines.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace leak_reports;

using text::has_prefix;
using text::trim;

/// More than ever run under one valgrind with --trace-children=yes.
constexpr std::size_t kMostProcesses = 65536;

constexpr std::string_view kCut = "the input ends inside a leak check";
constexpr std::string_view kCutLeftOut = "the input ends inside a leak check, which was left out";

/// One process. Its lines may be between those of others.
struct Process {
  std::string command;
  std::string producer;
  std::unique_ptr<LeakCheck> check;  ///< the one that is read; null between two
  std::vector<Counter> heap;         ///< of HEAP SUMMARY, for the next check
  Leaked summary[kLeakKindCount + 1];
  bool told[kLeakKindCount + 1] = {};  ///< whether the summary had the kind; the last one is "suppressed"
  bool in_summary = false;
  bool ended = false;  ///< ERROR SUMMARY was there
  std::uint64_t taken = 0;
};

class MemcheckText final : public text::ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    const auto found = memcheck_line(line);
    if (!found) return;
    Process& p = process(found->pid);
    if (!lines_.terminated() && may_be_half(p, found->text)) return check(p).drop_record();
    handle(p, found->pid, found->text);
  }

  /// Whether `text`, the last line and without an end, is one that a cut would leave undetected: a
  /// record or one of its frames. Other lines are whole when they can be read.
  static bool may_be_half(const Process& p, std::string_view text) {
    return (p.check && p.check->record_open()) || (!text.empty() && text::is_digit(text.front()));
  }

  Process& process(std::int64_t pid) {
    const auto known = processes_.find(pid);
    if (known != processes_.end()) return known->second;
    if (processes_.size() == kMostProcesses)
      fail(ErrorCode::limit, "too many processes: more than 65536 in one log", lines_.line_offset());
    return processes_[pid];
  }

  LeakCheck& check(Process& p) {
    if (!p.check) p.check = std::make_unique<LeakCheck>();
    return *p.check;
  }

  void handle(Process& p, std::int64_t pid, std::string_view text) {
    if (p.in_summary && in_summary(p, pid, text)) return;
    if (p.check && p.check->record_open()) {
      LeakFrame frame;
      if (memcheck_frame(text, frame)) return p.check->add_frame(frame);
      p.check->close_record();
    }
    if (is_loss_record(text)) {
      begin_record(p, text);
    } else if (has_prefix(text, "LEAK SUMMARY:")) {
      check(p);
      p.in_summary = true;
    } else if (has_prefix(text, "All heap blocks were freed")) {
      check(p);
      close(p, pid);
    } else if (has_prefix(text, "Command: ")) {
      p.command = trim(text.substr(9));
    } else if (has_prefix(text, "Using Valgrind-")) {
      p.producer = "valgrind " + std::string(text.substr(15, text.find(' ', 15) - 15));
    } else if (has_prefix(text, "ERROR SUMMARY:")) {
      p.ended = true;
    } else if (has_prefix(text, "HEAP SUMMARY:")) {
      p.heap.clear();
    } else {
      heap_summary_line(text, p.heap);
    }
  }

  void begin_record(Process& p, std::string_view text) {
    const auto record = loss_record(text);
    if (record) return check(p).open_record(record->kind, record->leaked, record->indirect);
    SnapshotFacts& damaged = check(p).facts();
    damaged.complete = false;
    damaged.lose("records that could not be read, left out", lines_.line_offset());
  }

  static bool whole_summary(const Process& p) {
    return std::all_of(std::begin(p.told), std::end(p.told), [](bool told) { return told; });
  }

  /// True when the line belongs to the summary.
  bool in_summary(Process& p, std::int64_t pid, std::string_view text) {
    if (const auto line = summary_line(text)) {
      std::size_t kind = 0;
      while (kind < kLeakKindCount && kLeakKinds[kind] != line->kind) ++kind;
      p.summary[kind] = line->leaked;
      p.told[kind] = true;
      return true;
    }
    // "of which reachable via heuristic:" and its lines are indented deeper.
    if (has_prefix(text, "  ") || !lines_.terminated()) return true;
    if (!whole_summary(p)) p.check->mark_cut("a LEAK SUMMARY without all of its lines", lines_.line_offset());
    close(p, pid);
    return false;
  }

  void close(Process& p, std::int64_t pid) {
    LeakCheck& check = *p.check;
    for (std::size_t kind = 0; kind < kLeakKindCount; ++kind) {
      if (p.told[kind]) check.add_summary(kLeakKinds[kind], p.summary[kind], kNoStackRecorded);
    }
    finish_facts(p, pid, check.facts());
    if (p.told[kLeakKindCount]) {
      const Leaked& suppressed = p.summary[kLeakKindCount];
      check.facts().counters.push_back({"suppressed", suppressed.bytes, "bytes", false, 0});
      check.facts().counters.push_back({"suppressed_blocks", suppressed.blocks, "count", false, 0});
    }
    out_.take(check.finish(kDeeper));
    ++p.taken;
    p.check.reset();
    p.in_summary = false;
    std::fill(std::begin(p.told), std::end(p.told), false);
  }

  void finish_facts(Process& p, std::int64_t pid, SnapshotFacts& facts) {
    facts.pid = pid;
    facts.command_line = p.command;
    facts.producer = p.producer.empty() ? "valgrind" : p.producer;
    facts.format_detail = "text";
    facts.counters = std::move(p.heap);
    p.heap.clear();
  }

  /// A check whose end is missing.
  void cut(Process& p, std::int64_t pid) {
    if (p.taken > 0) return out_.last().lose(kCutLeftOut, lines_.offset());
    check(p).mark_cut(kCut, lines_.offset());
    finish_facts(p, pid, check(p).facts());
    out_.take(check(p).finish(kDeeper));
  }

  void finish() override {
    for (auto& [pid, p] : processes_) {
      if (p.in_summary && whole_summary(p)) {
        close(p, pid);
      } else if (p.check) {
        cut(p, pid);
      } else if (!p.heap.empty() && !p.ended) {
        cut(p, pid);
      } else if (!p.heap.empty() && p.taken == 0) {
        // --leak-check=no: totals of the heap and no more.
        check(p).facts().complete = false;
        finish_facts(p, pid, check(p).facts());
        out_.take(check(p).finish(kDeeper));
      }
    }
  }

  std::map<std::int64_t, Process> processes_;
};

/// The root element, after a declaration, comments and blanks.
bool is_memcheck_xml(std::string_view head) {
  return text::begins_with(head, {"<"}) && head.find("<valgrindoutput>") != std::string_view::npos;
}

bool is_memcheck_text(std::string_view line) {
  const auto found = memcheck_line(line);
  return found &&
         (is_loss_record(found->text) || text::has_prefix(found->text, "LEAK SUMMARY:") ||
          text::has_prefix(found->text, "HEAP SUMMARY:") || text::has_prefix(found->text, "Memcheck, a memory error"));
}

Match sniff_memcheck(std::string_view head) {
  return certain_if(is_memcheck_xml(head) || text::any_line_of(head, is_memcheck_text));
}

void decode_memcheck(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  if (is_memcheck_xml(value_or_throw(in.peek(kSniffBytes)).substr(0, kSniffBytes))) {
    read_memcheck_xml(in, out);
  } else {
    MemcheckText(in, out,
                 "no leak check: the input ends, expected records and a LEAK SUMMARY (valgrind --leak-check=full)")
        .run();
  }
}

}  // namespace

constexpr Format kMemcheck{
    .info = {"memcheck", "leak check of valgrind's memcheck, text or XML", "*.txt, *.log, *.xml",
             "errors other than leaks; suppressions; how much a check grew since the one before"},
    .sniff = sniff_memcheck,
    .decode = decode_memcheck};

}  // namespace snapdiff::formats
