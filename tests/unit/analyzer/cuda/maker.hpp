#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"

namespace snapdiff::test {

/// A snapshot under construction: stacks are called by number.
class Maker {
 public:
  Maker() {
    state_->streams = {0, 0x55, 0x66};
    state_->pools = {{0, 0}, {0, 1}};
    state_->has_segments = true;
    state_->traces.push_back({0, false, {}});
  }
  StackId stack(int number) {
    if (number == 0) return StackId{};
    SnapshotBuilder::FrameSpec spec;
    const StringId name = builder_.string("f" + std::to_string(number));
    spec.function = builder_.function(name, StringId{}, StringId{}, 0);
    const FrameId frame = builder_.frame(spec);
    return builder_.stack(std::span(&frame, 1));
  }
  struct Line {
    const char* function = "";
    const char* file = "";
    std::int32_t line = 0;
  };
  /// Innermost first.
  StackId stack(const std::vector<Line>& lines) {
    std::vector<FrameId> frames;
    for (const Line& line : lines) {
      SnapshotBuilder::FrameSpec spec;
      spec.function = builder_.function(builder_.string(line.function), StringId{}, builder_.string(line.file), 0);
      spec.line = line.line;
      frames.push_back(builder_.frame(spec));
    }
    return builder_.stack(frames);
  }
  void event(TraceAction action, std::uint64_t address, std::int64_t size, int stack_number, std::uint32_t stream = 0) {
    event(action, address, size, stack(stack_number), stream);
  }
  void event(TraceAction action, std::uint64_t address, std::int64_t size, StackId on, std::uint32_t stream = 0) {
    TraceEvent e;
    e.action = action;
    e.address = address;
    e.size = size;
    e.stream = stream;
    e.stack = on;
    e.time_us = 1000 + static_cast<std::int64_t>(state_->traces[0].events.size());
    state_->traces[0].events.append(e);
  }
  void block(std::uint64_t address, std::int64_t size, std::int64_t requested, BlockState s, int stack_number,
             std::uint32_t stream = 0) {
    SegmentTable& segments = state_->segments;
    BlockTable& blocks = state_->blocks;
    blocks.segment.push_back(static_cast<std::uint32_t>(segments.size_rows()));
    blocks.address.push_back(address);
    blocks.size.push_back(size);
    blocks.requested.push_back(requested);
    blocks.state.push_back(s);
    blocks.stack.push_back(stack(stack_number));
    open_segment(address, size, stream);
    segments.block_begin.back() = blocks.size_rows();
  }
  /// A segment of its own, of several blocks one after the other: size, requested (0: free), state, stack.
  struct Part {
    std::int64_t size = 0;
    std::int64_t requested = 0;
    int stack = 0;
    BlockState state = BlockState::allocated;
  };
  void segment(std::uint64_t address, const std::vector<Part>& parts, std::uint32_t stream = 0, std::uint32_t pool = 0,
               std::uint8_t flags = 0) {
    std::int64_t size = 0;
    for (const Part& part : parts) size += part.size;
    open_segment(address, size, stream, pool, flags);
    BlockTable& blocks = state_->blocks;
    for (const Part& part : parts) {
      blocks.segment.push_back(static_cast<std::uint32_t>(state_->segments.size_rows() - 1));
      blocks.address.push_back(address);
      blocks.size.push_back(part.size);
      blocks.requested.push_back(part.requested);
      blocks.state.push_back(part.requested == 0 ? BlockState::inactive : part.state);
      blocks.stack.push_back(stack(part.stack));
      address += static_cast<std::uint64_t>(part.size);
    }
    state_->segments.block_begin.back() = blocks.size_rows();
  }
  void open_segment(std::uint64_t address, std::int64_t size, std::uint32_t stream, std::uint32_t pool = 0,
                    std::uint8_t flags = 0) {
    SegmentTable& segments = state_->segments;
    segments.device.push_back(0);
    segments.address.push_back(address);
    segments.size.push_back(size);
    segments.stated_allocated.push_back(-1);
    segments.stated_active.push_back(-1);
    segments.stated_requested.push_back(-1);
    segments.stream.push_back(stream);
    segments.pool.push_back(pool);
    segments.flags.push_back(flags);
    segments.stack.push_back(StackId{});
    segments.block_begin.push_back(state_->blocks.size_rows());
  }
  void setting(const std::string& name, const std::string& value) { state_->settings.emplace_back(name, value); }
  void step(std::int64_t time_us) { mark("ProfilerStep#1", AnnotationStage::start, time_us); }
  void mark(const char* name, AnnotationStage stage, std::int64_t time_us) {
    Annotation mark;
    mark.name = builder_.string(name);
    mark.stage = stage;
    mark.time_us = time_us;
    state_->annotations.push_back(mark);
  }
  void without_segments() { state_->has_segments = false; }
  Snapshot make() {
    builder_.set_allocator(state_);
    Result<Snapshot> made = builder_.finish();
    if (!made) FAIL(made.error().text());
    return std::move(*made);
  }

 private:
  SnapshotBuilder builder_;
  std::shared_ptr<AllocatorState> state_ = std::make_shared<AllocatorState>();
};

}  // namespace snapdiff::test
