#include "formats/proc_text/kernel_numbers.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace proc_text;
using namespace text;

struct AreaField {
  std::string_view key;     ///< as the kernel prints it
  std::string_view metric;  ///< as the column and the counter are called
};
/// Columns of smaps and counters of smaps_rollup, in the order of the kernel. Source: fs/proc/task_mmu.c.
constexpr AreaField kFields[] = {{"Rss", "rss"},
                                 {"Pss", "pss"},
                                 {"Shared_Clean", "shared_clean"},
                                 {"Shared_Dirty", "shared_dirty"},
                                 {"Private_Clean", "private_clean"},
                                 {"Private_Dirty", "private_dirty"},
                                 {"Anonymous", "anonymous"},
                                 {"Swap", "swap"},
                                 {"Size", "virtual_size"}};
constexpr std::size_t kFieldCount = std::size(kFields);
constexpr std::size_t kRss = 0, kPss = 1, kFirstPart = 2, kLastPart = 5, kSize = kFieldCount - 1;

/// "559895035000-559895037000 r--p 00000000 fe:00 247498   /usr/bin/head"
struct Area {
  std::uint64_t begin = 0, end = 0;
  std::string_view permissions;
  std::string_view path;
};

std::optional<Area> area_of(std::string_view line) {
  Cursor at(line);
  Area out;
  std::uint64_t offset = 0;
  std::string_view device, inode;
  if (!at.takes("%-% % % % %", out.begin, out.end, out.permissions, offset, device, inode) ||
      out.permissions.size() != 4 || out.permissions.find_first_not_of("rwxps-") != std::string_view::npos ||
      device.find(':') == std::string_view::npos)
    return std::nullopt;
  out.path = trim(at.rest());
  return out;
}

/// "00007f1c2c000000   65536   65000   65000 rw---   [ anon ]" of pmap -x: address, size, resident and dirty KiB.
struct PmapLine {
  Area area;
  std::int64_t size = 0, rss = 0;
};

std::optional<PmapLine> pmap_line_of(std::string_view line) {
  Cursor at(line);
  PmapLine out;
  std::int64_t kib[3] = {};  // size, resident, dirty
  if (!at.takes("%~%~%~%~%", out.area.begin, kib[0], kib[1], kib[2], out.area.permissions) ||
      out.area.permissions.size() != 5 || out.area.permissions.find_first_not_of("rwxsR-") != std::string_view::npos)
    return std::nullopt;
  if (__builtin_mul_overflow(kib[0], kKib, &out.size) || __builtin_mul_overflow(kib[1], kKib, &out.rss))
    return std::nullopt;
  out.area.end = out.area.begin + static_cast<std::uint64_t>(out.size);
  out.area.path = trim(at.rest());
  if (out.area.path == "[ anon ]") out.area.path = {};
  if (out.area.path == "[ stack ]") out.area.path = "[stack]";
  return out;
}

struct MappedArea {
  std::uint64_t begin = 0, end = 0;
  bool is_guard = false;  ///< nothing may be read or written
  std::string path;
  std::array<std::int64_t, kFieldCount> values{};
  std::uint32_t fields = 0;  ///< that were read
};

/// How a mapping is called, and its kind.
struct AreaName {
  std::string_view name, kind;
};

/// Memory arenas of glibc begin at a multiple of this, HEAP_MAX_SIZE on 64 bits (malloc/arena.c).
constexpr std::uint64_t kArenaBytes = std::uint64_t{64} << 20;
/// How far below [stack] mmap() places mappings that ask for no address: 28 bits of pages by randomization, and the
/// process's own. Heaps of Go and of the JVM, which are aligned alike, ask for low addresses.
constexpr std::uint64_t kMmapBytes = std::uint64_t{2} << 40;
/// The largest page of Linux's machines: the guard below a stack of pthread_create() is one page.
constexpr std::uint64_t kMostGuardBytes = std::uint64_t{64} << 10;

bool is_device(std::string_view path) {
  return has_prefix(path, "/dev/nvidia") || has_prefix(path, "/dev/dri/") || has_prefix(path, "/dev/kfd");
}

bool is_shared_memory(std::string_view path) {
  return has_prefix(path, "/dev/shm/") || has_prefix(path, "/dev/zero") || has_prefix(path, "/memfd:") ||
         has_prefix(path, "/SYSV") || has_prefix(path, "[anon_shmem:");
}

/// `before` and `after` are the neighbours, null where there are none; `stack` is where [stack] begins, 0 without one.
AreaName name_of(const MappedArea& area, const MappedArea* before, const MappedArea* after, std::uint64_t stack) {
  const std::string_view path = area.path;
  const auto is_anonymous = [](const MappedArea* one) { return one != nullptr && one->path.empty(); };
  if (path == "[heap]") return {path, "heap"};
  if (path == "[stack]") return {path, "stack"};
  if (has_prefix(path, "[stack:")) return {"[thread stack]", "stack"};
  if (path == "[vdso]" || path == "[vvar]" || path == "[vsyscall]" || path == "[vvar_vclock]") return {path, "kernel"};
  if (is_shared_memory(path)) return {path, "shared memory"};
  if (has_prefix(path, "[")) return {path, "anonymous"};
  if (is_device(path)) return {path, "device"};
  if (!path.empty()) return {path, "file"};
  const bool has_tail = is_anonymous(after) && after->is_guard && after->begin == area.end;
  const std::uint64_t end = has_tail ? after->end : area.end;
  const bool is_near_stack = area.begin < stack && stack - area.begin < kMmapBytes;
  if (!area.is_guard && area.begin % kArenaBytes == 0 && end - area.begin == kArenaBytes && is_near_stack)
    return {"[glibc arena]", "heap"};
  if (!area.is_guard && is_anonymous(before) && before->is_guard && before->end == area.begin &&
      before->end - before->begin <= kMostGuardBytes)
    return {"[thread stack]", "stack"};
  return {"[anonymous]", "anonymous"};
}

class SmapsLog final : public ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (const std::optional<Area> area = area_of(line)) return begin(*area);
    if (const std::optional<PmapLine> pmap = pmap_line_of(line)) {
      if (!lines_.terminated()) return lose("the last mapping is cut");
      begin(pmap->area);
      is_pmap_ = true;
      set(kRss, pmap->rss);
      return set(kSize, pmap->size);
    }
    if (!is_open()) return note_time(line);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = line.substr(0, colon);
    for (std::size_t i = 0; i < kFieldCount; ++i) {
      if (key == kFields[i].key) return read(i, line.substr(colon + 1));
    }
  }

  void read(std::size_t field, std::string_view cell) {
    Cursor at(cell);
    std::int64_t value = 0;
    const bool whole = lines_.terminated() && take_kib(at, value) && at.at_end();
    if (!whole) return lose("fields of mappings that could not be read, left out");
    set(field, value);
  }

  void set(std::size_t field, std::int64_t value) {
    areas_.back().values[field] = value;
    ++areas_.back().fields;
    known_[field] = true;
  }

  bool is_open() const { return !areas_.empty(); }

  /// Addresses rise within a process: one that does not begins the next moment.
  void begin(const Area& area) {
    if (is_open() && (area.begin < areas_.back().end || is_rollup_)) close();
    if (!is_open()) open_report("");
    is_rollup_ = area.path == "[rollup]";
    std::string_view path = area.path;
    constexpr std::string_view kDeleted = " (deleted)";
    if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
    areas_.push_back({area.begin, area.end, has_prefix(area.permissions, "---"), std::string(path), {}, 0});
  }

  void finish() override {
    if (!is_open()) return;
    if (!lines_.terminated() || areas_.back().fields < areas_.front().fields) lose("the last mapping is cut");
    close();
  }

  void close() {
    SnapshotBuilder& builder = *report_;
    SnapshotFacts& facts = builder.facts();
    facts.taken_at_ns = take_time();
    facts.format_detail = is_rollup_ ? "smaps_rollup" : is_pmap_ ? "pmap -x" : "smaps";
    const std::array<std::int64_t, kFieldCount> sum = sums();
    for (std::size_t i = 0; i < kFieldCount; ++i) {
      if (known_[i] && (i != kSize || !is_rollup_))
        facts.counters.push_back({std::string(kFields[i].metric), sum[i], "bytes", false, half_unit(i)});
    }
    if (!is_rollup_) add_rows(builder);
    if (sum[kRss] == 0)
      builder.notes().add(Severity::info, "no mapping is resident: a kernel thread, or no right to see its pages");
    give_report();
    areas_.clear();
    is_pmap_ = false;
    known_ = {};
  }

  std::array<std::int64_t, kFieldCount> sums() const {
    std::array<std::int64_t, kFieldCount> out{};
    for (const MappedArea& area : areas_) {
      for (std::size_t i = 0; i < kFieldCount; ++i)
        add_to(out[i], area.values[i], "sum over the mappings is", lines_.line_offset());
    }
    return out;
  }

  /// The kernel cuts a mapping's share of a page to whole KiB; everything else counts whole pages.
  std::int64_t half_unit(std::size_t field) const {
    return field == kPss ? static_cast<std::int64_t>(areas_.size()) * kKib / 2 : 0;
  }

  void add_rows(SnapshotBuilder& builder) {
    builder.facts().default_metric = kFields[kRss].metric;
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < kFieldCount; ++i) {
      if (!known_[i]) continue;
      columns.push_back(i);
      builder.add_column({std::string(kFields[i].metric), "bytes"}, i == kPss ? kKib / 2 : 0);
    }
    std::uint64_t broken = 0;
    std::vector<std::int64_t> values(columns.size());
    std::uint64_t stack = 0;
    for (const MappedArea& area : areas_) stack = area.path == "[stack]" ? area.begin : stack;
    for (std::size_t i = 0; i < areas_.size(); ++i) {
      const MappedArea& area = areas_[i];
      const MappedArea* const after = i + 1 == areas_.size() ? nullptr : &areas_[i + 1];
      const AreaName name = name_of(area, i == 0 ? nullptr : &areas_[i - 1], after, stack);
      for (std::size_t c = 0; c < columns.size(); ++c) values[c] = area.values[columns[c]];
      const FrameId frame = builder.frame({.function = builder.function(name.name)});
      builder.add_row(builder.stack(std::span(&frame, 1)), builder.labels({text_label(builder, "type", name.kind)}),
                      values);
      broken += parts_differ(area) ? 1U : 0U;
    }
    if (broken > 0)
      builder.notes().add(Severity::warning, "mappings whose Rss is not the sum of its clean and dirty parts",
                          std::nullopt, broken);
  }

  bool parts_differ(const MappedArea& area) const {
    std::int64_t parts = 0;
    for (std::size_t i = kFirstPart; i <= kLastPart; ++i) {
      if (!known_[i] || !checked_add(parts, area.values[i], parts)) return false;
    }
    return known_[kRss] && parts != area.values[kRss];
  }

  std::vector<MappedArea> areas_;  // of the open moment
  bool is_rollup_ = false, is_pmap_ = false;
  std::array<bool, kFieldCount> known_{};
};

/// A mapping with its first field below it: "Size:", in smaps_rollup "Rss:". Of pmap -x two mappings.
Match sniff_smaps(std::string_view head) {
  bool is_below_area = false;
  std::size_t of_pmap = 0;
  return certain_if(any_line_of(head, [&](std::string_view line) {
    of_pmap += pmap_line_of(line) ? 1U : 0U;
    if (of_pmap == 2) return true;
    const bool found = is_below_area && (has_prefix(line, "Size:  ") || has_prefix(line, "Rss:  "));
    is_below_area = area_of(line).has_value();
    return found;
  }));
}

}  // namespace

constexpr Format kProcSmaps{
    .info = {"proc-smaps", "memory map of a Linux process: /proc/PID/smaps, smaps_rollup, pmap -x",
             "smaps, smaps_rollup, *.txt", "addresses, permissions, huge pages, VmFlags"},
    .sniff = sniff_smaps,
    .decode =
        read_log<SmapsLog,
                 "no mapping: the input ends, expected \"START-END PERMISSIONS OFFSET DEVICE INODE\" and \"Rss:\"">};

}  // namespace snapdiff::formats
