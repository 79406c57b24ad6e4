#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/tracker_lines/typed_fields.hpp"
#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::tracker_lines {

/// The frames and stacks that a run of lines (from one header to the next) has defined. What the snapshots of the run
/// use of them is interned again in each, on first use.
class RunTables {
 public:
  void clear() { *this = RunTables{}; }
  void set_root_first(bool root_first) { root_first_ = root_first; }
  bool root_first() const { return root_first_; }

  /// Take a frame or stack line. Throw LineError: a wrong value, a frame that is not defined, another definition under
  /// the same id (rule 1).
  void define_frame(const Fields& fields);
  void define_stack(const Fields& fields);

  struct Frame {
    StringId function{};
    StringId file{};
    StringId module{};
    std::int32_t line = 0;
    std::uint64_t address = kNoOffset;
    bool inlined = false;
    friend bool operator==(const Frame&, const Frame&) = default;
  };

  static constexpr std::uint32_t kNone = HashIndex::kAbsent;
  /// Row of the stack called `id`, or kNone.
  std::uint32_t stack_row(std::int64_t id) const { return stack_ids_.find(id); }

  std::size_t frame_count() const { return frames_.size(); }
  std::size_t stack_count() const { return stack_begin_.size() - 1; }
  const Frame& frame(std::uint32_t row) const { return frames_[row]; }
  /// Rows of its frames, leaf first.
  std::span<const std::uint32_t> frames_of(std::uint32_t stack) const {
    return std::span(stack_frames_).subspan(stack_begin_[stack], stack_begin_[stack + 1] - stack_begin_[stack]);
  }
  std::string_view text(StringId id) const { return texts_[id]; }

 private:
  class IdIndex {
   public:
    std::uint32_t find(std::int64_t id) const {
      return rows_.find(mix64(static_cast<std::uint64_t>(id)), [&](std::uint32_t row) { return ids_[row] == id; });
    }
    void insert(std::int64_t id) {
      rows_.insert(mix64(static_cast<std::uint64_t>(id)), static_cast<std::uint32_t>(ids_.size()));
      ids_.push_back(id);
    }

   private:
    HashIndex rows_;
    std::vector<std::int64_t> ids_;
  };

  StringId intern(std::string_view text);

  StringTable texts_;
  HashIndex text_rows_;
  std::vector<Frame> frames_;
  IdIndex frame_ids_;
  std::vector<std::uint64_t> stack_begin_{0};
  std::vector<std::uint32_t> stack_frames_;
  IdIndex stack_ids_;
  std::vector<std::uint32_t> scratch_;
  bool root_first_ = false;
};

/// Ids in one snapshot's builder for what RunTables holds; made on first use.
class TableIds {
 public:
  TableIds(const RunTables& tables, SnapshotBuilder& builder) : tables_(tables), builder_(builder) {}

  StackId stack(std::uint32_t row);
  /// One text of an inline stack.
  FrameId inline_frame(std::string_view text);

 private:
  static constexpr std::uint32_t kUnset = 0xffffffffU;
  FrameId frame(std::uint32_t row);

  const RunTables& tables_;
  SnapshotBuilder& builder_;
  std::vector<std::uint32_t> frame_;
  std::vector<std::uint32_t> stack_;
  std::vector<FrameId> scratch_;
  HashIndex inline_rows_;  // by text
  std::vector<StringId> inline_text_;
  std::vector<FrameId> inline_frame_;
};

}  // namespace snapdiff::formats::tracker_lines
