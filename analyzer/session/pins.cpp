#include "analyzer/session/pins.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/pinning.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/stack_keys.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::session {
namespace {

/// Values of one metric by stack, joined with those of the others by the frames that are shown.
class Join {
 public:
  explicit Join(PinReport& out) : out_(out) {}

  /// Frames of `report` live as long as its snapshots.
  template <class Report, class Value>
  void add(const Report& report, Change PinnedRow::*column, const Value& value) {
    for (const auto& row : report.rows) {
      const Change change = value(row);
      if (change == Change{}) continue;
      report.view->frames(report.stacks[row.key], frames_);
      PinnedRow& mine = row_of(report.stacks[row.key], report.view);
      (mine.*column).baseline += change.baseline;
      (mine.*column).current += change.current;
    }
  }

  /// The row of a stack of the current snapshot.
  std::uint32_t current_row(StackId stack) {
    const auto found = by_stack_.find(stack);
    if (found != by_stack_.end()) return found->second;
    out_.view->frames({stack, 1}, frames_);
    const std::uint32_t row = row_of({stack, 1}, out_.view).key;
    by_stack_.emplace(stack, row);
    return row;
  }

 private:
  /// `frames_` holds the stack's frames. All reports are of the same two snapshots, so any view resolves it.
  PinnedRow& row_of(StackRef stack, const std::shared_ptr<const StackView>& view) {
    if (out_.view == nullptr) out_.view = view;
    const auto [at, is_new] = rows_.try_emplace(keys_.of(frames_), static_cast<std::uint32_t>(out_.rows.size()));
    if (is_new) {
      PinnedRow row;
      row.key = at->second;
      out_.rows.push_back(row);
      out_.stacks.push_back(stack);
    }
    return out_.rows[at->second];
  }

  PinReport& out_;
  StackKeys keys_;
  std::unordered_map<std::string, std::uint32_t, KeyedHash> rows_;
  std::unordered_map<StackId, std::uint32_t> by_stack_;
  std::vector<FrameView> frames_;
};

SegmentFacts facts_of(const AllocatorState& state, std::size_t s) {
  const SegmentTable& segments = state.segments;
  SegmentFacts facts;
  facts.device = segments.device[s];
  facts.stream = state.streams[segments.stream[s]];
  facts.pool = state.pools[segments.pool[s]];
  facts.flags = segments.flags[s];
  facts.address = segments.address[s];
  facts.size = segments.size[s];
  for (std::size_t b = segments.block_begin[s]; b < segments.block_begin[s + 1]; ++b) {
    const std::int64_t size = state.blocks.size[b];
    switch (state.blocks.state[b]) {
      case BlockState::allocated:
        facts.live += size;
        facts.rounding += size - state.blocks.requested[b];
        break;
      case BlockState::pending: facts.pending += size; break;
      case BlockState::inactive: facts.free += size; break;
    }
  }
  return facts;
}

/// Both came out of one file, but a store that somebody changed may hold what does not fit together.
void check_fit(const Snapshot& snapshot, const std::string& ref) {
  std::int64_t in_rows = 0;
  const Column& column = *snapshot.column("pinned_space");
  bool fits = true;
  for (const std::int64_t value : column.value) fits = fits && checked_add(in_rows, value, in_rows);
  std::int64_t in_segments = 0;
  for (const SegmentHolder& holder : segment_holders(*snapshot.allocator))
    fits = fits && checked_add(in_segments, holder.pinned, in_segments);
  if (!fits || in_rows != in_segments)
    fail({ErrorCode::malformed,
          "rows pin " + std::to_string(in_rows) + " bytes, segments hold " + std::to_string(in_segments) +
              " pinned ones: expected the same",
          std::nullopt, ref});
}

void add_segments(const AllocatorState& state, StackId no_stack, Join& join, PinReport& out) {
  constexpr std::uint32_t kHidden = 0xffffffff;
  std::vector<std::uint32_t> number(state.segments.size_rows(), kHidden);
  for (std::size_t s = 0; s < state.segments.size_rows(); ++s) {
    if ((state.segments.flags[s] & kSegmentHost) != 0) continue;
    number[s] = static_cast<std::uint32_t>(out.segments.size());
    out.segments.push_back(facts_of(state, s));
    if (__builtin_add_overflow(out.reserved, out.segments.back().size, &out.reserved))
      fail(ErrorCode::limit, "sum of segments is beyond 2^63-1, expected it to fit in 64 bits");
  }
  // One edge for each shown stack: several stacks may look the same once frames are hidden.
  std::map<std::pair<std::uint32_t, std::uint32_t>, PinEdge> edges;
  for (const SegmentHolder& holder : segment_holders(state)) {
    SegmentFacts& segment = out.segments[number[holder.segment]];
    segment.pinned += holder.pinned;
    ++segment.holders;
    const std::uint32_t row = join.current_row(holder.stack == StackId{} ? no_stack : holder.stack);
    PinEdge& edge = edges[{number[holder.segment], row}];
    edge.row = row;
    edge.segment = number[holder.segment];
    edge.blocks += holder.blocks;
    edge.live += holder.bytes;
    edge.pinned += holder.pinned;
    if (holder.sole) ++out.rows[row].sole_segments;
  }
  for (const auto& [place, edge] : edges) {
    ++out.rows[edge.row].segments;
    out.edges.push_back(edge);
  }
  for (const SegmentFacts& segment : out.segments) {
    if (segment.holders == 0) out.releasable += segment.size;
  }
}

void sort_rows(PinReport& out) {
  std::vector<std::uint32_t> order(out.rows.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const PinnedRow& x = out.rows[a];
    const PinnedRow& y = out.rows[b];
    if (x.pinned.current != y.pinned.current) return x.pinned.current > y.pinned.current;
    if (x.live.current != y.live.current) return x.live.current > y.live.current;
    return a < b;
  });
  std::vector<PinnedRow> rows;
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    rows.push_back(out.rows[order[i]]);
    place[order[i]] = i;
  }
  out.rows = std::move(rows);
  for (PinEdge& edge : out.edges) edge.row = place[edge.row];
}

}  // namespace

StackId no_stack_recorded(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  for (const StackId stack : snapshot.samples.stack) {
    const auto frames = d.stacks.frames(stack);
    if (frames.size() != 1 || (d.frames.flags[index_of(frames[0])] & kFramePseudo) == 0) continue;
    const std::size_t function = index_of(d.frames.function[index_of(frames[0])]);
    if (d.strings[d.functions.name[function]] == kNoStackRecorded) return stack;
  }
  return StackId{};
}

Result<PinReport> make_pins(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  return guarded([&] {
    const Snapshot& snapshot = *current.snapshot;
    if (snapshot.allocator == nullptr || !snapshot.allocator->has_segments ||
        snapshot.column("pinned_space") == nullptr)
      fail(ErrorCode::usage, "no segments in this snapshot: expected a CUDA memory snapshot");
    check_fit(snapshot, current.ref);
    PinReport out;
    out.baseline = baseline;
    out.current = current;
    Join join(out);
    constexpr std::pair<const char*, Change PinnedRow::*> kColumns[] = {
        {"inuse_space", &PinnedRow::live}, {"pinned_space", &PinnedRow::pinned}, {"sole_space", &PinnedRow::sole}};
    for (const auto& [metric, column] : kColumns) {
      DiffOptions one = options;
      one.metric = metric;
      one.by = GroupBy::stack;
      // Filters of stacks would break the sums; frames may be hidden.
      one.focus.clear();
      one.ignore.clear();
      if (out.has_baseline()) {
        join.add(value_or_throw(diff::diff(baseline, current, one)), column,
                 [](const GrowthRow& row) { return row.value; });
      } else {
        join.add(value_or_throw(diff::top(current, one)), column, [](const TopRow& row) {
          return Change{0, row.value};
        });
      }
    }
    if (out.view == nullptr) out.view = value_or_throw(diff::top(current, options)).view;
    add_segments(*snapshot.allocator, no_stack_recorded(snapshot), join, out);
    sort_rows(out);
    for (const PinnedRow& row : out.rows) {
      out.live.baseline += row.live.baseline;
      out.live.current += row.live.current;
      out.pinned.baseline += row.pinned.baseline;
      out.pinned.current += row.pinned.current;
    }
    std::int64_t by_segment = 0;
    for (const SegmentFacts& segment : out.segments) by_segment += segment.pinned;
    if (by_segment != out.pinned.current) fail(ErrorCode::internal, "pinned bytes of stacks and of segments differ");
    return out;
  });
}

}  // namespace snapdiff::session
