#include "formats/text/counter_log.hpp"

namespace snapdiff::formats {
namespace {

struct Stats {
  std::int64_t in_use = 0, blocks = 0, allocated = 0;
};

/// Stats { allocations: 986, deallocations: 680, reallocations: 12, bytes_allocated: 1420299, bytes_deallocated:
/// 1131993, bytes_reallocated: 4032 }
std::optional<Stats> stats_of(std::string_view line) {
  const std::size_t found = line.find("Stats { allocations: ");
  if (found == std::string_view::npos) return std::nullopt;
  line.remove_prefix(found);
  const auto member = [line](std::string_view name) { return text::number_of(line, name, {": %"}); };
  const auto made = member("allocations"), freed = member("deallocations"), bytes_made = member("bytes_allocated"),
             bytes_freed = member("bytes_deallocated"), moved = member("bytes_reallocated");
  if (!made || !freed || !bytes_made || !bytes_freed || !moved || line.find('}') == std::string_view::npos)
    return std::nullopt;
  Stats out;
  out.allocated = *bytes_made;
  // realloc() added or took the rest.
  if (!checked_sub(*made, *freed, out.blocks) || !checked_sub(*bytes_made, *bytes_freed, out.in_use) ||
      !checked_add(out.in_use, *moved, out.in_use))
    return std::nullopt;
  return out;
}

class StatsLog final : public text::CounterLog {
  using CounterLog::CounterLog;

  void handle(std::string_view line) override {
    const std::optional<Stats> stats = stats_of(line);
    if (!stats && !lines_.terminated() && is_open())
      moment().lose("the last line is cut and was left out", lines_.line_offset());
    note_time(line);
    if (!stats) return;
    set("in_use", stats->in_use);
    set("blocks_in_use", stats->blocks, "count");
    put({"allocated", stats->allocated, "bytes", true, 0});
    moment().producer = "stats_alloc";
  }
};

}  // namespace

constexpr Format kRustTotals = text::log_format<
    StatsLog, stats_of, "no totals: the input ends, expected \"Stats { allocations: N, … }\" of stats_alloc">(
    {"stats-alloc", "totals of Rust's stats_alloc as its Debug output prints them", "*.log, *.txt", "counts of calls"});

}  // namespace snapdiff::formats
