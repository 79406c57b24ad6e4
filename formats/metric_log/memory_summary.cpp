#include "formats/metric_log/log_session.hpp"

/// Tables of torch.cuda.memory_summary() (torch/cuda/memory.py). Counters have the names that
/// memory_stats() gives the same numbers, and the tag `device`.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::string_view kHeading = "PyTorch CUDA memory summary, device ID";
constexpr std::array<std::string_view, 4> kSummaryStats = {"current", "peak", "allocated", "freed"};
constexpr std::array<std::string_view, 5> kColumns = {"Metric", "Cur Usage", "Peak Usage", "Tot Alloc", "Tot Freed"};

struct Row {
  std::string_view title;
  std::string_view metric;  // of memory_stats()
  bool is_size;
  bool has_pools;
};
constexpr Row kRows[] = {
    {"Allocated memory", "allocated_bytes", true, true},
    {"Active memory", "active_bytes", true, true},
    {"Requested memory", "requested_bytes", true, true},
    {"GPU reserved memory", "reserved_bytes", true, true},
    {"Non-releasable memory", "inactive_split_bytes", true, true},
    {"Allocations", "allocation", false, true},
    {"Active allocs", "active", false, true},
    {"GPU reserved segments", "segment", false, true},
    {"Non-releasable allocs", "inactive_split", false, true},
    {"Oversize allocations", "oversize_allocations", false, false},
    {"Oversize GPU segments", "oversize_segments", false, false},
};

/// "902 K", "1800 M", "877": counts are cut to units of 1000.
std::optional<Quantity> parse_count(std::string_view text) {
  const Measure found = measure_at(text, 0);
  const std::uint64_t step = found.unit.empty() ? 1 : size_unit(found.unit, true);
  return found.number_end == 0 || step == 0 ? std::nullopt : scale(found.number, step);
}

/// The cells between the bars of "| a | b |".
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> out;
  line.remove_prefix(line.find('|') + 1);
  for (std::size_t bar = line.find('|'); bar != std::string_view::npos && out.size() < 8; bar = line.find('|')) {
    out.push_back(trim(line.substr(0, bar)));
    line.remove_prefix(bar + 1);
  }
  return out;
}

class MemorySummary final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::size_t heading = line.text.find(kHeading);
    if (heading != std::string_view::npos) {
      if (is_open_) drop(session);
      return open(line, line.text.substr(heading + kHeading.size()), session);
    }
    const std::string_view text = trim(line.text);
    if (!is_open_) return false;
    if (text.size() < 2 || text.front() != '|') {
      drop(session);
      return false;
    }
    if (text[1] == '=' || text[1] == '-') {
      if (text[1] == '=' && !readings_.empty() && has_columns_ && rows_ > 0) close(session);
      return true;
    }
    read_cells(cells_of(text), session);
    return true;
  }

  void finish(Session& session) override {
    if (!is_open_) return;
    drop(session);
    session.recorder().set_partial();
  }

 private:
  bool open(const LogLine& line, std::string_view behind, Session& session) {
    std::size_t end = 0;
    behind = trim(behind);
    while (end < behind.size() && is_digit(behind[end])) ++end;
    if (end == 0 || end > 4) return false;
    is_open_ = true;
    has_columns_ = false;
    rows_ = 0;
    row_ = nullptr;
    readings_.clear();
    device_ = std::string(behind.substr(0, end));
    facts_ = session.facts_of(line);
    return true;
  }

  void close(Session& session) {
    session.recorder().record(kMemorySummary, facts_, readings_);
    is_open_ = false;
  }

  void drop(Session& session) {
    is_open_ = false;
    session.notes().add(Severity::data_loss,
                        has_columns_ ? "memory_summary tables without an end were left out"
                                     : "memory_summary tables without their five columns were left out",
                        facts_.offset);
  }

  void add(std::string_view name, const Quantity& quantity, bool is_size, bool cumulative) {
    readings_.push_back({with_tag(name, "device", device_), is_size ? "bytes" : "count", quantity, cumulative});
  }

  void read_cells(const std::vector<std::string_view>& cells, Session& session) {
    if (cells.size() == 2) {
      for (const std::string_view cell : cells) {
        const std::size_t colon = cell.find(':');
        std::int64_t value = 0;
        if (colon == std::string_view::npos || !parse_whole(trim(cell.substr(colon + 1)), value)) continue;
        if (cell.starts_with("CUDA OOMs")) add("num_ooms", {value, 0}, false, true);
        if (cell.starts_with("cudaMalloc retries")) add("num_alloc_retries", {value, 0}, false, true);
      }
      return;
    }
    if (cells.size() != kColumns.size()) return;
    if (std::equal(cells.begin(), cells.end(), kColumns.begin())) {
      has_columns_ = true;
      return;
    }
    if (!has_columns_) return;
    std::string_view pool = "all";
    if (cells[0] == "from large pool" || cells[0] == "from small pool") {
      pool = cells[0] == "from large pool" ? "large_pool" : "small_pool";
    } else {
      const auto* const found =
          std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.title == cells[0]; });
      row_ = found == std::end(kRows) ? nullptr : found;
      if (row_ == nullptr)
        session.notes().add(Severity::info, "rows of memory_summary that are not known were left out", facts_.offset);
    }
    if (row_ != nullptr) read_row(*row_, pool, cells, session);
  }

  void read_row(const Row& row, std::string_view pool, const std::vector<std::string_view>& cells, Session& session) {
    const std::string metric = std::string(row.metric) + "." + (row.has_pools ? std::string(pool) + "." : "");
    for (std::size_t i = 0; i < kSummaryStats.size(); ++i) {
      const std::optional<Quantity> quantity = row.is_size ? parse_size(cells[i + 1]) : parse_count(cells[i + 1]);
      if (!quantity) {
        session.notes().add(Severity::data_loss, "cells of memory_summary that hold no number were left out",
                            facts_.offset);
        continue;
      }
      add(metric + std::string(kSummaryStats[i]), *quantity, row.is_size, i >= 2);
    }
    ++rows_;
  }

  bool is_open_ = false;
  bool has_columns_ = false;
  std::size_t rows_ = 0;
  const Row* row_ = nullptr;
  std::string device_;
  LineFacts facts_;
  std::vector<Reading> readings_;
};

}  // namespace

std::unique_ptr<Matcher> make_memory_summary_matcher() { return std::make_unique<MemorySummary>(); }

}  // namespace snapdiff::formats::metric_log
