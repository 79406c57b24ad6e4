#include "analyzer/base/inlined_functions.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "analyzer/base/row_values.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff {
namespace {

constexpr std::size_t kMostPairs = 1'000'000;  // of stacks that share a function: 0.1 s

std::uint64_t id_of(const FrameView& frame) {
  return hash_bytes(frame.function).low ^ mix64(hash_bytes(frame.file).low);
}

struct Stack {
  std::vector<std::uint64_t> frames;          // root first
  std::size_t first_rise = 0, last_rise = 0;  // snapshots; 0: it never rises
};

Stack stack_of(const GrowthReport& report, std::size_t row) {
  Stack out;
  std::vector<FrameView> frames;
  report.frames(report.rows[row], frames);
  std::transform(frames.rbegin(), frames.rend(), std::back_inserter(out.frames), id_of);
  const std::vector<std::int64_t> values = values_of(report, row);
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] <= values[i - 1]) continue;
    if (out.first_rise == 0) out.first_rise = i;
    out.last_rise = i;
  }
  return out;
}

/// The frames of `whole` down to the last one of `part`, if it has all of these in the same order from the same root.
std::span<const std::uint64_t> down_to(std::span<const std::uint64_t> part, std::span<const std::uint64_t> whole) {
  if (whole.size() <= part.size() || part.front() != whole.front()) return {};
  std::size_t at = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] == part[at] && ++at == part.size()) return whole.first(i + 1);
  }
  return {};
}

}  // namespace

OwnPaths restore_inlined(const GrowthReport& report) {
  OwnPaths out;
  if (report.current.snapshot == nullptr) return out;
  const std::string& producer = report.current.snapshot->facts.producer;
  if (producer != "node" && producer != "v8") return out;
  std::vector<Stack> stacks;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> through;  // by function: stacks
  for (std::uint32_t row = 0; row < report.rows.size(); ++row) {
    stacks.push_back(stack_of(report, row));
    for (const std::uint64_t frame : stacks.back().frames) {
      std::vector<std::uint32_t>& rows = through[frame];
      if (rows.empty() || rows.back() != row) rows.push_back(row);
    }
  }
  std::size_t pairs = 0;
  std::vector<std::uint32_t> path, best;
  for (std::size_t row = 0; row < stacks.size() && pairs < kMostPairs; ++row) {
    const Stack& part = stacks[row];
    const Change& value = report.rows[row].value;
    if (part.frames.empty() || value.baseline != 0 || value.growth() <= 0) continue;
    std::size_t least = 0;
    best.clear();
    for (const std::uint32_t longer : through[part.frames.back()]) {
      ++pairs;
      if (stacks[longer].last_rise >= part.first_rise) continue;
      const auto frames = down_to(part.frames, stacks[longer].frames);
      if (frames.size() <= part.frames.size() || (least != 0 && frames.size() > least)) continue;
      report.view->own_path(report.stacks[report.rows[longer].key], path);
      std::erase_if(path, [&](std::uint32_t function) {
        return std::ranges::find(frames, id_of(report.view->function(function))) == frames.end();
      });
      // Two longer stacks that differ say nothing.
      if (frames.size() == least && path != best) path.clear();
      least = frames.size();
      best = path;
    }
    report.view->own_path(report.stacks[report.rows[row].key], path);
    if (best.size() > path.size()) out.emplace(report.rows[row].key, best);
  }
  return out;
}

}  // namespace snapdiff
