#include "analyzer/cli/fleet_instances.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "snapdiff/hash.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::cli {
namespace {

/// What two stacks share that are one row: their visible frames.
Hash128 identity_of(const std::vector<FrameView>& frames) {
  SequenceHasher hasher;
  for (const FrameView& frame : frames) {
    hasher.add(hash_bytes(frame.function));
    hasher.add(hash_bytes(frame.file));
    hasher.add(hash_bytes(frame.module));
    hasher.add({mix64(frame.offset), mix64(static_cast<std::uint64_t>(frame.line))});
  }
  return hasher.finish();
}

/// Row of the report for each stack of its snapshots.
class RowsOfStacks {
 public:
  RowsOfStacks(const GrowthReport& report, std::span<const SnapshotRef> snapshots) {
    std::unordered_map<Hash128, std::uint32_t> row_of;
    std::vector<FrameView> frames;
    for (std::uint32_t r = 0; r < report.rows.size(); ++r) {
      report.frames(report.rows[r], frames);
      row_of.try_emplace(identity_of(frames), r);
      if (const Counterpart* const other = report.counterpart(report.rows[r].key)) {
        report.view->frames(other->before, frames);
        row_of.try_emplace(identity_of(frames), r);
      }
    }
    for (const bool at_end : {false, true}) {
      const SnapshotRef& ref = at_end ? snapshots.back() : snapshots.front();
      const StackTable& stacks = ref.snapshot->dictionary->stacks;
      for (const StackId stack : ref.snapshot->samples.stack) {
        report.view->frames({stack, static_cast<std::uint8_t>(at_end ? 1 : 0)}, frames);
        const auto found = row_of.find(identity_of(frames));
        if (found != row_of.end()) rows_.try_emplace(stacks.hash[index_of(stack)], found->second);
      }
    }
  }

  /// GrowthReport::kNoPlace where it is in no row.
  std::uint32_t row(const Hash128& stack) const {
    const auto found = rows_.find(stack);
    return found == rows_.end() ? GrowthReport::kNoPlace : found->second;
  }

 private:
  std::unordered_map<Hash128, std::uint32_t> rows_;
};

/// Growth of groups of stacks per instance, summed modulo 2^64: the signs are asked for.
class Counter {
 public:
  explicit Counter(std::size_t instances) : instances_(static_cast<std::uint32_t>(instances)) {}
  void add(std::uint32_t group, const fleet::InstanceGrowth& one) {
    sums_[std::uint64_t{group} << 32 | one.instance] += static_cast<std::uint64_t>(one.growth);
  }
  std::vector<InstanceCount> counts(std::size_t groups) const {
    std::vector<InstanceCount> out(groups, InstanceCount{0, 0, instances_});
    for (const auto& [key, sum] : sums_) {
      InstanceCount& count = out[static_cast<std::size_t>(key >> 32)];
      const auto growth = static_cast<std::int64_t>(sum);
      if (growth > 0) ++count.grew;
      if (growth < 0) ++count.shrank;
    }
    return out;
  }

 private:
  std::uint32_t instances_;
  std::unordered_map<std::uint64_t, std::uint64_t, KeyedHash> sums_;
};

/// "on 19 of 20 instances"
void tell_culprits(std::vector<Culprit>& culprits, const std::vector<fleet::InstanceGrowth>& growth,
                   const RowsOfStacks& rows, std::size_t instances) {
  for (Culprit& culprit : culprits) {
    if (culprit.rows.empty()) continue;
    Counter counter(instances);
    for (const fleet::InstanceGrowth& one : growth) {
      if (std::binary_search(culprit.rows.begin(), culprit.rows.end(), rows.row(one.stack))) counter.add(0, one);
    }
    culprit.instances = counter.counts(1).front();
    const std::uint32_t changed = culprit.value.growth() < 0 ? culprit.instances.shrank : culprit.instances.grew;
    if (instances > 1)
      culprit.text.spread = "on " + std::to_string(changed) + " of " + std::to_string(instances) + " instances";
  }
}

}  // namespace

Status count_instances(fleet::Fleet& from, std::span<const MomentPair> pairs, std::span<const SnapshotRef> snapshots,
                       GrowthReport& report, std::optional<std::vector<fleet::InstanceGrowth>> known) {
  if (report.options.by != GroupBy::stack || pairs.empty()) return ok();
  const Result<std::vector<fleet::InstanceGrowth>> growth = known ? *std::move(known) : from.growth(pairs);
  if (!growth) return growth.error();
  const RowsOfStacks rows(report, snapshots);
  Counter counter(pairs.size());
  for (const fleet::InstanceGrowth& one : *growth) {
    if (const std::uint32_t row = rows.row(one.stack); row != GrowthReport::kNoPlace) counter.add(row, one);
  }
  report.instances = counter.counts(report.rows.size());
  if (!report.story) return ok();
  auto story = std::make_shared<Story>(*report.story);
  tell_culprits(story->culprits, *growth, rows, pairs.size());
  tell_culprits(story->freed, *growth, rows, pairs.size());
  report.story = std::move(story);
  return ok();
}

}  // namespace snapdiff::cli
