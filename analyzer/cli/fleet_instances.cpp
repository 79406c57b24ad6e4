#include "analyzer/cli/fleet_instances.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/judged_series.hpp"
#include "snapdiff/hash.hpp"
#include "snapdiff/keyed_hash.hpp"
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
void tell_culprits(std::vector<Culprit>& culprits, std::span<const fleet::InstanceGrowth> growth,
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

/// Culprits are made of stacks, whatever the rows are: `by_stack` is the story whose rows they name.
void tell_culprits(const Story& by_stack, std::span<const fleet::InstanceGrowth> growth, const RowsOfStacks& rows,
                   std::size_t instances, GrowthReport& report) {
  auto story = std::make_shared<Story>(*report.story);
  for (const auto list : {&Story::culprits, &Story::freed}) {
    std::vector<Culprit> told = by_stack.*list;
    tell_culprits(told, growth, rows, instances);
    for (Culprit& culprit : (*story).*list) {
      for (const Culprit& one : told) {
        if (one.text.name != culprit.text.name || one.value != culprit.value) continue;
        culprit.instances = one.instances;
        culprit.text.spread = one.text.spread;
      }
    }
  }
  report.story = std::move(story);
}

/// Rows of a report that is not by stack, by their keys.
class RowsOfKeys {
 public:
  explicit RowsOfKeys(const GrowthReport& report) {
    for (std::uint32_t r = 0; r < report.rows.size(); ++r) rows_.emplace(report.keys[report.rows[r].key], r);
  }
  std::uint32_t row(const std::string& key) const {
    const auto found = rows_.find(key);
    return found == rows_.end() ? GrowthReport::kNoPlace : found->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t, KeyedHash> rows_;
};

/// Rows of a report by function, file, line or module that a stack is in: one for each key of its visible frames.
class RowsOfFrames {
 public:
  RowsOfFrames(const GrowthReport& report, std::span<const SnapshotRef> snapshots) : report_(report), keys_(report) {
    for (const bool at_end : {false, true}) {
      const Snapshot& snapshot = at_end ? *snapshots.back().snapshot : *snapshots.front().snapshot;
      for (const StackId stack : snapshot.samples.stack)
        stacks_.try_emplace(snapshot.dictionary->stacks.hash[index_of(stack)],
                            StackRef{stack, static_cast<std::uint8_t>(at_end ? 1 : 0)});
    }
    for (const RenamedFunction& one : report.renamed) renamed_.emplace(one.before, one.after);
  }

  const std::vector<std::uint32_t>& rows(const Hash128& stack) {
    const auto [place, is_new] = known_.try_emplace(stack);
    std::vector<std::uint32_t>& rows = place->second;
    const auto found = stacks_.find(stack);
    if (!is_new || found == stacks_.end()) return rows;
    report_.view->frames(found->second, frames_);
    for (const FrameView& frame : frames_) {
      const std::uint32_t row = row_of(diff::key_text(frame, report_.options.by));
      if (row != GrowthReport::kNoPlace) rows.push_back(row);
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

 private:
  /// A function that the newer build calls otherwise is in the row of its newer name.
  std::uint32_t row_of(std::string key) const {
    if (report_.options.by != GroupBy::function) return keys_.row(key);
    for (std::size_t i = 0; i < renamed_.size(); ++i) {
      const auto newer = renamed_.find(key);
      if (newer == renamed_.end() || keys_.row(newer->second) == GrowthReport::kNoPlace) break;
      key = newer->second;
    }
    return keys_.row(key);
  }

  const GrowthReport& report_;
  RowsOfKeys keys_;
  std::unordered_map<Hash128, StackRef> stacks_;
  std::unordered_map<std::string, std::string, KeyedHash> renamed_;
  std::unordered_map<Hash128, std::vector<std::uint32_t>> known_;
  std::vector<FrameView> frames_;
};

/// The row of each label of samples.
std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> rows_of_labels(const GrowthReport& report,
                                                                           std::span<const SnapshotRef> snapshots) {
  const RowsOfKeys keys(report);
  const std::string key = report.options.by == GroupBy::type ? "type" : report.options.label_key;
  std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> out;
  for (const SnapshotRef* const end : {&snapshots.front(), &snapshots.back()}) {
    const Dictionary& d = *end->snapshot->dictionary;
    for (std::uint32_t set = 0; set < d.labels.size(); ++set)
      out.try_emplace(fleet::label_id(d, LabelSetId{set}), keys.row(diff::label_text(d, LabelSetId{set}, key)));
  }
  return out;
}

/// Counts of the rows of a report that is not by stack: a row's growth on an instance is that of all stacks in it, each
/// once. Empty where they are unknown.
class GroupCounter {
 public:
  GroupCounter(const GrowthReport& report, std::size_t instances)
      : report_(report), counter_(instances), sums_(report.rows.size()) {}

  /// The row is of those instances alone for which this is called.
  void has_instance(std::uint32_t row) {
    members_.resize(sums_.size());
    if (row != GrowthReport::kNoPlace) ++members_[row];
  }

  void add(std::uint32_t row, const fleet::InstanceGrowth& one) {
    if (row == GrowthReport::kNoPlace) return;
    counter_.add(row, one);
    sums_[row] += static_cast<std::uint64_t>(one.growth);
  }
  /// Where instances do not add up to the growth of a row, they say nothing of it.
  std::vector<InstanceCount> counts() const {
    std::vector<InstanceCount> out = counter_.counts(sums_.size());
    for (std::size_t r = 0; r < out.size(); ++r) {
      if (!members_.empty()) out[r].of = members_[r];
      if (static_cast<std::uint64_t>(report_.cumulative[r].value.growth()) != sums_[r]) out[r] = {};
    }
    return out;
  }

 private:
  const GrowthReport& report_;
  Counter counter_;
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint32_t> members_;
};

/// By what snapshots as a whole have (version, instance): where it is another at the end, the instance's bytes leave
/// one row for the other. Nothing where only a part of them is in the report. `without`: the row of those that have
/// none.
bool count_by_pivot(const fleet::Pivot& pivot, const std::string& without, std::span<const MomentPair> pairs,
                    const GrowthReport& report, std::span<const fleet::InstanceGrowth> growth,
                    const RowsOfStacks& visible, GroupCounter& counter) {
  const RowsOfKeys keys(report);
  const auto row_of = [&](const fleet::Committed& one) {
    const std::string value = pivot.value(one);
    return keys.row(value.empty() ? without : value);
  };
  const bool is_whole = report.filtered == Change{} && report.unattributed == Change{};
  std::vector<std::uint32_t> row_of_instance;
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    const auto& [first, last] = pairs[i];
    const std::uint32_t before = row_of(*first), after = row_of(*last);
    row_of_instance.push_back(before == after ? after : GrowthReport::kNoPlace);
    counter.has_instance(after);
    if (before == after) continue;
    if (!is_whole) return false;
    counter.has_instance(before);
    counter.add(before, {{}, 0, i, -first->total});
    counter.add(after, {{}, 0, i, last->total});
  }
  for (const fleet::InstanceGrowth& one : growth) {
    if (visible.row(one.stack) != GrowthReport::kNoPlace) counter.add(row_of_instance[one.instance], one);
  }
  return true;
}

void count_groups(std::span<const MomentPair> pairs, std::span<const SnapshotRef> snapshots, const fleet::Pivot* pivot,
                  std::span<const fleet::InstanceGrowth> growth, GrowthReport& report) {
  // Which stacks the view leaves, whatever they are grouped by.
  DiffOptions by_stack = report.options;
  by_stack.by = GroupBy::stack;
  by_stack.metric = report.metric;
  const GrowthReport stacks = value_or_throw(session::compare_pair(snapshots.front(), snapshots.back(), by_stack));
  const RowsOfStacks visible(stacks, snapshots);
  if (stacks.story && report.story) tell_culprits(*stacks.story, growth, visible, pairs.size(), report);
  GroupCounter counter(report, pairs.size());
  if (pivot != nullptr) {
    const Dictionary& d = *snapshots.front().snapshot->dictionary;
    const std::string without = diff::label_text(d, LabelSetId{}, pivot->key);
    if (!count_by_pivot(*pivot, without, pairs, report, growth, visible, counter)) return;
  } else if (report.options.by == GroupBy::label || report.options.by == GroupBy::type) {
    const auto row_of_label = rows_of_labels(report, snapshots);
    for (const fleet::InstanceGrowth& one : growth) {
      const auto row = row_of_label.find(one.label);
      if (row != row_of_label.end() && visible.row(one.stack) != GrowthReport::kNoPlace) counter.add(row->second, one);
    }
  } else {
    RowsOfFrames rows(report, snapshots);
    for (const fleet::InstanceGrowth& one : growth) {
      if (visible.row(one.stack) == GrowthReport::kNoPlace) continue;
      for (const std::uint32_t row : rows.rows(one.stack)) counter.add(row, one);
    }
  }
  report.instances = counter.counts();
}

}  // namespace

void count_instances(fleet::Fleet& from, std::span<const MomentPair> pairs, std::span<const SnapshotRef> snapshots,
                     const fleet::Pivot* pivot, GrowthReport& report,
                     std::optional<std::vector<fleet::InstanceGrowth>> known) {
  if (pairs.empty()) return;
  const GroupBy by = report.options.by;
  const bool by_label = pivot == nullptr && (by == GroupBy::label || by == GroupBy::type);
  const std::vector<fleet::InstanceGrowth> growth =
      value_or_throw(known ? *std::move(known) : from.growth(pairs, by_label));
  if (by != GroupBy::stack) return count_groups(pairs, snapshots, pivot, growth, report);
  const RowsOfStacks rows(report, snapshots);
  Counter counter(pairs.size());
  for (const fleet::InstanceGrowth& one : growth) {
    if (const std::uint32_t row = rows.row(one.stack); row != GrowthReport::kNoPlace) counter.add(row, one);
  }
  report.instances = counter.counts(report.rows.size());
  if (report.story) tell_culprits(Story(*report.story), growth, rows, pairs.size(), report);
}

}  // namespace snapdiff::cli
