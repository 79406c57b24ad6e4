#include "analyzer/session/memory_story.hpp"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/role_names.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/labelled.hpp"
#include "analyzer/session/pins.hpp"
#include "analyzer/session/stack_keys.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::session {
namespace {

/// Numbers stacks by the frames that are shown of them.
class Groups {
 public:
  Groups(std::shared_ptr<const StackView> view, StackId no_stack) : view_(std::move(view)), no_stack_(no_stack) {}

  std::uint32_t of(StackId stack) {
    if (stack == StackId{}) stack = no_stack_;
    view_->frames({stack, 1}, frames_);
    const auto [at, is_new] = groups_.try_emplace(keys_.of(frames_), static_cast<std::uint32_t>(stacks_.size()));
    if (is_new) stacks_.push_back({stack, 1});
    return at->second;
  }
  std::vector<StackRef> stacks() const { return stacks_; }

 private:
  std::shared_ptr<const StackView> view_;
  StackId no_stack_;
  StackKeys keys_;
  std::unordered_map<std::string, std::uint32_t, KeyedHash> groups_;
  std::vector<StackRef> stacks_;
  std::vector<FrameView> frames_;
};

void add_timelines(const SnapshotRef& ref, const DiffOptions& options, bool by_role, render::MemoryStory& story) {
  const Snapshot& snapshot = *ref.snapshot;
  if (snapshot.allocator == nullptr || !cuda::busiest_trace(snapshot))
    fail({ErrorCode::usage, "no trace in this snapshot: expected a CUDA snapshot with history, without @POINT",
          std::nullopt, ref.ref});
  const TopReport top = value_or_throw(diff::top(ref, options));
  for (const DeviceTrace& trace : snapshot.allocator->traces) {
    if (trace.host || trace.events.empty()) continue;
    Groups groups(top.view, no_stack_recorded(snapshot));
    cuda::TimelineOptions wanted;
    wanted.by_role = by_role;
    if (by_role) wanted.steady = wanted.grown = kRoleNames.size();
    MemoryTimeline timeline = value_or_throw(cuda::timeline(
        snapshot, {trace.device, false}, [&groups](StackId stack) { return groups.of(stack); }, wanted));
    story.pages.emplace_back(render::TimelinePage{std::move(timeline), groups.stacks(), top.view, by_role});
  }
}

}  // namespace

std::string source_text(const Loaded& loaded) {
  std::string text;
  for (const LoadedSnapshot& item : loaded.snapshots) {
    const SourceFacts& source = item.ref.snapshot->facts.source;
    if (!text.empty()) text += " \u2192 ";
    text += !item.name.empty() ? item.name : std::string(base_name(item.ref.ref.empty() ? source.name : item.ref.ref));
    if (source.sha256.size() >= 8) text += " " + source.sha256.substr(0, 8);
  }
  return text;
}

Result<render::MemoryStory> tell_memory(const Loaded& loaded, const MemoryPages& pages, const DiffOptions& wanted) {
  return guarded([&] {
    DiffOptions options = wanted;
    const bool by_role = is_by_role(wanted);
    options.by = GroupBy::stack;
    options.metric.clear();
    render::MemoryStory story;
    story.source = source_text(loaded);
    if (pages.timeline) {
      for (const LoadedSnapshot& item : loaded.snapshots) add_timelines(item.ref, options, by_role, story);
    }
    if (!pages.segments && !pages.pins) return story;
    if (loaded.snapshots.size() > 2 && !pages.ends_only)
      fail(ErrorCode::usage,
           "segments of one snapshot, or of one and its baseline: found " + std::to_string(loaded.snapshots.size()));
    SnapshotRef current = loaded.snapshots.back().ref;
    if (by_role) current = value_or_throw(labelled({&current, 1}, wanted)).snapshots.front();
    SnapshotRef baseline;
    if (loaded.snapshots.size() > 1) {
      baseline = loaded.snapshots.front().ref;
      // A page outlives the store's numbers.
      if (!loaded.snapshots.front().name.empty()) baseline.ref = loaded.snapshots.front().name;
    }
    const PinReport pins = value_or_throw(make_pins(baseline, current, options));
    if (pages.segments) story.pages.emplace_back(render::SegmentsPage{pins, by_role});
    if (pages.pins) story.pages.emplace_back(render::PinsPage{pins});
    return story;
  });
}

}  // namespace snapdiff::session
