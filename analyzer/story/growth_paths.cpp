#include "analyzer/story/growth_paths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "snapdiff/hash.hpp"
#include "snapdiff/parallel.hpp"

namespace snapdiff::story {
namespace {

constexpr std::size_t kBlock = 16384;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Paths of a block of rows, one after the other.
struct Block {
  std::vector<std::uint32_t> functions;
  std::vector<std::uint32_t> end;  ///< per row
  std::vector<std::uint64_t> hash;
};

std::vector<Block> read_blocks(const GrowthReport& report) {
  std::vector<Block> blocks((report.rows.size() + kBlock - 1) / kBlock);
  for_each_parallel(blocks.size(), report.rows.size(), [&](std::size_t b) {
    std::vector<std::uint32_t> path;
    Block& block = blocks[b];
    const std::size_t last = std::min(report.rows.size(), (b + 1) * kBlock);
    for (std::size_t row = b * kBlock; row < last; ++row) {
      report.view->own_path(report.stacks[report.rows[row].key], path);
      std::uint64_t hash = path.size();
      for (const std::uint32_t function : path) hash = mix64(hash ^ function) + function;
      block.functions.insert(block.functions.end(), path.begin(), path.end());
      block.end.push_back(static_cast<std::uint32_t>(block.functions.size()));
      block.hash.push_back(hash);
    }
  });
  return blocks;
}

/// Finds equal paths: open addressing over the paths known so far.
class PathTable {
 public:
  PathTable(std::vector<GrowthPath>& paths, std::vector<std::uint32_t>& functions, std::size_t expected)
      : paths_(paths), functions_(functions) {
    std::size_t size = 64;
    while (size < 2 * expected) size *= 2;
    slots_.assign(size, {kNone, 0});
  }

  std::uint32_t find(std::span<const std::uint32_t> path, std::uint64_t hash) {
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.path == kNone) {
        slot = {static_cast<std::uint32_t>(paths_.size()), hash};
        GrowthPath& added = paths_.emplace_back();
        added.first_function = static_cast<std::uint32_t>(functions_.size());
        added.functions = static_cast<std::uint32_t>(path.size());
        functions_.insert(functions_.end(), path.begin(), path.end());
        return slot.path;
      }
      if (slot.hash == hash && equal(paths_[slot.path], path)) return slot.path;
    }
  }

 private:
  struct Slot {
    std::uint32_t path;
    std::uint64_t hash;
  };
  bool equal(const GrowthPath& known, std::span<const std::uint32_t> path) const {
    return known.functions == path.size() &&
           std::equal(path.begin(), path.end(), functions_.begin() + known.first_function);
  }

  std::vector<GrowthPath>& paths_;
  std::vector<std::uint32_t>& functions_;
  std::vector<Slot> slots_;
};

/// The largest value of a row, at both ends or at any snapshot of the series.
double peak_of(const GrowthReport& report, std::size_t row) {
  const GrowthRow& r = report.rows[row];
  std::int64_t most = std::max(r.value.baseline, r.value.current);
  const std::size_t n = report.series_length;
  if (n > 0 && report.series.size() == n * report.rows.size())
    most = std::max(most, *std::max_element(report.series.data() + row * n, report.series.data() + (row + 1) * n));
  return std::max(0.0, static_cast<double>(most));
}

bool has_types(const GrowthReport& report) {
  constexpr std::size_t kLookedAt = 64;
  std::vector<FrameView> frames;
  std::size_t bare = 0;
  const std::size_t rows = std::min(report.rows.size(), kLookedAt);
  for (std::size_t row = 0; row < rows; ++row) {
    report.frames(report.rows[row], frames);
    const bool one = frames.size() == 1 && frames.front().file.empty() && frames.front().offset == kNoOffset;
    bare += one ? 1U : 0U;
  }
  return rows > 0 && 2 * bare > rows;
}

std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

}  // namespace

GrowthPaths::GrowthPaths(const GrowthReport& report) : report_(&report) {
  if (report.view == nullptr || report.stacks.empty()) return;
  function_count_ = report.view->function_count();
  if (function_count_ == 0) return;
  std::vector<std::uint32_t> path_of_row(report.rows.size(), kNone);
  PathTable table(paths_, functions_, report.rows.size());
  std::size_t row = 0;
  for (const Block& block : read_blocks(report)) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < block.end.size(); ++i, ++row) {
      const std::span<const std::uint32_t> path(block.functions.data() + begin, block.end[i] - begin);
      begin = block.end[i];
      if (path.empty()) continue;
      const std::uint32_t p = table.find(path, block.hash[i]);
      path_of_row[row] = p;
      const GrowthRow& r = report.rows[row];
      GrowthPath& sum = paths_[p];
      sum.growth = bounded_sum(sum.growth, r.value.growth());
      sum.current += static_cast<double>(r.value.current);
      sum.peak += peak_of(report, row);
      if (std::isfinite(r.error)) sum.variance += r.error * r.error;
      ++sum.rows;
    }
  }
  types_ = has_types(report);
  std::uint32_t next = 0;
  for (GrowthPath& path : paths_) {
    path.first_row = next;
    next += path.rows;
    path.rows = 0;
  }
  rows_.resize(next);
  for (std::uint32_t r = 0; r < path_of_row.size(); ++r) {
    if (path_of_row[r] == kNone) continue;
    GrowthPath& path = paths_[path_of_row[r]];
    rows_[path.first_row + path.rows++] = r;
  }
}

}  // namespace snapdiff::story
