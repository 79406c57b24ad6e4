#include "formats/proc_text/kernel_numbers.hpp"
#include "formats/text/counter_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace proc_text;
using namespace text;

/// Levels of a cgroup's memory.stat, versions 1 and 2, in bytes. Source: mm/memcontrol.c, memory_stats[] and
/// memcg1_stat_names[].
constexpr std::string_view kCgroupLevels =
    "active_anon active_file anon anon_thp cache dirty file file_dirty file_mapped file_thp "
    "file_writeback hierarchical_memory_limit hierarchical_memsw_limit hugetlb inactive_anon "
    "inactive_file kernel kernel_stack mapped_file pagetables percpu rss rss_huge sec_pagetables shmem "
    "shmem_thp slab slab_reclaimable slab_unreclaimable sock swap swapcached unevictable vmalloc "
    "writeback zswap zswapped ";

/// "VmRSS:	    4140 kB", "HugePages_Free:        0".
struct Field {
  std::string_view name;
  std::int64_t value = 0;
  bool kib = false;
};

std::optional<Field> field_of(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line.substr(0, colon).find(' ') != std::string_view::npos)
    return std::nullopt;
  Cursor at(line.substr(colon + 1));
  Field out{line.substr(0, colon), 0, false};
  if (!at.takes("~%", out.value)) return std::nullopt;
  const std::string_view unit = trim(at.rest());
  out.kib = unit == "kB";
  if ((!unit.empty() && !out.kib) || (out.kib && __builtin_mul_overflow(out.value, kKib, &out.value)))
    return std::nullopt;
  return out;
}

/// Of /proc/PID/status; the keys are its own. Peaks cannot shrink, so that they say nothing about a leak.
bool is_of_status(std::string_view name) {
  if (name == "VmPeak" || name == "VmHWM") return false;
  return has_prefix(name, "Vm") || has_prefix(name, "Rss") || name == "HugetlbPages";
}

/// "inactive_anon 126976"; of version 1 also "total_inactive_anon 126976".
std::optional<Field> cgroup_field_of(std::string_view line) {
  Field out;
  return given(reads(line, "% %$", out.name, out.value), out);
}

bool is_cgroup_level(std::string_view name) {
  if (has_prefix(name, "total_")) name.remove_prefix(6);
  return is_one_of(name, kCgroupLevels);
}

/// Events of a cgroup since it began. Source: mm/memcontrol.c, memcg_vm_event_stat[].
bool is_cgroup_event(std::string_view name) {
  if (has_prefix(name, "total_")) name.remove_prefix(6);
  constexpr std::string_view kBegins[] = {"pg",      "workingset_", "thp_",  "zswpin",
                                          "zswpout", "zswpwb",      "swpin", "swpout"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return has_prefix(name, begin); });
}

constexpr std::size_t kStatmFields = 7;
constexpr std::array<std::string_view, kStatmFields> kStatmNames = {"size", "resident", "shared", "text",
                                                                    "",     "data",     ""};

/// "1614 1035 785 3 0 295 0": size, resident, shared, text, lib (0), data, dt (0), in pages.
std::optional<std::array<std::int64_t, kStatmFields>> statm_of(std::string_view line) {
  std::array<std::int64_t, kStatmFields> out{};
  return given(reads(line, "% % % % % % %$", out[0], out[1], out[2], out[3], out[4], out[5], out[6]) &&
                   out[0] >= out[1] && out[1] >= out[2] && out[4] == 0 && out[6] == 0,
               out);
}

class MemoryLog final : public CounterLog {
  using CounterLog::CounterLog;

  void handle(std::string_view line) override {
    if (leaves_out_line()) return;
    if (has_prefix(line, "Name:\t")) {
      close();
      moment().command_line = trim(line.substr(6));
      return;
    }
    const std::optional<Field> field = field_of(line);
    if (field) return add(*field);
    in_meminfo_ = false;
    if (const std::optional<Field> level = cgroup_field_of(line)) {
      if (is_cgroup_level(level->name)) {
        if (level->value >= kNoLimit) return;
        set(level->name, level->value);
        return is("memory.stat");
      }
      if (is_cgroup_event(level->name)) return set_total(level->name, level->value);
    }
    if (const auto pages = statm_of(line)) {
      for (std::size_t i = 0; i < kStatmFields; ++i) {
        if (!kStatmNames[i].empty()) set(kStatmNames[i], (*pages)[i], "pages");
      }
      return is("statm");
    }
    note_time(line);
  }

  void add(const Field& field) {
    if (field.name == "MemTotal") in_meminfo_ = true;
    if (is_of_status(field.name) && field.kib && !in_meminfo_) {
      set(field.name, field.value);
      is("status");
    } else if (field.name == "Threads" && is_open()) {
      set(field.name, field.value, "count");
    } else if (field.name == "Pid" && is_open()) {
      moment().pid = field.value;
    } else if (in_meminfo_) {
      set(field.name, field.value, field.kib ? "bytes" : "count");
      is("meminfo");
    }
  }

  void is(std::string_view detail) {
    if (moment().format_detail.empty()) moment().format_detail = detail;
  }

  bool in_meminfo_ = false;
};

Match sniff_memory(std::string_view head) {
  const std::string plain = plain_head(head);
  std::string_view rest = plain, line;
  bool rss = false, size = false, total = false, free = false, anon = false, file = false, statm = true;
  while (take_line(rest, line)) {
    rss = rss || has_prefix(line, "VmRSS:\t");
    size = size || has_prefix(line, "VmSize:\t");
    total = total || has_prefix(line, "MemTotal: ");
    free = free || has_prefix(line, "MemFree: ");
    anon = anon || (has_prefix(line, "inactive_anon ") && cgroup_field_of(line));
    file = file || (has_prefix(line, "active_file ") && cgroup_field_of(line));
    statm = statm && statm_of(line).has_value();
  }
  if ((rss && size) || (total && free) || (anon && file)) return Match::certain;
  return statm && !plain.empty() ? Match::possible : Match::no;
}

}  // namespace

constexpr Format kProcMemory{
    .info = {"proc-memory", "memory counters of Linux: /proc/PID/status, statm, meminfo, memory.stat",
             "status, meminfo, memory.stat, *.txt", "peaks, lines that count no memory"},
    .sniff = sniff_memory,
    .decode = read_log<MemoryLog,
                       "no counters: the input ends, expected lines of /proc/PID/status (VmRSS:), /proc/meminfo "
                       "(MemTotal:) or memory.stat (inactive_anon)">};

}  // namespace snapdiff::formats
