#pragma once

#include <string>

#include "snapdiff/snapshot.hpp"

namespace snapdiff::test {

/// "" when the allocator states of both say the same, else the first difference. Stacks are compared by
/// hash, names of annotations by text.
inline std::string difference_of_allocators(const Snapshot& a, const Snapshot& b) {
  if ((a.allocator == nullptr) != (b.allocator == nullptr)) return "one has no allocator state";
  if (a.allocator == nullptr) return {};
  const AllocatorState& x = *a.allocator;
  const AllocatorState& y = *b.allocator;
  const auto same_stack = [&](StackId in_a, StackId in_b) {
    return a.dictionary->stacks.hash[index_of(in_a)] == b.dictionary->stacks.hash[index_of(in_b)];
  };
  if (x.has_segments != y.has_segments || x.streams != y.streams || x.pools != y.pools || x.settings != y.settings)
    return "facts";
  const SegmentTable& s = x.segments;
  const SegmentTable& t = y.segments;
  if (s.device != t.device || s.address != t.address || s.size != t.size || s.stated_allocated != t.stated_allocated ||
      s.stated_active != t.stated_active || s.stated_requested != t.stated_requested || s.stream != t.stream ||
      s.pool != t.pool || s.flags != t.flags || s.block_begin != t.block_begin)
    return "segments";
  for (std::size_t i = 0; i < s.size_rows(); ++i) {
    if (!same_stack(s.stack[i], t.stack[i])) return "stack of segment " + std::to_string(i);
  }
  const BlockTable& p = x.blocks;
  const BlockTable& q = y.blocks;
  if (p.segment != q.segment || p.address != q.address || p.size != q.size || p.requested != q.requested ||
      p.state != q.state)
    return "blocks";
  for (std::size_t i = 0; i < p.size_rows(); ++i) {
    if (!same_stack(p.stack[i], q.stack[i])) return "stack of block " + std::to_string(i);
  }
  if (x.annotations.size() != y.annotations.size()) return "number of annotations";
  for (std::size_t i = 0; i < x.annotations.size(); ++i) {
    Annotation mark = y.annotations[i];
    if (a.dictionary->strings[x.annotations[i].name] != b.dictionary->strings[mark.name]) return "name of a mark";
    mark.name = x.annotations[i].name;
    if (!(mark == x.annotations[i])) return "annotation " + std::to_string(i);
  }
  if (x.traces.size() != y.traces.size()) return "number of traces";
  for (std::size_t i = 0; i < x.traces.size(); ++i) {
    if (x.traces[i].device != y.traces[i].device || x.traces[i].host != y.traces[i].host ||
        x.traces[i].events.size() != y.traces[i].events.size())
      return "trace " + std::to_string(i);
    EventLog::Reader from_a = x.traces[i].events.read();
    EventLog::Reader from_b = y.traces[i].events.read();
    TraceEvent in_a;
    TraceEvent in_b;
    while (from_a.next(in_a) && from_b.next(in_b)) {
      if (!same_stack(in_a.stack, in_b.stack)) return "stack of event " + std::to_string(from_a.index());
      in_b.stack = in_a.stack;
      if (!(in_a == in_b)) return "event " + std::to_string(from_a.index());
    }
  }
  return {};
}

}  // namespace snapdiff::test
