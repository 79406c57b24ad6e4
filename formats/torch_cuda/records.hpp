#pragma once

#include <unordered_map>

#include "formats/pickle/text_pool.hpp"
#include "formats/pickle/value.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::torch_cuda {

using pickle::Kind;
using pickle::Role;
using pickle::Value;

/// A word of the format: a row of kWords, and of the pool of texts, whose first ones they are.
enum class Word : std::uint32_t {};
inline constexpr auto kWords = text::words_in<59>(
    "segments device_traces allocator_settings external_annotations host_segments host_traces device address "
    "total_size allocated_size active_size requested_size stream segment_type segment_pool_id is_expandable "
    "frames blocks size state history addr real_size action device_free time_us compile_context user_metadata "
    "pool_id forward_frames category filename line name stage fx_node_op fx_node_name fx_node_target "
    "fx_original_trace fx_node_info roundup_power2_divisions active_allocated active_pending_free "
    "active_awaiting_free inactive small large alloc free_requested free_completed free segment_alloc "
    "segment_free segment_map segment_unmap oom snapshot START END ");
inline constexpr Word kNoWord{std::size(kWords)};

/// The word that is written like this; of one that is not in the list the compiler says so.
consteval Word operator""_word(const char* text, std::size_t size) {
  std::uint32_t row = 0;
  while (kWords[row] != std::string_view(text, size)) ++row;
  return Word{row};
}

/// Where a container is. Segments and traces of the host have the places of the device's.
enum Place : Role {
  kNowhere,
  kRoot,
  kSegments,
  kHostSegments,
  kSegment,
  kSegmentFrames,
  kBlocks,
  kBlock,
  kBlockFrames,
  kHistory,
  kHistoryEntry,
  kHistoryFrames,
  kTraces,
  kHostTraces,
  kTrace,
  kEntry,
  kEntryFrames,
  kFrame,
  kAnnotations,
  kAnnotation,
  kSettings,
  kSettingsTable,
  kPoolPair,
  kPlaces
};

/// Classes of handles.
inline constexpr Role kFrameHandle = 0;  ///< bits is a FrameId
inline constexpr Role kStackHandle = 1;  ///< bits is a StackId, 0 for an empty list
inline constexpr Role kEmptyHandle = 2;  ///< another list, empty

/// The place of a dict or list under `word` of a dict at `parent` (kNoWord and beyond: any
/// other text), or in a list at `parent` (pickle::kNoKey).
Role child_place(Role parent, std::uint32_t word, Kind kind);

/// Name of a place for messages: "segments", "device_traces", "external_annotations".
std::string_view place_name(Role place);

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

/// Rows, counters, facts and notes of a snapshot, from the segments and blocks.
/// Throws Failure: limit, when a sum does not fit in 64 bits.
void summarize(const AllocatorState& state, const SeenKeys& seen, std::string_view detail, SnapshotBuilder& builder);

/// "A" to "G", for people; recognised by the keys that were there.
std::string_view layout_letter(const SeenKeys& seen);

}  // namespace snapdiff::formats::torch_cuda
