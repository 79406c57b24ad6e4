#include "analyzer/base/number_text.hpp"
#include "formats/proc_text/kernel_numbers.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace proc_text;
using namespace text;

constexpr std::int64_t kUsualPage = 4096;
constexpr std::size_t kNone = std::string_view::npos;

/// "anon-rss:182712kB" for "anon-rss:"; 0 where it is not there.
std::int64_t kib_behind(std::string_view line, std::string_view words) {
  const auto rest = behind(line, words);
  std::int64_t value = 0;
  Cursor at(rest ? *rest : std::string_view{});
  return take_kib(at, value) ? value : 0;
}

/// "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name"
struct Columns {
  std::size_t count = 0;  ///< in front of the name
  std::size_t total_vm = kNone, rss = kNone, swap = kNone;
};

std::optional<Columns> columns_of(std::string_view line) {
  const auto heading = behind(line, "[  pid  ]");
  const auto other = heading ? heading : behind(line, "[ pid ]");
  if (!other) return std::nullopt;
  Columns out;
  for (const std::string_view word : words_of_line(*other)) {
    if (word == "name") return out.rss == kNone ? std::nullopt : std::optional(out);
    if (word == "total_vm") out.total_vm = out.count;
    if (word == "rss") out.rss = out.count;
    if (word == "swapents") out.swap = out.count;
    ++out.count;
  }
  return std::nullopt;
}

struct Task {
  std::int64_t pid = 0;
  std::int64_t total_vm = 0, rss = 0, swap = 0;  ///< pages
  std::string name;
};

/// "[   1234]     0  1234   123456    45678   345678        0             0 python", behind the prefix of the log.
std::optional<Task> task_of(std::string_view line, const Columns& columns) {
  for (std::size_t open = line.find('['); open != kNone; open = line.find('[', open + 1)) {
    Cursor at(line.substr(open + 1));
    Task task;
    if (!at.takes("~%]", task.pid) || !at.skip_blanks()) continue;
    std::size_t column = 0;
    std::int64_t value = 0;
    for (; column < columns.count && at.decimal(value) == Number::ok && at.skip_blanks(); ++column) {
      if (column == columns.total_vm) task.total_vm = value;
      if (column == columns.rss) task.rss = value;
      if (column == columns.swap) task.swap = value;
    }
    if (column < columns.count) continue;
    task.name = trim(at.rest());
    if (task.name.empty() || task.total_vm < 0 || task.rss < 0 || task.swap < 0) continue;
    return task;
  }
  return std::nullopt;
}

struct Killed {
  std::int64_t pid = 0;
  std::string name;
  std::int64_t rss = 0;  ///< bytes, 0 where the line does not say it
};

/// "Memory cgroup out of memory: Killed process 1234 (python) total-vm:493824kB, anon-rss:182712kB, file-rss:4kB, ..."
std::optional<Killed> killed_of(std::string_view line) {
  auto rest = behind(line, "Killed process ");
  if (!rest) rest = behind(line, "Kill process ");
  if (!rest) return std::nullopt;
  Cursor at(*rest);
  Killed out;
  if (!at.takes("%,?~", out.pid)) return std::nullopt;
  const std::string_view words = at.rest();
  const std::size_t close = words.find(')');
  if (has_prefix(words, "(") && close != kNone) out.name = words.substr(1, close - 1);
  const std::int64_t parts[] = {kib_behind(words, "anon-rss:"), kib_behind(words, "file-rss:"),
                                kib_behind(words, "shmem-rss:")};
  for (const std::int64_t part : parts) {
    if (!checked_add(out.rss, part, out.rss)) return std::nullopt;
  }
  return out;
}

class OomLog final : public ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (line.find(" invoked oom-killer:") != kNone) {
      close();
      note_time(line);
      limits_.clear();
      return;
    }
    if (const auto columns = columns_of(line)) {
      if (columns_) close();
      columns_ = *columns;
      return;
    }
    for (const std::string_view name : {"memory", "swap"}) limit(line, name);
    if (!columns_) return;
    if (const auto task = lines_.terminated() ? task_of(line, *columns_) : std::nullopt) {
      tasks_.push_back(*task);
    } else if (const auto killed = killed_of(line)) {
      // "Kill process" of older kernels precedes "Killed process", which says more.
      if (!killed_ || killed->rss > 0) killed_ = killed;
      if (killed->rss > 0) close();
    }
  }

  /// "memory: usage 524288kB, limit 524288kB, failcnt 120" of a cgroup.
  void limit(std::string_view line, std::string_view name) {
    const std::size_t found = line.find(std::string(name) + ": usage ");
    if (found == kNone || (found > 0 && line[found - 1] != ' ')) return;  // "memory+swap: usage"
    const std::string_view words = line.substr(found);
    if (words.find("kB, limit ") == kNone) return;
    limits_[std::string(name) + ".usage"] = kib_behind(words, ": usage ");
    const std::int64_t limit = kib_behind(words, ", limit ");
    if (limit < kNoLimit) limits_[std::string(name) + ".limit"] = limit;
  }

  void finish() override { close(); }

  /// Resident bytes of the killed task, as its line says them, over the pages of its row: exact, where the kernel
  /// counted both at one moment.
  std::int64_t page_bytes() const {
    if (!killed_ || killed_->rss == 0) return kUsualPage;
    for (const Task& task : tasks_) {
      if (task.pid != killed_->pid || task.rss == 0) continue;
      for (const std::int64_t page : {4096, 16384, 65536}) {
        const std::int64_t rss = killed_->rss / page;
        // It may have grown, or given pages back, between the two lines.
        if (rss >= task.rss - task.rss / 4 && rss <= task.rss + task.rss / 4) return page;
      }
    }
    return kUsualPage;
  }

  void close() {
    if (columns_ && !tasks_.empty()) give_report();
    columns_.reset();
    tasks_.clear();
    killed_.reset();
  }

  void give_report() {
    SnapshotBuilder builder;
    SnapshotFacts& facts = exact_facts(builder, "linux");
    facts.default_metric = "rss";
    facts.taken_at_ns = take_time();
    const std::int64_t page = page_bytes();
    for (const std::string_view column : {"rss", "swap", "virtual_size"})
      builder.add_column({std::string(column), "bytes"});
    builder.add_column({"tasks", "count"});
    for (const Task& task : tasks_) {
      const auto bytes = [&](std::int64_t pages) {
        return product_of(pages, page, "bytes of a task are", lines_.line_offset());
      };
      add_type_row(builder, task.name, {bytes(task.rss), bytes(task.swap), bytes(task.total_vm), 1});
    }
    for (const auto& [name, value] : limits_) facts.counters.push_back({name, value, "bytes", false, 0});
    if (killed_) {
      facts.notes.add(Severity::info,
                      "the kernel killed " + killed_->name + " (pid " + std::to_string(killed_->pid) + ")" +
                          (killed_->rss > 0 ? ", " + bytes_text(killed_->rss) + " resident" : std::string()));
    } else {
      facts.lose("the report does not say which task was killed", lines_.offset());
    }
    if (const auto limit = limits_.find("memory.limit"); limit != limits_.end())
      facts.notes.add(Severity::info, "the cgroup's limit is " + bytes_text(limit->second));
    limits_.clear();
    take_report(builder.finish());
  }

  std::optional<Columns> columns_;  // of the open table
  std::vector<Task> tasks_;
  std::optional<Killed> killed_;
  std::map<std::string, std::int64_t> limits_;  // precede the table
};

Match sniff_oom(std::string_view head) { return certain_if(any_line_of(head, columns_of)); }

std::string refuse_without_table(std::string_view head) {
  if (head.find(" invoked oom-killer:") == kNone) return {};
  return "not a heap profile: this is a kernel out-of-memory report without its table of tasks (vm.oom_dump_tasks)";
}

}  // namespace

constexpr Format kKernelOom{
    .info = {"kernel-oom", "out-of-memory reports of the Linux kernel (dmesg, journalctl -k)", "*.txt, *.log",
             "memory by zone and node, the call trace, users"},
    .sniff = sniff_oom,
    .decode =
        read_log<OomLog,
                 "no task table: the input ends, expected the kernel's \"[  pid  ]   uid  tgid total_vm      rss\"">,
    .refusal = refuse_without_table};

}  // namespace snapdiff::formats
