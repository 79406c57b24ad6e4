#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/torch_cuda/schema.hpp"
#include "snapdiff/allocator_state.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::formats::torch_cuda {

inline constexpr std::uint32_t kMostDevices = 65536;

inline Word word_of(std::uint32_t key) { return key < static_cast<std::uint32_t>(kNoWord) ? Word{key} : kNoWord; }

/// A container that close() was called for, in its own place.
inline bool is_record(const Value& value) {
  return value.is_container() && value.kind == Kind::lost && value.role != kNowhere;
}

/// `text` for a message: at most 40 bytes of it, control characters as ?.
std::string cleaned(std::string_view text);

/// "a dict"
std::string_view kind_name(Kind kind);

/// Which keys were seen; the layout is recognised by them (README.md).
struct SeenKeys {
  bool bare_list = false;
  bool history = false;
  bool block_frames = false;
  bool segment_frames = false;
  bool settings = false;
  bool annotations = false;
  bool compile_context = false;
  bool pool_id = false;
  bool time = false;
  bool host = false;
  bool segments = false;
  bool traces = false;
};

/// Makes the model out of the dictionary's pieces, in whatever order they come. It is the consumer
/// of pickle::Machine (machine.hpp says when what is called); the JSON reader calls it in the same
/// way. Errors are thrown as Failure.
class Records {
 public:
  explicit Records(pickle::Pools& pools);

  Role root_role(Kind kind);
  static Role child(Role parent, std::uint32_t key, Kind kind) { return child_place(parent, key, kind); }
  static bool gathers(Role place) {
    return place == kSegments || place == kHostSegments || place == kBlocks || place == kTrace || place == kTraces ||
           place == kHostTraces || place == kAnnotations || place == kHistory || takes_runs(place);
  }
  static bool takes_runs(Role place) {
    return place == kEntryFrames || place == kBlockFrames || place == kSegmentFrames || place == kHistoryFrames;
  }
  bool is_empty(Role place) const { return frames_[place].empty(); }
  static bool wants_text(Role place, std::uint32_t key);
  void open(Role place);
  void field(Role place, std::uint32_t key, const Value& value);
  void item(Role place, const Value& value);
  Value close(Role place);
  void reopen(Role place, std::uint64_t number);
  void at(std::uint64_t offset) { offset_ = offset; }
  void bad_text() { builder_.notes().add(Severity::warning, "text that is not UTF-8: bytes replaced", offset_); }

  SnapshotBuilder& builder() { return builder_; }
  const SeenKeys& seen() const { return seen_; }

  /// After the root was closed. `detail` goes in front of the layout in facts.format_detail.
  Result<Snapshot> finish(std::string_view detail);

 private:
  struct FrameParts {
    std::uint32_t file = pickle::kNoKey;
    std::uint32_t name = pickle::kNoKey;
    std::int32_t line = 0;
  };
  struct EntryParts {
    TraceEvent event;  ///< without its action and stream
    std::uint32_t action = pickle::kNoKey;
    bool has_address = false;
    bool has_size = false;
    std::uint64_t device_free = 0;
    std::uint64_t stream = 0;
  };
  struct BlockParts {
    std::optional<std::uint64_t> address;
    std::optional<std::int64_t> size;
    std::optional<std::int64_t> requested;
    std::uint32_t state = pickle::kNoKey;
    StackId stack{};
    bool has_frames = false;
    std::uint32_t history_entries = 0;
    std::optional<std::int64_t> first_real_size;
    StackId first_stack{};
  };
  struct HistoryParts {
    std::optional<std::int64_t> real_size;
    StackId stack{};
  };
  struct SegmentParts {
    std::optional<std::uint64_t> address;
    std::optional<std::int64_t> size;
    std::uint32_t device = 0;
    std::int64_t allocated = -1;
    std::int64_t active = -1;
    std::int64_t requested = -1;
    std::uint64_t stream = 0;
    std::uint32_t pool = 0;
    std::uint8_t flags = 0;
    StackId stack{};
  };

  void root_field(Word word, std::uint32_t key, const Value& value);
  void segment_field(Word word, const Value& value);
  void block_field(Word word, const Value& value);
  void history_field(Word word, const Value& value);
  void entry_field(Word word, const Value& value);
  void frame_field(Word word, const Value& value);
  void annotation_field(Word word, const Value& value);
  void settings_field(std::uint32_t key, const Value& value);

  Value close_frame();
  Value close_frames(Role place);
  void close_entry();
  void close_block();
  void close_history_entry();
  void close_segment();
  void close_annotation();
  void close_root();

  StringId string_of(std::uint32_t text);
  std::string text_of(const Value& value) const;
  std::int64_t number(Word word, const Value& value);
  std::int64_t size_number(Word word, const Value& value);
  std::uint64_t address_number(Word word, const Value& value);
  std::uint32_t device_number(const Value& value);
  std::uint32_t text_row(Word word, const Value& value);
  StackId stack_of(Word word, const Value& value);
  std::uint32_t pool_row(Word word, const Value& value);
  std::uint32_t stream_row(std::uint64_t stream);
  TraceAction action_of(std::uint32_t text);
  std::string path(std::string_view last) const;
  [[noreturn]] void wrong_type(Word word, const Value& value, std::string_view expected) const;
  [[noreturn]] void missing(std::string_view what) const;

  pickle::Pools& pools_;
  SnapshotBuilder builder_;
  std::shared_ptr<AllocatorState> state_;
  SeenKeys seen_;
  std::uint64_t offset_ = 0;
  Role innermost_ = kNowhere;  // for error paths
  bool in_host_ = false;

  std::array<std::vector<FrameId>, kPlaces> frames_;
  FrameParts frame_;
  EntryParts entry_;
  BlockParts block_;
  HistoryParts history_;
  SegmentParts segment_;
  Annotation annotation_;
  std::vector<std::uint8_t> block_has_address_;  // of the open segment
  std::vector<std::int64_t> pair_;
  std::string table_;
  std::vector<std::string> root_keys_;
  std::vector<StringId> strings_;  // of texts; ~0 where not yet made
  std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> stream_rows_;
  std::vector<std::uint32_t> pool_rows_;  // by row of the PairPool
  std::size_t trace_ = 0;                 // of state_->traces: the open one
  std::uint32_t device_traces_ = 0;
  std::uint32_t host_traces_ = 0;
  std::uint32_t unknown_actions_ = 0;
};

}  // namespace snapdiff::formats::torch_cuda
