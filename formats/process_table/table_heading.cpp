#include "formats/process_table/table_heading.hpp"

#include <algorithm>
#include <iterator>

#include "formats/text/scan.hpp"

namespace snapdiff::formats::process_table {
namespace {

/// Longest name that is kept: a command line may have 128 KiB.
constexpr std::size_t kMostNameBytes = 256;

struct ColumnWord {
  std::string_view word;
  std::size_t metric;
};
/// Sources: procps src/ps/output.c and src/top/top.c; sysstat pidstat.c.
constexpr ColumnWord kColumnWords[] = {{"RSS", 0},  {"RES", 0},   {"rss", 0}, {"RSZ", 0}, {"VSZ", 1}, {"VSS", 1},
                                       {"VIRT", 1}, {"VSIZE", 1}, {"vsz", 1}, {"SHR", 2}, {"SWAP", 3}};

/// "19308", "1.2g", "345Mi", "12.5MiB"; `unit` where no suffix stands.
std::optional<text::Quantity> size_of(std::string_view cell, std::uint64_t unit) {
  text::Decimal number;
  const std::size_t end = text::parse_decimal(cell, 0, number);
  if (end == 0 || number.negative) return std::nullopt;
  const std::string_view suffix = cell.substr(end);
  if (!suffix.empty()) unit = text::size_unit(suffix.ends_with('i') ? suffix.substr(0, 1) : suffix, false);
  std::optional<text::Quantity> out = unit == 0 ? std::nullopt : text::scale(number, unit);
  // Without a suffix it counts whole pages.
  if (out && suffix.empty() && !number.has_point) out->half_unit = 0;
  return out;
}

bool is_name_word(std::string_view word) {
  constexpr std::string_view kNames[] = {"COMMAND", "CMD", "Command", "ARGS", "COMM", "command", "cmd", "args"};
  return std::find(std::begin(kNames), std::end(kNames), word) != std::end(kNames);
}

std::string name_of(std::string_view text) { return std::string(text.substr(0, kMostNameBytes)); }

}  // namespace

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  text::Cursor at(line);
  for (at.skip_blanks(); !at.at_end(); at.skip_blanks()) out.push_back(at.token());
  return out;
}

std::optional<Heading> Heading::of(std::string_view line) {
  // top colours its heading with blanks around it; pidstat -h has a "#".
  line = text::trim(line);
  if (line.starts_with('#')) line = text::trim(line.substr(1));
  if (line.find("MEM USAGE / LIMIT") != kNone) return of_containers(line);
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 2) return std::nullopt;
  if (std::find(words.begin(), words.end(), "MEMORY(bytes)") != words.end()) return of_pods(words);
  Heading out;
  out.columns_ = words.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "PID" || words[i] == "pid") out.pid_ = i;
    if (is_name_word(words[i]) && i + 1 == words.size()) out.name_ = i;
    for (const ColumnWord& known : kColumnWords) {
      if (words[i] == known.word && out.metric_column_[known.metric] == kNone) out.metric_column_[known.metric] = i;
    }
  }
  if (!out.has(0) || (out.pid_ == kNone && out.name_ == kNone)) return std::nullopt;
  const auto is_there = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  out.tool_ = is_there("VIRT") || is_there("TIME+") ? "top" : is_there("majflt/s") ? "pidstat" : "ps";
  return out;
}

/// "CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %": cells begin below their words.
std::optional<Heading> Heading::of_containers(std::string_view line) {
  Heading out;
  out.tool_ = "docker stats";
  out.is_of_processes_ = false;
  out.name_ = line.find("NAME");
  out.metric_column_[0] = line.find("MEM USAGE / LIMIT");
  if (out.name_ == kNone) out.name_ = 0;  // versions before 17.06 have the id alone
  return out;
}

/// "NAMESPACE   NAME   CPU(cores)   MEMORY(bytes)": everything in front of the processor time is the name.
std::optional<Heading> Heading::of_pods(const std::vector<std::string_view>& words) {
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

std::optional<Row> Heading::container(std::string_view line) const {
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

std::optional<Row> Heading::row(std::string_view line) const {
  if (columns_ == 0) return container(line);
  Row out;
  std::vector<std::string_view> cells;
  text::Cursor at(line);
  const bool has_rest = is_of_processes_ && name_ != kNone;
  for (at.skip_blanks(); !at.at_end() && (!has_rest || cells.size() < name_); at.skip_blanks())
    cells.push_back(at.token());
  if (has_rest) {
    if (cells.size() != name_ || at.at_end()) return std::nullopt;
    out.name = name_of(text::trim(at.rest()));
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

}  // namespace snapdiff::formats::process_table
