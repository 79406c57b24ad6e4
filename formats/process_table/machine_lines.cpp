#include "formats/process_table/machine_lines.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/text/scan.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats::process_table {
namespace {

using text::Cursor;
using text::trim;

constexpr std::uint64_t kMib = 1024 * 1024;
/// KiB of the smallest machine that still runs Linux with a shell. A smaller total is printed in another unit.
constexpr std::int64_t kLeastTotalKib = 32 * 1024;

/// A number and where it ends; nothing where `text` begins otherwise.
std::optional<text::Decimal> decimal_of(std::string_view text, std::size_t& end) {
  text::Decimal out;
  end = text::parse_decimal(text, 0, out);
  return end == 0 || out.negative ? std::nullopt : std::optional(out);
}

std::optional<Counter> counter_of(std::string name, const text::Decimal& number, std::uint64_t unit) {
  const std::optional<text::Quantity> value = text::scale(number, unit);
  if (!value) return std::nullopt;
  return Counter{std::move(name), value->value, "bytes", false, value->half_unit};
}

/// "1234MiB" at the cursor.
std::optional<text::Quantity> mebibytes(Cursor& at) {
  at.skip_blanks();
  const std::string_view cell = at.token();
  return cell.ends_with("MiB") ? text::parse_size(std::string(cell.substr(0, cell.size() - 3)) + " MiB") : std::nullopt;
}

}  // namespace

MachineLines::Found MachineLines::read(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.starts_with("# Elapsed time ") && text.find("Real (MB)") != std::string_view::npos) {
    in_record_ = true;
    Found out;
    out.tool = "psrecord";
    out.is_heading = true;
    return out;
  }
  const std::vector<std::string_view> words = words_of(text);
  if (in_record_) {  // seconds, percent, resident and virtual mebibytes
    Found out;
    std::size_t end = 0;
    if (words.size() == 4) {
      const auto rss = decimal_of(words[2], end), size = decimal_of(words[3], end);
      if (rss && size && end == words[3].size()) {
        if (auto one = counter_of("rss", *rss, kMib)) out.counters.push_back(*std::move(one));
        if (auto one = counter_of("virtual_size", *size, kMib)) out.counters.push_back(*std::move(one));
        out.tool = "psrecord";
        return out;
      }
    }
    in_record_ = false;
  }
  if (text.starts_with('|') || text.starts_with('+')) return gpu_line(text);
  const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  if (has("EU") && has("OC") && has("OU")) {
    jvm_columns_.assign(words.begin(), words.end());
    Found out;
    out.tool = "jstat";
    out.is_heading = true;
    return out;
  }
  if (!words.empty() && words.size() == jvm_columns_.size()) {
    if (Found out = jvm_line(words); !out.counters.empty()) return out;
  }
  return free_line(text, words);
}

/// " S0C    S1C    S0U    S1U      EC       EU        OC         OU       MC     MU    CCSC   CCSU   YGC     YGCT ..."
/// and a line of numbers for each moment: capacity and use of both survivor spaces, eden, old space and metaspace, in
/// KiB.
MachineLines::Found MachineLines::jvm_line(const std::vector<std::string_view>& words) {
  struct Part {
    std::string_view column, counter;
  };
  constexpr Part kParts[] = {{"S0C", "heap_committed"},     {"S1C", "heap_committed"}, {"EC", "heap_committed"},
                             {"OC", "heap_committed"},      {"S0U", "heap_used"},      {"S1U", "heap_used"},
                             {"EU", "heap_used"},           {"OU", "heap_used"},       {"OU", "old_space_used"},
                             {"MC", "metaspace_committed"}, {"MU", "metaspace_used"},  {"PC", "permanent_committed"},
                             {"PU", "permanent_used"}};
  Found out;
  for (const Part& part : kParts) {
    const auto column = std::find(jvm_columns_.begin(), jvm_columns_.end(), part.column);
    if (column == jvm_columns_.end()) continue;
    const std::string_view word = words[static_cast<std::size_t>(column - jvm_columns_.begin())];
    if (word == "-") continue;  // a collector without that space
    std::size_t end = 0;
    const auto number = decimal_of(word, end);
    if (!number || end != word.size()) return {};
    std::optional<Counter> value = counter_of(std::string(part.counter), *number, kKib);
    if (!value) return {};
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
  out.tool = "jstat";
  return out;
}

/// "total  used  free  shared  buff/cache  available" and "Mem:  24684096  2584612 ..." of free; "MiB Mem :  24105.6
/// total,  12244.8 free, ..." of top.
MachineLines::Found MachineLines::free_line(std::string_view text, const std::vector<std::string_view>& words) {
  Found out;
  if (words.size() >= 3 && words[0] == "total" && words[1] == "used" && words[2] == "free") {
    free_columns_.assign(words.begin(), words.end());
    out.tool = "free";
    out.is_heading = true;
    return out;
  }
  const bool is_memory = text.starts_with("Mem:"), is_swap = text.starts_with("Swap:");
  if ((is_memory || is_swap) && words.size() >= 4 && words.size() <= free_columns_.size() + 1) {
    out.tool = "free";
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::size_t end = 0;
      const auto number = decimal_of(words[i], end);
      if (!number) return {};
      const std::string_view suffix = words[i].substr(end);
      std::uint64_t unit =
          suffix.empty() ? kKib : text::size_unit(suffix.ends_with('i') ? suffix.substr(0, 1) : suffix, false);
      auto one =
          unit == 0 ? std::nullopt : counter_of((is_memory ? "mem." : "swap.") + free_columns_[i - 1], *number, unit);
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
  const std::size_t at = text.find("iB Mem");
  if (at == 1) {
    const std::uint64_t unit = text::size_unit(text.substr(0, 3), false);
    std::string_view rest = text.substr(text.find(':') == std::string_view::npos ? text.size() : text.find(':') + 1);
    while (unit != 0 && !rest.empty()) {
      Cursor part(rest.substr(0, rest.find(',')));
      rest = rest.find(',') == std::string_view::npos ? std::string_view{} : rest.substr(rest.find(',') + 1);
      part.skip_blanks();
      std::size_t end = 0;
      const auto number = decimal_of(part.token(), end);
      part.skip_blanks();
      if (!number) break;
      if (auto one = counter_of("mem." + std::string(trim(part.rest())), *number, unit))
        out.counters.push_back(*std::move(one));
    }
    out.tool = "top";
  }
  return out;
}

/// |   0  NVIDIA A100-SXM4-40GB          On  |   00000000:00:04.0 Off |                    0 |
/// | N/A   34C    P0             43W /  400W |    1234MiB /  40960MiB |      0%      Default |
/// |    0   N/A  N/A     12345      C   python                                       1226MiB |
MachineLines::Found MachineLines::gpu_line(std::string_view text) {
  Found out;
  if (text.find("| NVIDIA-SMI ") != std::string_view::npos) {
    in_gpu_table_ = true;
    gpu_.clear();
    out.tool = "nvidia-smi";
    out.is_heading = true;
    return out;
  }
  if (!in_gpu_table_ || !text.starts_with('|')) return out;
  Cursor at(text.substr(1));
  at.skip_blanks();
  std::int64_t number = 0;
  const bool has_number = at.count(number) && (at.at_end() || text::is_blank(at.peek()));
  const std::size_t slash = text.find("MiB / ");
  if (!has_number && slash != std::string_view::npos && !gpu_.empty()) {
    const std::size_t bar = text.rfind('|', slash);
    Cursor cell(text.substr(bar + 1));
    const auto used = mebibytes(cell);
    cell.skip_blanks();
    cell.take('/');
    const auto total = mebibytes(cell);
    if (!used || !total) return out;
    out.tool = "nvidia-smi";
    out.counters.push_back({"memory.used{gpu=" + gpu_ + "}", used->value, "bytes", false, used->half_unit});
    out.counters.push_back({"memory.total{gpu=" + gpu_ + "}", total->value, "bytes", false, total->half_unit});
    return out;
  }
  if (!has_number) return out;
  const std::vector<std::string_view> words = words_of(text.substr(1, text.size() > 1 ? text.size() - 2 : 0));
  if (words.size() < 2 || !words.back().ends_with("MiB")) {
    gpu_ = std::to_string(number);
    return out;
  }
  // The columns for parts of a GPU are there since driver 450.
  std::size_t pid = words.size() > 4 && words[1] == "N/A" ? 3 : 1;
  if (pid == 1 && words.size() > 5 && text::whole_number(words[3]) && !text::whole_number(words[2])) pid = 3;
  if (words.size() < pid + 4 || !text::whole_number(words[pid])) return out;
  Row row;
  for (std::size_t i = pid + 2; i + 1 < words.size(); ++i)
    row.name.append(row.name.empty() ? "" : " ").append(words[i]);
  row.key = std::to_string(number) + ' ' + std::string(words[pid]);
  row.values[0] = text::parse_size(std::string(words.back().substr(0, words.back().size() - 3)) + " MiB");
  if (row.values[0]) out.rows.push_back(std::move(row));
  out.tool = "nvidia-smi";
  return out;
}

}  // namespace snapdiff::formats::process_table
