#include "formats/torch_cuda/records.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "formats/torch_cuda/summary.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats::torch_cuda {

using pickle::kNoKey;

namespace {

constexpr std::size_t kMostFrames = 65535;  // of one stack; the deepest seen has some 140
constexpr std::size_t kMostRootKeys = 8;    // named in a message
constexpr std::uint32_t kMostUnknown = 16;  // unknown actions noted by name
constexpr std::uint32_t kNoPool = 0xffffffff;
constexpr std::uint32_t kMostDevices = 65536;

Word word_of(std::uint32_t key) {
  return key < static_cast<std::uint32_t>(Word::count) ? static_cast<Word>(key) : Word::count;
}

/// `text` for a message: at most 40 bytes of it, control characters as ?.
std::string cleaned(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (text.size() > 40 ? "..." : "");
}

/// A container that close() was called for, in its own place.
bool is_record(const Value& value) {
  return value.is_container() && value.kind == Kind::lost && value.role != kNowhere;
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::none: return "None";
    case Kind::boolean: return "a bool";
    case Kind::integer:
    case Kind::big:
    case Kind::huge: return "an int";
    case Kind::real: return "a float";
    case Kind::text:
    case Kind::lost_text: return "a text";
    case Kind::pair:
    case Kind::tuple: return "a tuple, or a container built in another way than by APPENDS or SETITEMS";
    case Kind::dict: return "a dict";
    case Kind::list: return "a list";
    case Kind::handle: return "a list or dict of another kind";
    case Kind::lost: return "a shared record, or one of another kind (a dict, list or text that was not kept)";
  }
  return "something else";
}

}  // namespace

Records::Records(pickle::Pools& pools) : pools_(pools), state_(std::make_shared<AllocatorState>()) {
  for (const std::string_view word : kWords) pools_.texts.intern(word);
  state_->streams.push_back(0);
  stream_rows_[0] = 0;
  state_->pools.push_back({});
  pool_rows_.push_back(0);
}

// ---- places --------------------------------------------------------------------------------------

Role Records::root_role(Kind kind) {
  if (kind == Kind::dict) return kRoot;
  if (kind == Kind::list) {
    seen_.bare_list = true;
    seen_.segments = true;
    state_->has_segments = true;
    return kSegments;
  }
  pickle::fail(ErrorCode::unsupported,
               "not a memory snapshot: the root is " + std::string(kind_name(kind)) +
                   ", expected a dict with segments or device_traces, or a list of segments",
               offset_);
}

bool Records::wants_text(Role place, std::uint32_t key) {
  switch (place) {
    case kFrame: return word_of(key) == Word::filename || word_of(key) == Word::name;
    case kAnnotation: return word_of(key) == Word::name || word_of(key) == Word::stage;
    case kSettings: return true;
    default: return false;
  }
}

void Records::open(Role place) {
  innermost_ = place;
  switch (place) {
    case kSegments: in_host_ = false; break;
    case kHostSegments:
      in_host_ = true;
      seen_.host = true;
      break;
    case kTraces: in_host_ = false; break;
    case kHostTraces:
      in_host_ = true;
      seen_.host = true;
      break;
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
        pickle::fail(ErrorCode::limit, "too many devices: more than 65536 lists in device_traces", offset_);
      trace_ = state_->traces.size();
      state_->traces.push_back({count++, in_host_, {}});
      break;
    }
    case kSegmentFrames:
    case kBlockFrames:
    case kHistoryFrames:
    case kEntryFrames: frames_[place].clear(); break;
    case kPoolPair: pair_.clear(); break;
    case kSettings: seen_.settings = true; break;
    case kSettingsTable: table_.clear(); break;
    default: break;
  }
}

Value Records::close(Role place) {
  switch (place) {
    case kFrame: return close_frame();
    case kSegmentFrames:
    case kBlockFrames:
    case kHistoryFrames:
    case kEntryFrames: return close_frames(place);
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
    default: break;
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
    case kSegmentFrames:
    case kBlockFrames:
    case kHistoryFrames:
    case kEntryFrames:
      if (value.kind != Kind::handle || value.role != kFrameHandle) break;
      if (frames_[place].size() < kMostFrames) {
        frames_[place].push_back(FrameId{static_cast<std::uint32_t>(value.bits)});
      } else if (frames_[place].size() == kMostFrames) {
        frames_[place].push_back(builder_.pseudo_frame(kStackCut));
        builder_.notes().add(Severity::data_loss, "stack of more than 65535 frames cut", offset_);
      }
      return;
    case kPoolPair:
      if (pair_.size() < 3) pair_.push_back(number(Word::pool_id, value));
      return;
    case kTraces:
    case kHostTraces:
      if (is_record(value) || (value.is_container() && value.kind == Kind::handle)) return;
      if (value.kind == Kind::handle && value.role == kEmptyHandle) {  // one empty list for several devices
        in_host_ = place == kHostTraces;
        open(kTrace);
        return;
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
    default: return;
  }
  pickle::fail_malformed("item of " + std::string(place_name(place)) + " is " + std::string(kind_name(value.kind)) +
                             ", expected a " + (place == kTraces || place == kHostTraces ? "list" : "dict") +
                             " of its own",
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
      if (key != kNoKey && table_.size() < 4096) {
        table_.append(table_.empty() ? "" : ", ").append(pools_.texts[key]).append(":").append(text_of(value));
      }
      return;
    default: return;
  }
}

// ---- values --------------------------------------------------------------------------------------

std::string Records::path(std::string_view last) const {
  const auto index = [](std::uint64_t n) { return "[" + std::to_string(n) + "]"; };
  const std::string segments = (in_host_ ? "host_segments" : "segments") + index(state_->segments.size_rows());
  const std::uint64_t block = block_has_address_.size();
  std::string out;
  switch (innermost_) {
    case kSegment: out = segments; break;
    case kBlock: out = segments + ".blocks" + index(block); break;
    case kHistoryEntry: out = segments + ".blocks" + index(block) + ".history" + index(block_.history_entries); break;
    case kEntry:
      out = in_host_ ? "host_traces" : "device_traces";
      if (trace_ < state_->traces.size())
        out += index(state_->traces[trace_].device) + index(state_->traces[trace_].events.size());
      break;
    case kAnnotation: out = "external_annotations" + index(state_->annotations.size()); break;
    case kFrame: out = "frame"; break;
    default: return std::string(last);
  }
  return out + "." + std::string(last);
}

void Records::wrong_type(Word word, const Value& value, std::string_view expected) const {
  pickle::fail_malformed(path(kWords[static_cast<std::size_t>(word)]) + " of the wrong type: found " +
                             std::string(kind_name(value.kind)) + ", expected " + std::string(expected),
                         offset_);
}

void Records::missing(std::string_view what) const {
  pickle::fail_malformed(path(what) + " missing: expected it in every record of its kind", offset_);
}

std::int64_t Records::number(Word word, const Value& value) {
  switch (value.kind) {
    case Kind::integer:
    case Kind::boolean: return static_cast<std::int64_t>(value.bits);
    case Kind::real: {
      const double real = std::bit_cast<double>(value.bits);
      if (std::trunc(real) == real && std::fabs(real) < 9.2e18) return static_cast<std::int64_t>(real);
      wrong_type(word, value, "an int");
    }
    case Kind::big:
    case Kind::huge:
      pickle::fail(ErrorCode::limit,
                   path(kWords[static_cast<std::size_t>(word)]) + " out of range: expected an int of 64 bits", offset_);
    default: wrong_type(word, value, "an int");
  }
}

std::int64_t Records::size_number(Word word, const Value& value) {
  const std::int64_t size = number(word, value);
  if (size >= 0) return size;
  builder_.notes().add(Severity::warning,
                       "negative " + std::string(kWords[static_cast<std::size_t>(word)]) + ", counted as 0", offset_);
  return 0;
}

/// Addresses and stream handles: 64 bits, which the C++ writer stores as signed.
std::uint64_t Records::address_number(Word word, const Value& value) {
  return value.kind == Kind::big ? value.bits : static_cast<std::uint64_t>(number(word, value));
}

std::uint32_t Records::device_number(const Value& value) {
  const std::int64_t device = number(Word::device, value);
  if (device >= -1 && device < kMostDevices) return device < 0 ? 0 : static_cast<std::uint32_t>(device);
  pickle::fail(ErrorCode::limit, path("device") + " out of range: found " + std::to_string(device), offset_);
}

std::uint32_t Records::text_row(Word word, const Value& value) {
  if (value.kind == Kind::text) return static_cast<std::uint32_t>(value.bits);
  if (value.kind == Kind::lost_text) return kNoKey;
  wrong_type(word, value, "a text");
}

StackId Records::stack_of(Word word, const Value& value) {
  if (value.kind == Kind::handle && value.role == kStackHandle)
    return StackId{static_cast<std::uint32_t>(value.bits & 0xffffffff)};
  if (value.kind == Kind::none) return StackId{};
  wrong_type(word, value, "a list of frames");
}

std::uint32_t Records::pool_row(Word word, const Value& value) {
  if (value.kind == Kind::none) return 0;
  if (value.kind != Kind::pair) wrong_type(word, value, "a pair of ints");
  const std::size_t pair = static_cast<std::size_t>(value.bits);
  if (pair >= pool_rows_.size()) pool_rows_.resize(pair + 1, kNoPool);
  if (pool_rows_[pair] == kNoPool) {
    pool_rows_[pair] = static_cast<std::uint32_t>(state_->pools.size());
    state_->pools.push_back({pools_.pairs[pair].first, pools_.pairs[pair].second});
  }
  return pool_rows_[pair];
}

std::uint32_t Records::stream_row(std::uint64_t stream) {
  if (stream == 0) return 0;
  const auto [at, is_new] = stream_rows_.try_emplace(stream, static_cast<std::uint32_t>(state_->streams.size()));
  if (is_new) state_->streams.push_back(stream);
  return at->second;
}

StringId Records::string_of(std::uint32_t text) {
  if (text == kNoKey) return StringId{};
  constexpr StringId kNotMade{0xffffffff};
  if (text >= strings_.size()) strings_.resize(std::max<std::size_t>(text + 1, pools_.texts.size()), kNotMade);
  if (strings_[text] == kNotMade) strings_[text] = builder_.string(pools_.texts[text]);
  return strings_[text];
}

std::string Records::text_of(const Value& value) const {
  switch (value.kind) {
    case Kind::none: return "None";
    case Kind::boolean: return value.bits != 0 ? "True" : "False";
    case Kind::integer: return std::to_string(static_cast<std::int64_t>(value.bits));
    case Kind::big: return std::to_string(value.bits);
    case Kind::real: {
      std::string text = std::to_string(std::bit_cast<double>(value.bits));
      while (text.size() > 3 && text.back() == '0' && text[text.size() - 2] != '.') text.pop_back();
      return text;
    }
    case Kind::text: return std::string(pools_.texts[static_cast<std::uint32_t>(value.bits)]);
    default: return "?";
  }
}

// ---- fields --------------------------------------------------------------------------------------

void Records::root_field(Word word, std::uint32_t key, const Value& value) {
  const bool is_list = is_record(value);
  switch (word) {
    case Word::segments:
      if (!is_list) wrong_type(word, value, "a list of segments");
      seen_.segments = true;
      state_->has_segments = true;
      return;
    case Word::device_traces:
      if (!is_list) wrong_type(word, value, "a list of traces");
      seen_.traces = true;
      return;
    case Word::host_segments:
    case Word::host_traces:
    case Word::allocator_settings: return;
    case Word::external_annotations: seen_.annotations = true; return;
    default: break;
  }
  const std::string name = key == kNoKey ? "(not a text)" : cleaned(pools_.texts[key]);
  if (root_keys_.size() < kMostRootKeys) root_keys_.push_back(name);
  builder_.notes().add(Severity::info, "unknown key at the root, not kept", offset_);
}

void Records::segment_field(Word word, const Value& value) {
  switch (word) {
    case Word::device: segment_.device = device_number(value); return;
    case Word::address: segment_.address = address_number(word, value); return;
    case Word::total_size: segment_.size = size_number(word, value); return;
    case Word::allocated_size: segment_.allocated = size_number(word, value); return;
    case Word::active_size: segment_.active = size_number(word, value); return;
    case Word::requested_size: segment_.requested = size_number(word, value); return;
    case Word::stream: segment_.stream = address_number(word, value); return;
    case Word::segment_type:
      if (text_row(word, value) == static_cast<std::uint32_t>(Word::small)) segment_.flags |= kSegmentSmall;
      return;
    case Word::segment_pool_id: segment_.pool = pool_row(word, value); return;
    case Word::is_expandable:
      if (number(word, value) != 0) segment_.flags |= kSegmentExpandable;
      return;
    case Word::frames:
      segment_.stack = stack_of(word, value);
      seen_.segment_frames = true;
      return;
    case Word::blocks:
      if (!is_record(value)) wrong_type(word, value, "a list of blocks");
      return;
    default: return;
  }
}

void Records::block_field(Word word, const Value& value) {
  switch (word) {
    case Word::address: block_.address = address_number(word, value); return;
    case Word::size: block_.size = size_number(word, value); return;
    case Word::requested_size: block_.requested = size_number(word, value); return;
    case Word::state: block_.state = text_row(word, value); return;
    case Word::frames:
      block_.stack = stack_of(word, value);
      block_.has_frames = true;
      seen_.block_frames = true;
      return;
    case Word::history:
      if (!is_record(value)) wrong_type(word, value, "a list");
      seen_.history = true;
      return;
    default: return;
  }
}

void Records::history_field(Word word, const Value& value) {
  if (word == Word::real_size) history_.real_size = size_number(word, value);
  if (word == Word::frames) history_.stack = stack_of(word, value);
}

void Records::entry_field(Word word, const Value& value) {
  switch (word) {
    case Word::action: entry_.action = text_row(word, value); return;
    case Word::addr:
      entry_.address = address_number(word, value);
      entry_.has_address = true;
      return;
    case Word::device_free: entry_.device_free = address_number(word, value); return;
    case Word::size:
      entry_.size = size_number(word, value);
      entry_.has_size = true;
      return;
    case Word::stream: entry_.stream = address_number(word, value); return;
    case Word::time_us: {
      const std::int64_t time = number(word, value);
      constexpr std::int64_t kLimit = std::int64_t{1} << 62;
      if (time > -kLimit && time < kLimit) {
        entry_.time_us = time;
      } else {
        builder_.notes().add(Severity::warning, "time_us beyond any date, counted as unknown", offset_);
      }
      return;
    }
    case Word::frames: entry_.stack = stack_of(word, value); return;
    case Word::pool_id:
      entry_.pool = pool_row(word, value);
      seen_.pool_id = true;
      return;
    case Word::compile_context: seen_.compile_context = true; return;
    default: return;
  }
}

void Records::frame_field(Word word, const Value& value) {
  switch (word) {
    case Word::filename: frame_.file = value.kind == Kind::none ? kNoKey : text_row(word, value); return;
    case Word::name: frame_.name = value.kind == Kind::none ? kNoKey : text_row(word, value); return;
    case Word::line: {
      // Writers that keep the line unsigned store "none", -1, as 2^64 - 1.
      const bool is_beyond = value.kind == Kind::big || value.kind == Kind::huge;
      const std::int64_t line = value.kind == Kind::none ? 0 : is_beyond ? -1 : number(word, value);
      if (line >= 0 && line <= std::numeric_limits<std::int32_t>::max()) {
        frame_.line = static_cast<std::int32_t>(line);
      } else {
        builder_.notes().add(Severity::warning, "line number out of range, counted as unknown", offset_);
      }
      return;
    }
    default: return;
  }
}

void Records::annotation_field(Word word, const Value& value) {
  switch (word) {
    case Word::name: annotation_.name = string_of(text_row(word, value)); return;
    case Word::stage: {
      const std::uint32_t stage = text_row(word, value);
      annotation_.stage = stage == static_cast<std::uint32_t>(Word::start) ? AnnotationStage::start
                          : stage == static_cast<std::uint32_t>(Word::end) ? AnnotationStage::end
                                                                           : AnnotationStage::other;
      return;
    }
    case Word::device: annotation_.device = device_number(value); return;
    case Word::time_us: annotation_.time_us = number(word, value); return;
    default: return;
  }
}

void Records::settings_field(std::uint32_t key, const Value& value) {
  if (key == kNoKey || state_->settings.size() >= 256) return;
  if (word_of(key) == Word::roundup_power2_divisions) return;
  // Versions without the signed cast wrote -1, "no limit", as 2^64 - 1.
  const bool no_limit = value.kind == Kind::big && value.bits == ~std::uint64_t{0};
  state_->settings.emplace_back(cleaned(pools_.texts[key]), no_limit ? "-1" : text_of(value));
}

// ---- records -------------------------------------------------------------------------------------

Value Records::close_frame() {
  constexpr std::string_view kUnknown = "??";  // what the recorder writes where it found nothing
  StringId name = string_of(frame_.name);
  if (name == StringId{}) name = builder_.string(kUnknown);
  const bool has_file = frame_.file != kNoKey && pools_.texts[frame_.file] != kUnknown;
  SnapshotBuilder::FrameSpec spec;
  spec.function = builder_.function(name, StringId{}, has_file ? string_of(frame_.file) : StringId{}, 0);
  spec.line = frame_.line;
  return pickle::make_value(Kind::handle, index_of(builder_.frame(spec)), kFrameHandle);
}

Value Records::close_frames(Role place) {
  std::vector<FrameId>& frames = frames_[place];
  const StackId stack = frames.empty() ? StackId{} : builder_.stack(frames);
  frames.clear();
  return pickle::make_value(Kind::handle, index_of(stack), kStackHandle);
}

TraceAction Records::action_of(std::uint32_t text) {
  switch (word_of(text)) {
    case Word::alloc: return TraceAction::alloc;
    case Word::free_requested: return TraceAction::free_requested;
    case Word::free:
    case Word::free_completed: return TraceAction::free_completed;
    case Word::segment_alloc: return TraceAction::segment_alloc;
    case Word::segment_free: return TraceAction::segment_free;
    case Word::segment_map: return TraceAction::segment_map;
    case Word::segment_unmap: return TraceAction::segment_unmap;
    case Word::oom: return TraceAction::oom;
    case Word::snapshot: return TraceAction::snapshot;
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
  TraceEvent event;
  event.action = action_of(entry_.action);
  const bool is_remark = event.action == TraceAction::oom || event.action == TraceAction::unknown;
  if (!entry_.has_address && !is_remark) missing("addr");
  event.address = event.action == TraceAction::oom ? entry_.device_free : entry_.address;
  event.size = entry_.size;
  event.stream = stream_row(entry_.stream);
  event.pool = entry_.pool;
  event.stack = entry_.stack;
  event.time_us = entry_.time_us;
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
    case Word::active_allocated: state = BlockState::allocated; break;
    case Word::active_pending_free:
    case Word::active_awaiting_free: state = BlockState::pending; break;
    case Word::inactive: break;
    default:
      builder_.notes().add(Severity::data_loss, "unknown block state, counted as inactive", offset_);
      builder_.facts().partial = true;
  }
  BlockTable& blocks = state_->blocks;
  if (blocks.size_rows() >= 0xfffffffe) pickle::fail(ErrorCode::limit, "too many blocks", offset_);
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
  if (annotation_.time_us == kNoTime) {
    builder_.notes().add(Severity::info, "annotation without a time, not kept", offset_);
    return;
  }
  state_->annotations.push_back(annotation_);
}

void Records::close_root() {
  if (seen_.segments || seen_.traces) return;
  std::string keys;
  for (const std::string& key : root_keys_) keys.append(keys.empty() ? "" : ", ").append(key);
  pickle::fail(ErrorCode::unsupported,
               "not a memory snapshot: the root is a dict with " +
                   (keys.empty() ? "none of the keys" : "the keys " + keys) + ", expected segments or device_traces",
               offset_);
}

Result<Snapshot> Records::finish(std::string_view detail) {
  // Traces of the host behind those of the devices, whatever came first.
  std::stable_sort(state_->traces.begin(), state_->traces.end(),
                   [](const DeviceTrace& a, const DeviceTrace& b) { return !a.host && b.host; });
  if (Status summed = summarize(*state_, seen_, detail, builder_); !summed) return std::move(summed).error();
  builder_.set_allocator(state_);
  return builder_.finish();
}

}  // namespace snapdiff::formats::torch_cuda
