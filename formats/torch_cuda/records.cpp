#include "formats/torch_cuda/records.hpp"

#include "analyzer/base/contains.hpp"
#include "formats/input/type_row.hpp"

namespace snapdiff::formats::torch_cuda {

using pickle::kNoKey;

namespace {

Role in_list(Role parent, Kind kind) {
  if (kind == Kind::list) return parent == kTraces || parent == kHostTraces ? kTrace : kNowhere;
  switch (parent) {
    case kSegments:
    case kHostSegments: return kSegment;
    case kBlocks: return kBlock;
    case kHistory: return kHistoryEntry;
    case kTrace: return kEntry;
    case kAnnotations: return kAnnotation;
    default: return Records::takes_runs(parent) ? kFrame : kNowhere;
  }
}

Role in_root(Word word, Kind kind) {
  if (kind == Kind::dict) return word == "allocator_settings"_word ? kSettings : kNowhere;
  switch (word) {
    case "segments"_word: return kSegments;
    case "host_segments"_word: return kHostSegments;
    case "device_traces"_word: return kTraces;
    case "host_traces"_word: return kHostTraces;
    case "external_annotations"_word: return kAnnotations;
    default: return kNowhere;
  }
}

constexpr std::size_t kMostFrames = 65535;  // of one stack; the deepest seen has some 140
constexpr std::uint32_t kMostUnknown = 16;  // unknown actions noted by name

}  // namespace

Records::Records(pickle::Pools& pools) : pools_(pools), state_(std::make_shared<AllocatorState>()) {
  for (const std::string_view word : kWords) pools_.texts.intern(word);
  state_->streams.push_back(0);
  stream_rows_[0] = 0;
  state_->pools.push_back({});
  pool_rows_.push_back(0);
}

Role Records::root_role(Kind kind) {
  if (kind == Kind::dict) return kRoot;
  if (kind == Kind::list) {
    seen_.bare_list = true;
    seen_.segments = true;
    state_->has_segments = true;
    return kSegments;
  }
  fail(ErrorCode::unsupported,
       "not a memory snapshot: the root is " + std::string(kind_name(kind)) +
           ", expected a dict with segments or device_traces, or a list of segments",
       offset_);
}

bool Records::wants_text(Role place, std::uint32_t key) {
  switch (place) {
    case kFrame: return word_of(key) == "filename"_word || word_of(key) == "name"_word;
    case kAnnotation: return word_of(key) == "name"_word || word_of(key) == "stage"_word;
    case kSettings: return true;
    default: return false;
  }
}

void Records::open(Role place) {
  innermost_ = place;
  switch (place) {
    case kSegments:
    case kTraces: in_host_ = false; break;
    case kHostSegments:
    case kHostTraces: in_host_ = seen_.host = true; break;
    case kSegment:
      segment_ = {};
      block_has_address_.clear();
      break;
    case kBlock: block_ = {}; break;
    case kHistoryEntry: history_ = {}; break;
    case kEntry: entry_ = {}; break;
    case kFrame: frame_ = {}; break;
    case kAnnotation: annotation_ = {}; break;
    case kTrace: {
      std::uint32_t& count = in_host_ ? host_traces_ : device_traces_;
      if (count == kMostDevices)
        fail(ErrorCode::limit, "too many devices: more than 65536 lists in device_traces", offset_);
      trace_ = state_->traces.size();
      state_->traces.push_back({count++, in_host_, {}});
      break;
    }
    case kPoolPair: pair_.clear(); break;
    case kSettings: seen_.settings = true; break;
    case kSettingsTable: table_.clear(); break;
    default: frames_[place].clear();
  }
}

Value Records::close(Role place) {
  switch (place) {
    case kFrame: return close_frame();
    case kEntry: close_entry(); break;
    case kBlock: close_block(); break;
    case kHistoryEntry: close_history_entry(); break;
    case kSegment: close_segment(); break;
    case kAnnotation: close_annotation(); break;
    case kTrace:
      if (state_->traces[trace_].events.empty()) return pickle::make_value(Kind::handle, 0, kEmptyHandle);
      break;
    case kPoolPair:
      if (pair_.size() == 2) {
        const std::uint32_t row = pools_.pairs.intern({pair_[0], pair_[1]});
        if (row != HashIndex::kAbsent) return pickle::make_value(Kind::pair, row);
      }
      break;
    case kSettingsTable: state_->settings.emplace_back("roundup_power2_divisions", table_); break;
    case kRoot: close_root(); break;
    default:
      if (takes_runs(place)) return close_frames(place);
  }
  return pickle::make_value(Kind::lost, 0, place);
}

void Records::reopen(Role place, std::uint64_t number) {
  frames_[place].clear();
  const auto frames = builder_.dictionary().stacks.frames(StackId{static_cast<std::uint32_t>(number)});
  frames_[place].assign(frames.begin(), frames.end());
}

void Records::item(Role place, const Value& value) {
  switch (place) {
    case kPoolPair:
      if (pair_.size() < 3) pair_.push_back(number("pool_id"_word, value));
      return;
    case kTraces:
    case kHostTraces:
      if (is_record(value) || (value.is_container() && value.kind == Kind::handle)) return;
      if (value.kind == Kind::handle && value.role == kEmptyHandle) {  // one empty list for several devices
        in_host_ = place == kHostTraces;
        return open(kTrace);
      }
      break;
    case kSegments:
    case kHostSegments:
    case kBlocks:
    case kHistory:
    case kTrace:
    case kAnnotations:
      if (is_record(value)) return;
      break;
    default:
      if (!takes_runs(place)) return;
      if (value.kind != Kind::handle || value.role != kFrameHandle) break;
      if (frames_[place].size() < kMostFrames) {
        frames_[place].push_back(FrameId{static_cast<std::uint32_t>(value.bits)});
      } else if (frames_[place].size() == kMostFrames) {
        frames_[place].push_back(builder_.pseudo_frame(kStackCut));
        builder_.notes().add(Severity::data_loss, "stack of more than 65535 frames cut", offset_);
      }
      return;
  }
  fail_malformed("item of " + std::string(place_name(place)) + " is " + std::string(kind_name(value.kind)) +
                     ", expected a " + (place == kTraces || place == kHostTraces ? "list" : "dict") + " of its own",
                 offset_);
}

void Records::field(Role place, std::uint32_t key, const Value& value) {
  innermost_ = place;
  const Word word = word_of(key);
  switch (place) {
    case kEntry: return entry_field(word, value);
    case kFrame: return frame_field(word, value);
    case kBlock: return block_field(word, value);
    case kSegment: return segment_field(word, value);
    case kHistoryEntry: return history_field(word, value);
    case kAnnotation: return annotation_field(word, value);
    case kRoot: return root_field(word, key, value);
    case kSettings: return settings_field(key, value);
    case kSettingsTable:
      if (key != kNoKey && table_.size() < 4096)
        table_.append(table_.empty() ? "" : ", ").append(pools_.texts[key]).append(":").append(text_of(value));
      return;
    default: return;
  }
}

Value Records::close_frame() {
  constexpr std::string_view kUnknown = "??";  // what the recorder writes where it found nothing
  StringId name = string_of(frame_.name);
  if (name == StringId{}) name = builder_.string(kUnknown);
  const bool has_file = frame_.file != kNoKey && pools_.texts[frame_.file] != kUnknown;
  const FunctionId function = builder_.function(name, StringId{}, has_file ? string_of(frame_.file) : StringId{}, 0);
  const FrameId frame = builder_.frame({.function = function, .line = frame_.line});
  return pickle::make_value(Kind::handle, index_of(frame), kFrameHandle);
}

Value Records::close_frames(Role place) {
  std::vector<FrameId>& frames = frames_[place];
  const StackId stack = frames.empty() ? StackId{} : builder_.stack(frames);
  frames.clear();
  return pickle::make_value(Kind::handle, index_of(stack), kStackHandle);
}

TraceAction Records::action_of(std::uint32_t text) {
  switch (word_of(text)) {
    case "alloc"_word: return TraceAction::alloc;
    case "free_requested"_word: return TraceAction::free_requested;
    case "free"_word:
    case "free_completed"_word: return TraceAction::free_completed;
    case "segment_alloc"_word: return TraceAction::segment_alloc;
    case "segment_free"_word: return TraceAction::segment_free;
    case "segment_map"_word: return TraceAction::segment_map;
    case "segment_unmap"_word: return TraceAction::segment_unmap;
    case "oom"_word: return TraceAction::oom;
    case "snapshot"_word: return TraceAction::snapshot;
    default: break;
  }
  const bool named = text != kNoKey && unknown_actions_ < kMostUnknown;
  const std::size_t before = builder_.notes().all().size();
  builder_.notes().add(
      Severity::warning,
      named ? "unknown action " + cleaned(pools_.texts[text]) + ", without effect" : "unknown action, without effect",
      offset_);
  if (builder_.notes().all().size() != before) ++unknown_actions_;
  return TraceAction::unknown;
}

void Records::close_entry() {
  innermost_ = kEntry;
  if (entry_.action == kNoKey) missing("action");
  if (!entry_.has_size) missing("size");
  TraceEvent& event = entry_.event;
  event.action = action_of(entry_.action);
  const bool is_remark = event.action == TraceAction::oom || event.action == TraceAction::unknown;
  if (!entry_.has_address && !is_remark) missing("addr");
  if (event.action == TraceAction::oom) event.address = entry_.device_free;
  event.stream = stream_row(entry_.stream);
  if (event.time_us != kNoTime) seen_.time = true;
  state_->traces[trace_].events.append(event);
}

void Records::close_history_entry() {
  if (block_.history_entries++ > 0) return;
  block_.first_real_size = history_.real_size;
  block_.first_stack = history_.stack;
}

void Records::close_block() {
  innermost_ = kBlock;
  if (!block_.size) missing("size");
  if (block_.state == kNoKey) missing("state");
  BlockState state = BlockState::inactive;
  switch (word_of(block_.state)) {
    case "active_allocated"_word: state = BlockState::allocated; break;
    case "active_pending_free"_word:
    case "active_awaiting_free"_word: state = BlockState::pending; break;
    case "inactive"_word: break;
    default:
      builder_.notes().add(Severity::data_loss, "unknown block state, counted as inactive", offset_);
      builder_.facts().partial = true;
  }
  BlockTable& blocks = state_->blocks;
  if (blocks.size_rows() >= 0xfffffffe) fail(ErrorCode::limit, "too many blocks", offset_);
  const bool active = state != BlockState::inactive;
  const std::int64_t requested = block_.requested.value_or(block_.first_real_size.value_or(*block_.size));
  const StackId stack = block_.has_frames ? block_.stack : block_.first_stack;
  blocks.segment.push_back(static_cast<std::uint32_t>(state_->segments.size_rows()));
  blocks.address.push_back(block_.address.value_or(0));
  blocks.size.push_back(*block_.size);
  blocks.requested.push_back(active ? requested : 0);
  blocks.state.push_back(state);
  blocks.stack.push_back(active ? stack : StackId{});
  block_has_address_.push_back(block_.address ? 1 : 0);
}

void Records::close_segment() {
  innermost_ = kSegment;
  if (!segment_.address) missing("address");
  if (!segment_.size) missing("total_size");
  SegmentTable& segments = state_->segments;
  BlockTable& blocks = state_->blocks;
  std::uint64_t next = *segment_.address;
  const std::size_t first = blocks.size_rows() - block_has_address_.size();
  for (std::size_t i = 0; i < block_has_address_.size(); ++i) {
    if (block_has_address_[i] == 0) blocks.address[first + i] = next;
    next = blocks.address[first + i] + static_cast<std::uint64_t>(blocks.size[first + i]);
  }
  segments.device.push_back(segment_.device);
  segments.address.push_back(*segment_.address);
  segments.size.push_back(*segment_.size);
  segments.stated_allocated.push_back(segment_.allocated);
  segments.stated_active.push_back(segment_.active);
  segments.stated_requested.push_back(segment_.requested);
  segments.stream.push_back(stream_row(segment_.stream));
  segments.pool.push_back(segment_.pool);
  segments.flags.push_back(static_cast<std::uint8_t>(segment_.flags | (in_host_ ? kSegmentHost : 0)));
  segments.stack.push_back(segment_.stack);
  segments.block_begin.push_back(blocks.size_rows());
  block_has_address_.clear();
}

void Records::close_annotation() {
  if (annotation_.time_us == kNoTime)
    return builder_.notes().add(Severity::info, "annotation without a time, not kept", offset_);
  state_->annotations.push_back(annotation_);
}

void Records::close_root() {
  if (seen_.segments || seen_.traces) return;
  std::string keys;
  for (const std::string& key : root_keys_) keys.append(keys.empty() ? "" : ", ").append(key);
  fail(ErrorCode::unsupported,
       "not a memory snapshot: the root is a dict with " + (keys.empty() ? "none of the keys" : "the keys " + keys) +
           ", expected segments or device_traces",
       offset_);
}

Result<Snapshot> Records::finish(std::string_view detail) {
  // Traces of the host after those of the devices, whatever came first.
  std::stable_sort(state_->traces.begin(), state_->traces.end(),
                   [](const DeviceTrace& a, const DeviceTrace& b) { return !a.host && b.host; });
  summarize(*state_, seen_, detail, builder_);
  builder_.set_allocator(state_);
  return builder_.finish();
}

Role child_place(Role parent, std::uint32_t key, Kind kind) {
  if (parent == kNowhere) return kNowhere;
  if (key == 0xffffffff) return in_list(parent, kind);
  const auto word = static_cast<Word>(key);
  if (parent == kRoot) return in_root(word, kind);
  if (parent == kSettings)
    return kind == Kind::dict && word == "roundup_power2_divisions"_word ? kSettingsTable : kNowhere;
  if (kind != Kind::list) return kNowhere;
  if (word == "frames"_word) {
    switch (parent) {
      case kSegment: return kSegmentFrames;
      case kBlock: return kBlockFrames;
      case kHistoryEntry: return kHistoryFrames;
      case kEntry: return kEntryFrames;
      default: return kNowhere;
    }
  }
  if (word == "blocks"_word && parent == kSegment) return kBlocks;
  if (word == "history"_word && parent == kBlock) return kHistory;
  if ((word == "segment_pool_id"_word && parent == kSegment) || (word == "pool_id"_word && parent == kEntry))
    return kPoolPair;
  return kNowhere;
}

std::string_view place_name(Role place) {
  switch (place) {
    case kRoot: return "the root";
    case kSegments: return "segments";
    case kHostSegments: return "host_segments";
    case kTraces: return "device_traces";
    case kHostTraces: return "host_traces";
    case kAnnotations: return "external_annotations";
    case kBlocks: return "blocks";
    case kHistory: return "history";
    default: return Records::takes_runs(place) ? "frames" : "a list";
  }
}

}  // namespace snapdiff::formats::torch_cuda
