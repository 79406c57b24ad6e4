// Values of records, and which field each one fills.
#include <cmath>

#include "formats/torch_cuda/records.hpp"

namespace snapdiff::formats::torch_cuda {

using pickle::kNoKey;

namespace {

constexpr std::size_t kMostRootKeys = 8;  // named in a message
constexpr std::uint32_t kNoPool = 0xffffffff;

}  // namespace

std::string cleaned(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (text.size() > 40 ? "..." : "");
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
  fail_malformed(path(kWords[static_cast<std::size_t>(word)]) + " of the wrong type: found " +
                     std::string(kind_name(value.kind)) + ", expected " + std::string(expected),
                 offset_);
}

void Records::missing(std::string_view what) const {
  fail_malformed(path(what) + " missing: expected it in every record of its kind", offset_);
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
      fail(ErrorCode::limit, path(kWords[static_cast<std::size_t>(word)]) + " out of range: expected an int of 64 bits",
           offset_);
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
  const std::int64_t device = number("device"_word, value);
  if (device >= -1 && device < kMostDevices) return device < 0 ? 0 : static_cast<std::uint32_t>(device);
  fail(ErrorCode::limit, path("device") + " out of range: found " + std::to_string(device), offset_);
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

void Records::root_field(Word word, std::uint32_t key, const Value& value) {
  const bool is_list = is_record(value);
  switch (word) {
    case "segments"_word:
      if (!is_list) wrong_type(word, value, "a list of segments");
      seen_.segments = true;
      state_->has_segments = true;
      return;
    case "device_traces"_word:
      if (!is_list) wrong_type(word, value, "a list of traces");
      seen_.traces = true;
      return;
    case "host_segments"_word:
    case "host_traces"_word:
    case "allocator_settings"_word: return;
    case "external_annotations"_word: seen_.annotations = true; return;
    default: break;
  }
  const std::string name = key == kNoKey ? "(not a text)" : cleaned(pools_.texts[key]);
  if (root_keys_.size() < kMostRootKeys) root_keys_.push_back(name);
  builder_.notes().add(Severity::info, "unknown key at the root, not kept", offset_);
}

void Records::segment_field(Word word, const Value& value) {
  switch (word) {
    case "device"_word: segment_.device = device_number(value); return;
    case "address"_word: segment_.address = address_number(word, value); return;
    case "total_size"_word: segment_.size = size_number(word, value); return;
    case "allocated_size"_word: segment_.allocated = size_number(word, value); return;
    case "active_size"_word: segment_.active = size_number(word, value); return;
    case "requested_size"_word: segment_.requested = size_number(word, value); return;
    case "stream"_word: segment_.stream = address_number(word, value); return;
    case "segment_type"_word:
      if (text_row(word, value) == static_cast<std::uint32_t>("small"_word)) segment_.flags |= kSegmentSmall;
      return;
    case "segment_pool_id"_word: segment_.pool = pool_row(word, value); return;
    case "is_expandable"_word:
      if (number(word, value) != 0) segment_.flags |= kSegmentExpandable;
      return;
    case "frames"_word:
      segment_.stack = stack_of(word, value);
      seen_.segment_frames = true;
      return;
    case "blocks"_word:
      if (!is_record(value)) wrong_type(word, value, "a list of blocks");
      return;
    default: return;
  }
}

void Records::block_field(Word word, const Value& value) {
  switch (word) {
    case "address"_word: block_.address = address_number(word, value); return;
    case "size"_word: block_.size = size_number(word, value); return;
    case "requested_size"_word: block_.requested = size_number(word, value); return;
    case "state"_word: block_.state = text_row(word, value); return;
    case "frames"_word:
      block_.stack = stack_of(word, value);
      block_.has_frames = true;
      seen_.block_frames = true;
      return;
    case "history"_word:
      if (!is_record(value)) wrong_type(word, value, "a list");
      seen_.history = true;
      return;
    default: return;
  }
}

void Records::history_field(Word word, const Value& value) {
  if (word == "real_size"_word) history_.real_size = size_number(word, value);
  if (word == "frames"_word) history_.stack = stack_of(word, value);
}

void Records::entry_field(Word word, const Value& value) {
  switch (word) {
    case "action"_word: entry_.action = text_row(word, value); return;
    case "addr"_word:
      entry_.event.address = address_number(word, value);
      entry_.has_address = true;
      return;
    case "device_free"_word: entry_.device_free = address_number(word, value); return;
    case "size"_word:
      entry_.event.size = size_number(word, value);
      entry_.has_size = true;
      return;
    case "stream"_word: entry_.stream = address_number(word, value); return;
    case "time_us"_word: {
      const std::int64_t time = number(word, value);
      constexpr std::int64_t kLimit = std::int64_t{1} << 62;
      if (time > -kLimit && time < kLimit) {
        entry_.event.time_us = time;
      } else {
        builder_.notes().add(Severity::warning, "time_us beyond any date, counted as unknown", offset_);
      }
      return;
    }
    case "frames"_word: entry_.event.stack = stack_of(word, value); return;
    case "pool_id"_word:
      entry_.event.pool = pool_row(word, value);
      seen_.pool_id = true;
      return;
    case "compile_context"_word: seen_.compile_context = true; return;
    default: return;
  }
}

void Records::frame_field(Word word, const Value& value) {
  switch (word) {
    case "filename"_word: frame_.file = value.kind == Kind::none ? kNoKey : text_row(word, value); return;
    case "name"_word: frame_.name = value.kind == Kind::none ? kNoKey : text_row(word, value); return;
    case "line"_word: {
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
    case "name"_word: annotation_.name = string_of(text_row(word, value)); return;
    case "stage"_word: {
      const std::uint32_t stage = text_row(word, value);
      annotation_.stage = stage == static_cast<std::uint32_t>("START"_word) ? AnnotationStage::start
                          : stage == static_cast<std::uint32_t>("END"_word) ? AnnotationStage::end
                                                                            : AnnotationStage::other;
      return;
    }
    case "device"_word: annotation_.device = device_number(value); return;
    case "time_us"_word: annotation_.time_us = number(word, value); return;
    default: return;
  }
}

void Records::settings_field(std::uint32_t key, const Value& value) {
  if (key == kNoKey || state_->settings.size() >= 256) return;
  if (word_of(key) == "roundup_power2_divisions"_word) return;
  // Versions without the signed cast wrote -1, "no limit", as 2^64 - 1.
  const bool no_limit = value.kind == Kind::big && value.bits == ~std::uint64_t{0};
  state_->settings.emplace_back(cleaned(pools_.texts[key]), no_limit ? "-1" : text_of(value));
}

}  // namespace snapdiff::formats::torch_cuda
