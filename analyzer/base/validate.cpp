#include "analyzer/base/validate.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "analyzer/base/parallel.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff {

Status validate(const AllocatorState& state, const Dictionary& d) {
  const auto broken = [](std::string what) -> Status { return Error{ErrorCode::internal, std::move(what)}; };
  const SegmentTable& segments = state.segments;
  const BlockTable& blocks = state.blocks;
  const std::size_t rows = segments.size_rows();
  if (segments.device.size() != rows || segments.size.size() != rows || segments.stated_allocated.size() != rows ||
      segments.stated_active.size() != rows || segments.stated_requested.size() != rows ||
      segments.stream.size() != rows || segments.pool.size() != rows || segments.flags.size() != rows ||
      segments.stack.size() != rows || segments.block_begin.size() != rows + 1)
    return broken("segment columns differ in length");
  if (segments.block_begin.front() != 0 || segments.block_begin.back() != blocks.size_rows())
    return broken("segments do not cover the block columns");
  for (std::size_t row = 0; row < rows; ++row) {
    if (segments.block_begin[row] > segments.block_begin[row + 1]) return broken("blocks of segments out of order");
    if (segments.stream[row] >= state.streams.size() || segments.pool[row] >= state.pools.size())
      return broken("segment names a stream or pool that does not exist");
    if (index_of(segments.stack[row]) >= d.stacks.size()) return broken("segment names a stack that does not exist");
  }
  if (blocks.segment.size() != blocks.size_rows() || blocks.size.size() != blocks.size_rows() ||
      blocks.requested.size() != blocks.size_rows() || blocks.state.size() != blocks.size_rows() ||
      blocks.stack.size() != blocks.size_rows())
    return broken("block columns differ in length");
  for (std::size_t row = 0; row < blocks.size_rows(); ++row) {
    if (blocks.segment[row] >= rows) return broken("block names a segment that does not exist");
    if (index_of(blocks.stack[row]) >= d.stacks.size()) return broken("block names a stack that does not exist");
  }
  for (const Annotation& annotation : state.annotations) {
    if (index_of(annotation.name) >= d.strings.size()) return broken("annotation names a string that does not exist");
  }
  return ok();
}

Status validate(const Dictionary& d) {
  const auto broken = [](std::string what) -> Status { return Error{ErrorCode::internal, std::move(what)}; };
  const std::size_t modules = d.modules.size();
  if (modules == 0 || d.modules.build_id.size() != modules) return broken("module columns differ in length");
  for (std::size_t row = 0; row < modules; ++row) {
    if (index_of(d.modules.name[row]) >= d.strings.size() || index_of(d.modules.build_id[row]) >= d.strings.size())
      return broken("module names a string that does not exist");
  }
  const std::size_t functions = d.functions.size();
  if (functions == 0 || d.functions.system_name.size() != functions || d.functions.file.size() != functions ||
      d.functions.start_line.size() != functions)
    return broken("function columns differ in length");
  for (std::size_t row = 0; row < functions; ++row) {
    if (index_of(d.functions.name[row]) >= d.strings.size() ||
        index_of(d.functions.system_name[row]) >= d.strings.size() ||
        index_of(d.functions.file[row]) >= d.strings.size())
      return broken("function names a string that does not exist");
  }
  const FrameTable& frames = d.frames;
  if (frames.module.size() != frames.size() || frames.offset.size() != frames.size() ||
      frames.function.size() != frames.size() || frames.line.size() != frames.size() ||
      frames.column.size() != frames.size() || frames.flags.size() != frames.size())
    return broken("frame columns differ in length");
  for (std::size_t row = 0; row < frames.size(); ++row) {
    if (index_of(frames.module[row]) >= modules || index_of(frames.function[row]) >= functions)
      return broken("frame names a module or function that does not exist");
  }
  const StackTable& stacks = d.stacks;
  if (stacks.begin.size() != stacks.size() + 1 || stacks.begin.front() != 0 ||
      stacks.begin.back() != stacks.frame.size())
    return broken("stack runs do not cover the frame column");
  for (std::size_t row = 0; row < stacks.size(); ++row) {
    if (stacks.begin[row] > stacks.begin[row + 1]) return broken("stack runs out of order");
  }
  std::atomic<bool> missing = false;
  for_each_block(stacks.frame.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    std::uint32_t most = 0;
    for (std::size_t i = begin; i < end; ++i) most = std::max(most, static_cast<std::uint32_t>(stacks.frame[i]));
    if (most >= frames.size()) missing = true;
  });
  if (missing) return broken("stack names a frame that does not exist");
  const LabelTable& labels = d.labels;
  if (labels.begin.empty() || labels.begin.front() != 0 || labels.begin.back() != labels.label.size())
    return broken("label runs do not cover the label column");
  for (std::size_t row = 0; row + 1 < labels.begin.size(); ++row) {
    if (labels.begin[row] > labels.begin[row + 1]) return broken("label runs out of order");
  }
  for (const Label& label : labels.label) {
    if (index_of(label.key) >= d.strings.size() || index_of(label.text) >= d.strings.size() ||
        index_of(label.unit) >= d.strings.size())
      return broken("label names a string that does not exist");
  }
  return ok();
}

Status validate_samples(const Snapshot& snapshot) {
  const auto broken = [](std::string what) -> Status { return Error{ErrorCode::internal, std::move(what)}; };
  const Dictionary& d = *snapshot.dictionary;
  const SampleTable& samples = snapshot.samples;
  if (samples.labels.size() != samples.size()) return broken("sample columns differ in length");
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (index_of(samples.stack[row]) >= d.stacks.size()) return broken("sample names a stack that does not exist");
    if (index_of(samples.labels[row]) >= d.labels.size()) return broken("sample names a label set that does not exist");
    if (row > 0 && !(samples.stack[row - 1] < samples.stack[row] ||
                     (samples.stack[row - 1] == samples.stack[row] && samples.labels[row - 1] < samples.labels[row])))
      return broken("sample rows not sorted, or not unique");
  }
  for (std::size_t c = 0; c < samples.columns.size(); ++c) {
    const Column& column = samples.columns[c];
    if (column.value.size() != samples.size() || (!column.known.empty() && column.known.size() != samples.size()))
      return broken("value columns differ in length");
    for (std::size_t other = 0; other < c; ++other) {
      if (samples.columns[other].type.name == column.type.name)
        return Error{ErrorCode::malformed, "two value columns are called " + column.type.name + ", expected one"};
    }
    std::int64_t total = 0;
    for (const std::int64_t value : column.value) {
      if (!checked_add(total, value, total))
        return Error{ErrorCode::limit,
                     "total of " + column.type.name + " is beyond 2^63-1, expected it to fit in 64 bits"};
    }
  }
  for (const Mapping& mapping : snapshot.mappings) {
    if (index_of(mapping.module) >= d.modules.size()) return broken("mapping names a module that does not exist");
  }
  if (snapshot.allocator != nullptr) return validate(*snapshot.allocator, d);
  return ok();
}

Status validate(const Snapshot& snapshot) {
  if (snapshot.dictionary == nullptr) return Error{ErrorCode::internal, "snapshot without a dictionary"};
  if (Status valid = validate(*snapshot.dictionary); !valid) return valid;
  return validate_samples(snapshot);
}

}  // namespace snapdiff
