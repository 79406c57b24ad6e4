#include <set>

#include "formats/text/counter_log.hpp"
#include "formats/text/pattern.hpp"

namespace snapdiff::formats {
namespace {

/// Metrics of a process, in the order of the columns.
inline constexpr std::array<std::string_view, 4> kMetrics = {"rss", "virtual_size", "shared", "swap"};

/// ps, top, pidstat and free count KiB where no suffix stands.
inline constexpr std::uint64_t kKib = 1024;

/// A process, or what a tool lists in its stead.
struct Row {
  std::string key;   ///< tells it from all others of a moment: its pid, its whole name
  std::string name;  ///< its command
  std::array<std::optional<text::Quantity>, kMetrics.size()> values;
};

/// Longest name that is kept: a command line may have 128 KiB.
constexpr std::size_t kMostNameBytes = 256;

struct ColumnWord {
  std::string_view word;
  std::size_t metric;
};
/// Sources: procps src/ps/output.c and src/top/top.c; sysstat pidstat.c.
constexpr ColumnWord kColumnWords[] = {{"RSS", 0},  {"RES", 0},   {"rss", 0}, {"RSZ", 0}, {"VSZ", 1},  {"VSS", 1},
                                       {"VIRT", 1}, {"VSIZE", 1}, {"vsz", 1}, {"SHR", 2}, {"SWAP", 3}, {"Swap", 3}};

/// "19308", "1.2g", "345Mi", "12.5MiB"; `unit` where no suffix stands.
std::optional<text::Quantity> quantity_of(std::string_view cell, std::uint64_t unit) {
  text::Decimal number;
  const std::size_t end = text::parse_decimal(cell, 0, number);
  if (end == 0 || number.negative) return std::nullopt;
  const std::string_view suffix = cell.substr(end);
  if (!suffix.empty()) unit = text::size_unit(suffix.ends_with('i') ? suffix.substr(0, 1) : suffix, false);
  return unit == 0 ? std::nullopt : text::scale(number, unit);
}

/// Without a suffix a process counts whole pages.
std::optional<text::Quantity> size_of(std::string_view cell, std::uint64_t unit) {
  std::optional<text::Quantity> out = quantity_of(cell, unit);
  if (out && text::is_digit(cell.back()) && cell.find('.') == std::string_view::npos) out->half_unit = 0;
  return out;
}

constexpr std::string_view kNameWords = "COMMAND CMD Command ARGS COMM command cmd args ";

std::string name_of(std::string_view text) { return std::string(text.substr(0, kMostNameBytes)); }

/// The heading of a table of ps, top, pidstat, docker stats or kubectl top: where its columns are.
class Heading {
 public:
  /// Nothing where the line is none.
  static std::optional<Heading> of(std::string_view line) {
    // top colours its heading with blanks around it; pidstat -h has a "#".
    line = text::trim(line);
    if (line.starts_with('#')) line = text::trim(line.substr(1));
    if (line.find("MEM USAGE / LIMIT") != kNone) return of_containers(line);
    const std::vector<std::string_view> words = text::words_of_line(line);
    if (words.size() < 2) return std::nullopt;
    const auto is_there = [&](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (is_there("MEMORY(bytes)")) return of_pods(words);
    Heading out;
    out.columns_ = words.size();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "PID" || words[i] == "pid") out.pid_ = i;
      // A command may hold blanks: it is the last column; that of smem has numbers behind it.
      if (text::is_one_of(words[i], kNameWords) && (i + 1 == words.size() || is_there("PSS"))) out.name_ = i;
      for (const ColumnWord& known : kColumnWords) {
        if (words[i] == known.word && out.metric_column_[known.metric] == kNone) out.metric_column_[known.metric] = i;
      }
    }
    if (!out.has(0) || (out.pid_ == kNone && out.name_ == kNone)) return std::nullopt;
    out.tool_ = is_there("VIRT") || is_there("TIME+") ? "top"
                : is_there("majflt/s")                ? "pidstat"
                : is_there("PSS")                     ? "smem"
                                                      : "ps";
    return out;
  }

  std::string_view tool() const { return tool_; }
  /// The column that is judged: `rss`, of containers and pods `memory`.
  std::string_view first_metric() const { return is_of_processes_ ? kMetrics[0] : "memory"; }
  bool has(std::size_t metric) const { return metric_column_[metric] != kNone; }

  /// Nothing where the line does not fit.
  std::optional<Row> row(std::string_view line) const {
    if (columns_ == 0) return container(line);
    Row out;
    std::vector<std::string_view> cells;
    text::Cursor at(line);
    const bool has_rest = is_of_processes_ && name_ != kNone;
    for (at.skip_blanks(); !at.at_end() && (!has_rest || cells.size() < name_); at.skip_blanks())
      cells.push_back(at.token());
    if (has_rest) {
      if (cells.size() != name_ || at.at_end()) return std::nullopt;
      std::string_view rest = text::trim(at.rest());
      std::vector<std::string_view> behind(columns_ - 1 - name_);
      for (std::size_t i = behind.size(); i-- > 0;) {
        const std::size_t blank = rest.find_last_of(" \t");
        if (blank == kNone) return std::nullopt;
        behind[i] = rest.substr(blank + 1);
        rest = text::trim(rest.substr(0, blank));
      }
      out.name = name_of(rest);
      cells.push_back(rest);
      cells.insert(cells.end(), behind.begin(), behind.end());
    } else if (cells.size() != columns_) {
      return std::nullopt;
    }
    if (cells.front() == "Average:") return std::nullopt;
    for (std::size_t metric = 0; metric < kMetrics.size(); ++metric) {
      if (!has(metric)) continue;
      out.values[metric] = size_of(cells[metric_column_[metric]], kKib);
      if (!out.values[metric]) return std::nullopt;
    }
    if (!is_of_processes_) {
      for (std::size_t i = 0; i < name_; ++i) out.name.append(i == 0 ? "" : "/").append(cells[i]);
      out.key = out.name;
      return out;
    }
    if (pid_ != kNone) {
      if (!text::whole_number(cells[pid_])) return std::nullopt;
      out.key = cells[pid_];
      if (name_ == kNone) out.name = "pid " + out.key;
    } else {
      out.key = out.name;
    }
    return out;
  }

 private:
  static constexpr std::size_t kNone = std::string_view::npos;

  /// "CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %": cells begin below their words.
  static std::optional<Heading> of_containers(std::string_view line) {
    Heading out;
    out.tool_ = "docker stats";
    out.is_of_processes_ = false;
    out.name_ = line.find("NAME");
    out.metric_column_[0] = line.find("MEM USAGE / LIMIT");
    if (out.name_ == kNone) out.name_ = 0;  // versions before 17.06 have the id alone
    return out;
  }

  /// "NAMESPACE   NAME   CPU(cores)   MEMORY(bytes)": everything in front of the processor time is the name.
  static std::optional<Heading> of_pods(const std::vector<std::string_view>& words) {
    Heading out;
    out.tool_ = "kubectl top";
    out.is_of_processes_ = false;
    out.columns_ = words.size();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "CPU(cores)") out.name_ = i;
      if (words[i] == "MEMORY(bytes)") out.metric_column_[0] = i;
    }
    return out.name_ == kNone || out.name_ == 0 ? std::nullopt : std::optional(out);
  }

  std::optional<Row> container(std::string_view line) const {
    const std::size_t memory = metric_column_[0];
    if (line.size() <= std::max(memory, name_) || (memory > 0 && line[memory - 1] != ' ')) return std::nullopt;
    Row out;
    text::Cursor at(line.substr(memory));
    out.values[0] = size_of(at.token(), 0);
    at.skip_blanks();
    if (!out.values[0] || !at.take('/')) return std::nullopt;
    const std::string_view cell = line.substr(name_);
    out.name = out.key = name_of(cell.substr(0, cell.find(' ')));
    return out.name.empty() ? std::nullopt : std::optional(out);
  }

  std::string_view tool_;
  bool is_of_processes_ = true;
  std::size_t columns_ = 0;
  std::size_t pid_ = kNone, name_ = kNone;  // columns, of containers the byte where they begin
  std::array<std::size_t, kMetrics.size()> metric_column_ = {kNone, kNone, kNone, kNone};
};

using text::trim;

constexpr std::uint64_t kMib = 1024 * 1024;
/// KiB of the smallest machine that still runs Linux with a shell. A smaller total is printed in another unit.
constexpr std::int64_t kLeastTotalKib = 32 * 1024;

/// The counter that a whole cell gives, or nothing.
std::optional<Counter> counter_of(std::string name, std::string_view cell, std::uint64_t unit) {
  const std::optional<text::Quantity> value = quantity_of(cell, unit);
  if (!value) return std::nullopt;
  return Counter{std::move(name), value->value, "bytes", false, value->half_unit};
}

text::Quantity mebibytes(std::string_view number) {
  return text::parse_size(std::string(number) + " MiB").value_or(text::Quantity{});
}

/// Lines about the whole machine, or about one process without a name: free, top's summary, nvidia-smi,
/// psrecord, jstat -gc, vmstat.
class MachineLines {
 public:
  /// Counters and rows of a line. Both are empty for a line of another tool.
  struct Found {
    std::vector<Counter> counters = {};
    std::vector<Row> rows = {};  ///< processes of a GPU; their memory is the first value
    std::string_view tool;
    bool is_heading = false;  ///< nothing but the beginning of a table
  };

  Found read(std::string_view line) {
    const std::string_view text = trim(line);
    if (text.starts_with("# Elapsed time ") && text.find("Real (MB)") != std::string_view::npos) {
      in_record_ = true;
      return {.tool = "psrecord", .is_heading = true};
    }
    const std::vector<std::string_view> words = text::words_of_line(text);
    if (in_record_) {  // seconds, percent, resident and virtual mebibytes
      auto rss = words.size() == 4 ? counter_of("rss", words[2], kMib) : std::nullopt,
           size = rss ? counter_of("virtual_size", words[3], kMib) : std::nullopt;
      if (size) return {.counters = {*std::move(rss), *std::move(size)}, .tool = "psrecord"};
      in_record_ = false;
    }
    if (text.starts_with('|') || text.starts_with('+')) return gpu_line(text);
    const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    const bool is_jvm = has("EU") && has("OC") && has("OU");
    if (is_jvm || (has("swpd") && has("buff") && has("cache"))) {
      columns_.assign(words.begin(), words.end());
      parts_ = is_jvm ? std::span<const Part>(kJvmParts) : kMachineParts;
      return {.tool = is_jvm ? "jstat" : "vmstat", .is_heading = true};
    }
    if (!words.empty() && words.size() == columns_.size()) {
      if (Found out = line_of_columns(words); !out.counters.empty()) return out;
    }
    return free_line(text, words);
  }

 private:
  /// A column and the counter that it is added to.
  struct Part {
    std::string_view column, counter;
  };
  /// Of `jstat -gc`: capacity and use of both survivor spaces, eden, old space and metaspace, in KiB.
  static constexpr Part kJvmParts[] = {
      {"S0C", "heap_committed"}, {"S1C", "heap_committed"},     {"EC", "heap_committed"}, {"OC", "heap_committed"},
      {"S0U", "heap_used"},      {"S1U", "heap_used"},          {"EU", "heap_used"},      {"OU", "heap_used"},
      {"OU", "old_space_used"},  {"MC", "metaspace_committed"}, {"MU", "metaspace_used"}, {"PC", "permanent_committed"},
      {"PU", "permanent_used"}};
  /// Of `vmstat`, in KiB: -S, which changes that, leaves no trace in its output.
  static constexpr Part kMachineParts[] = {
      {"swpd", "swap.used"}, {"free", "mem.free"}, {"buff", "mem.buffers"}, {"cache", "mem.cache"}};

  /// A line of numbers below the heading of columns_.
  Found line_of_columns(const std::vector<std::string_view>& words) {
    Found out;
    for (const Part& part : parts_) {
      const auto column = std::find(columns_.begin(), columns_.end(), part.column);
      if (column == columns_.end()) continue;
      const std::string_view word = words[static_cast<std::size_t>(column - columns_.begin())];
      if (word == "-") continue;  // a collector without that space
      std::optional<Counter> value = counter_of(std::string(part.counter), word, kKib);
      if (!value || !text::is_digit(word.back())) return {};
      const auto is_it = [&](const Counter& one) { return one.name == value->name; };
      const auto sum = std::find_if(out.counters.begin(), out.counters.end(), is_it);
      if (sum == out.counters.end()) {
        out.counters.push_back(*std::move(value));
      } else if (!checked_add(sum->value, value->value, sum->value)) {
        return {};
      } else {
        sum->half_unit += value->half_unit;
      }
    }
    out.tool = parts_.data() == kJvmParts ? "jstat" : "vmstat";
    return out;
  }

  /// "total  used  free  shared  buff/cache  available" and "Mem:  24684096  2584612 ..." of free; "MiB Mem :  24105.6
  /// total,  12244.8 free, ..." of top.
  Found free_line(std::string_view text, const std::vector<std::string_view>& words) {
    Found out;
    if (words.size() >= 3 && words[0] == "total" && words[1] == "used" && words[2] == "free") {
      free_columns_.assign(words.begin(), words.end());
      return {.tool = "free", .is_heading = true};
    }
    const bool is_memory = text.starts_with("Mem:"), is_swap = text.starts_with("Swap:");
    if ((is_memory || is_swap) && words.size() >= 4 && words.size() <= free_columns_.size() + 1) {
      out.tool = "free";
      for (std::size_t i = 1; i < words.size(); ++i) {
        auto one = counter_of((is_memory ? "mem." : "swap.") + free_columns_[i - 1], words[i], kKib);
        if (!one) return {};
        out.counters.push_back(*std::move(one));
      }
      // Asked for with -m or -g it prints no unit.
      if (is_memory)
        has_unit_ = words[1].find_first_not_of("0123456789") != std::string_view::npos ||
                    out.counters[0].value / static_cast<std::int64_t>(kKib) >= kLeastTotalKib;
      for (Counter& one : out.counters) {
        if (has_unit_) continue;
        one.value /= static_cast<std::int64_t>(kKib);
        one.unit = "";
      }
      return out;
    }
    if (text.find("iB Mem") == 1) {
      const std::uint64_t unit = text::size_unit(text.substr(0, 3), false);
      const std::vector<std::string_view> parts = text::words_of_line(text::behind(text, ":").value_or(""));
      for (std::size_t i = 0; unit != 0 && i + 1 < parts.size(); i += 2) {
        const std::string_view name = parts[i + 1].substr(0, parts[i + 1].find(','));
        if (auto one = counter_of("mem." + std::string(name), parts[i], unit)) out.counters.push_back(*std::move(one));
      }
      out.tool = "top";
    }
    return out;
  }

  /// |   0  NVIDIA A100-SXM4-40GB          On  |   00000000:00:04.0 Off |                    0 |
  /// | N/A   34C    P0             43W /  400W |    1234MiB /  40960MiB |      0%      Default |
  /// |    0   N/A  N/A     12345      C   python                                       1226MiB |
  Found gpu_line(std::string_view text) {
    Found out;
    if (text.find("| NVIDIA-SMI ") != std::string_view::npos) {
      in_gpu_table_ = true;
      gpu_.clear();
      return {.tool = "nvidia-smi", .is_heading = true};
    }
    if (!in_gpu_table_ || !text.starts_with('|')) return out;
    // The columns for parts of a GPU are there since driver 450.
    static const text::Pattern kProcess(
        R"(^\|\s+(\d+)\s+(?:\S+\s+\S+\s+)?(\d+)\s+[A-Z+]+\s+(\S.*?)\s+(\d+)MiB\s*\|?$)"),
        kMemory(R"(\|\s*(\d+)MiB /\s*(\d+)MiB )");
    std::string_view gpu, pid, name, bytes, total;
    const bool has_size = text.find("MiB") != std::string_view::npos;
    if (has_size && kProcess.in(text, gpu, pid, name, bytes)) {
      out.tool = "nvidia-smi";
      Row& row = out.rows.emplace_back();
      row.key = std::string(gpu).append(" ").append(pid);
      row.name = name;
      row.values[0] = mebibytes(bytes);
    } else if (text::Integer number; text::reads(text, "|~% ", number)) {
      gpu_ = std::to_string(number.value);
    } else if (has_size && !gpu_.empty() && kMemory.in(text, bytes, total)) {
      out.tool = "nvidia-smi";
      for (const auto& [part, value] : {std::pair("used", mebibytes(bytes)), std::pair("total", mebibytes(total))})
        out.counters.push_back(
            {std::string("memory.") + part + "{gpu=" + gpu_ + "}", value.value, "bytes", false, value.half_unit});
    }
    return out;
  }

  std::vector<std::string> free_columns_, columns_;
  std::span<const Part> parts_;
  bool in_gpu_table_ = false, in_record_ = false, has_unit_ = true;
  std::string gpu_;  // of the row above
};

class TableLog final : public text::CounterLog {
  using CounterLog::CounterLog;

  void handle(std::string_view line) override {
    if (!lines_.terminated()) {
      cut_ = lines_.line_offset();
      return;
    }
    if (auto heading = Heading::of(line)) {
      if (has_rows()) close();
      heading_ = *std::move(heading);
      tool_ = heading_->tool();
      return;
    }
    MachineLines::Found found = machine_.read(line);
    if (found.is_heading) {
      // nvidia-smi begins a report with it, free, jstat and vmstat repeat it.
      if (found.tool == "nvidia-smi" || has_counter("mem.total")) close();
      heading_.reset();
      tool_ = found.tool;
      return;
    }
    if (!found.tool.empty()) {
      if (tool_.empty() || found.tool == "nvidia-smi") tool_ = found.tool;
      for (Counter& one : found.counters) put(std::move(one));
      for (Row& one : found.rows) add(std::move(one));
      return;
    }
    if (heading_) {
      if (auto row = heading_->row(line)) return add(*std::move(row));
    }
    if (text::find_time(line)) close();
    note_time(line);
  }

  bool has_rows() const override { return !rows_.empty(); }
  void before_close() override { moment().format_detail = tool_; }

  void add(Row row) {
    if (!keys_.insert(row.key).second) {
      close();
      keys_.insert(row.key);
    }
    rows_.push_back(std::move(row));
  }

  void add_rows(SnapshotBuilder& builder) override {
    const std::string_view first = heading_ ? heading_->first_metric() : "memory";  // of a GPU
    builder.facts().default_metric = first;
    std::vector<std::size_t> metrics;
    for (std::size_t i = 0; i < kMetrics.size(); ++i) {
      if (i > 0 && (!heading_ || !heading_->has(i))) continue;
      std::int64_t half = 0;
      for (const Row& row : rows_) half = std::max(half, row.values[i] ? row.values[i]->half_unit : 0);
      metrics.push_back(i);
      builder.add_column({std::string(i == 0 ? first : kMetrics[i]), "bytes"}, half);
    }
    builder.add_column({"tasks", "count"});
    std::vector<std::int64_t> values;
    for (const Row& row : rows_) {
      values.clear();
      for (const std::size_t metric : metrics) values.push_back(row.values[metric] ? row.values[metric]->value : 0);
      values.push_back(1);
      add_type_row(builder, row.name, values);
    }
    rows_.clear();
    keys_.clear();
  }

  void finish() override {
    close();
    if (cut_ && !out_.empty()) out_.last().lose("the last line has no end and was left out", *cut_);
  }

  std::optional<Heading> heading_;
  MachineLines machine_;
  std::string_view tool_;
  std::vector<Row> rows_;  // of the open moment
  std::set<std::string, std::less<>> keys_;
  std::optional<std::uint64_t> cut_;
};

/// A heading with a row below it.
Match sniff_table(std::string_view head) {
  std::optional<Heading> heading;
  MachineLines machine;
  bool has_heading = false;
  return certain_if(text::any_line_of(head, [&](std::string_view line) {
    if (auto found = Heading::of(line)) {
      heading = std::move(found);
      return false;
    }
    const MachineLines::Found found = machine.read(line);
    has_heading = has_heading || found.is_heading;
    if (has_heading && (!found.counters.empty() || !found.rows.empty())) return true;
    return heading && heading->row(line).has_value();
  }));
}

}  // namespace

constexpr Format kProcessTable{
    .info = {"process-table",
             "memory by process: ps, top, pidstat -r, docker stats, kubectl top, nvidia-smi, free, vmstat, psrecord, "
             "jstat -gc",
             "*.txt, *.log", "pids, users, processor time, power; times of day without a date"},
    .sniff = sniff_table,
    .decode = text::read_log<TableLog,
                             "no table: the input ends, expected one of ps, top, pidstat, docker stats, kubectl top, "
                             "nvidia-smi, free, psrecord, jstat -gc or vmstat">,
    .rank = -1};

}  // namespace snapdiff::formats
