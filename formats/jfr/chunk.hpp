#pragma once

#include <array>

#include "formats/jfr/metadata.hpp"

namespace snapdiff::formats::jfr {

struct ChunkHeader {
  static constexpr std::size_t kBytes = 68;
  static constexpr std::string_view kMagic{"FLR\0", 4};
  std::uint64_t offset = 0;  ///< in the input
  std::uint64_t size = 0;    ///< 0: being written
  std::uint64_t metadata_at = 0;
  std::uint16_t major = 0, minor = 0;
  std::int64_t start_ns = 0, duration_ns = 0, start_ticks = 0, ticks_per_second = 0;

  /// `bytes` are kBytes that begin with kMagic. Throws Failure: malformed, unsupported.
  ChunkHeader(std::string_view bytes, std::uint64_t at) : offset(at) {
    Cursor from(bytes, at, kMagic.size());
    major = static_cast<std::uint16_t>(from.fixed(2));
    minor = static_cast<std::uint16_t>(from.fixed(2));
    if (major != 2 && major != 1) fail(ErrorCode::unsupported, instead("version not read", major, "1 or 2"), at);
    size = from.fixed(8);
    from.fixed(8);  // of the last constants: they are found by walking over the events
    metadata_at = from.fixed(8);
    start_ns = static_cast<std::int64_t>(from.fixed(8));
    duration_ns = static_cast<std::int64_t>(from.fixed(8));
    start_ticks = static_cast<std::int64_t>(from.fixed(8));
    ticks_per_second = static_cast<std::int64_t>(from.fixed(8));
    const std::uint64_t flags = from.fixed(4);
    if ((flags & 1) == 0)
      fail(ErrorCode::unsupported,
           "numbers that are not compressed: found flags " + std::to_string(flags) + ", expected bit 0",
           at + kBytes - 4);
    if (ticks_per_second <= 0) fail_malformed(instead("ticks per second", ticks_per_second, "more than 0"), at + 56);
  }

  /// Nanoseconds since 1970, held within 64 bits.
  std::int64_t time_of(std::int64_t ticks) const {
    __extension__ using Wide = __int128;
    const Wide time = Wide{start_ns} + (Wide{ticks} - start_ticks) * 1'000'000'000 / ticks_per_second;
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<Wide>(time, Limits::min(), Limits::max()));
  }
};

/// The value of one wanted field.
struct Value {
  std::uint32_t type = kNoType;  ///< kNoType: the field is not there
  bool in_pool = false;          ///< `number` is the key of a constant of `type`
  bool is_array = false;
  std::int64_t number = 0;
  std::size_t at = 0;  ///< in the chunk, of a text, an array or a group of fields
  bool known() const { return type != kNoType; }
};

/// How to get at some fields of a type: which fields are passed over and which are read.
struct Plan {
  struct Step {
    const Field* field = nullptr;
    int slot = -1;  ///< of the value; -1: passed over
  };
  std::vector<Step> steps;
};

/// A chunk of a recording: types, constants and events. Its bytes must outlive it.
class Chunk {
 public:
  static constexpr std::size_t kMostWanted = 8;
  static constexpr std::size_t kLongestText = 512;
  using Values = std::array<Value, kMostWanted>;
  using Names = std::span<const std::string_view>;

  /// Throws Failure: malformed.
  Chunk(std::string_view bytes, const ChunkHeader& header)
      : bytes_(bytes), header_(header), types_(read_metadata()), constants_(types_.size()) {
    string_type_ = types_.find(std::string_view("java.lang.String"));
    Cursor at(bytes_, header_.offset, ChunkHeader::kBytes);
    while (at.left() > 0) {
      Cursor body = event(at);
      if (body.number() == kConstantsId) read_constants(body);
    }
  }

  const ChunkHeader& header() const { return header_; }
  const Metadata& types() const { return types_; }

  /// Calls `visit(type row, body, offset)` for each event, in the order of the file. Throws Failure: malformed.
  template <class Visit>
  void each_event(Visit visit) const {
    Cursor at(bytes_, header_.offset, ChunkHeader::kBytes);
    while (at.left() > 0) {
      Cursor body = event(at);
      const std::uint64_t id = body.number();
      if (id != kMetadataId && id != kConstantsId) visit(types_.find(id), body, id);
    }
  }

  /// `names` of fields, `heapSpace.committedSize` within another. `whole`: reading ends behind the value.
  Plan plan(std::uint32_t type, Names names, bool whole = false) const {
    Plan plan;
    add_steps(type, "", names, plan);
    while (!whole && !plan.steps.empty() && plan.steps.back().slot < 0) plan.steps.pop_back();
    return plan;
  }

  Values read(const Plan& plan, Cursor& at) const {
    Values values;
    for (const Plan::Step& step : plan.steps) {
      if (step.slot < 0) {
        types_.skip_field(*step.field, at);
      } else {
        values[static_cast<std::size_t>(step.slot)] = value_of(*step.field, at);
      }
    }
    return values;
  }

  /// The place of a constant; false where there is none (key 0, or one that the chunk lacks).
  bool find(const Value& reference, Cursor& at) const {
    if (!reference.in_pool) return false;
    const Constants& pool = constants_[reference.type];
    const std::uint32_t row = pool.keys.find(static_cast<std::uint64_t>(reference.number));
    if (row == kNoType) {
      missing_ += reference.number != 0 ? 1U : 0U;
      return false;
    }
    at = cursor(pool.at[row]);
    return true;
  }

  /// Fields of a constant, or of a group of fields; all unknown where there is none.
  Values look(const Value& value, Names names) {
    Cursor at = cursor(value.at);
    if (!value.known() || (value.in_pool && !find(value, at)) || types_[value.type].form != Form::fields) return {};
    auto known = std::find_if(plans_.begin(), plans_.end(), [&](const KnownPlan& each) {
      return each.type == value.type && each.names == names.data();
    });
    if (known == plans_.end()) {
      plans_.push_back({value.type, names.data(), plan(value.type, names)});
      known = plans_.end() - 1;
    }
    return read(known->plan, at);
  }

  Cursor cursor(std::size_t at) const { return Cursor(bytes_, header_.offset, at); }
  /// A text, or the text of a constant whose first field is one; not more than `longest` bytes of it, since any
  /// number of others may refer to one text.
  std::string text(Value value, std::size_t longest = kLongestText) const {
    constexpr int kMostSteps = 8;  // a text is a constant of a constant at most; more is a circle
    for (int steps = 0; steps < kMostSteps && value.known() && !value.is_array; ++steps) {
      Cursor at = cursor(value.at);
      if (value.in_pool && !find(value, at)) break;
      const Type& type = types_[value.type];
      if (type.form == Form::text) {
        std::string text;
        const std::uint64_t key = read_text(at, &text, longest);
        if (key == 0) return text;
        value = {string_type_, true, false, static_cast<std::int64_t>(key), 0};
      } else if (type.form == Form::fields && !type.fields.empty()) {
        value = value_of(type.fields.front(), at);
      } else {
        break;
      }
    }
    return {};
  }

  std::uint64_t missing_constants() const { return missing_; }

 private:
  static constexpr std::uint64_t kMetadataId = 0, kConstantsId = 1;
  struct Constants {
    NumberRows keys;
    std::vector<std::uint32_t> at;
  };
  struct KnownPlan {
    std::uint32_t type;
    const std::string_view* names;
    Plan plan;
  };

  /// The event at `at`, which moves behind it.
  Cursor event(Cursor& at) const {
    const Cursor start = at;
    const std::uint64_t size = at.number();
    const std::size_t head = at.at() - start.at();
    if (size <= head || size - head > at.left())
      fail_malformed(
          instead("size of an event", size, std::to_string(head + 1) + " to " + std::to_string(start.left())),
          start.offset());
    const Cursor body = at.first(static_cast<std::size_t>(size) - head);
    at.skip(size - head);
    return body;
  }

  Metadata read_metadata() const {
    if (header_.metadata_at < ChunkHeader::kBytes || header_.metadata_at >= bytes_.size())
      fail_malformed(instead("place of the metadata", header_.metadata_at,
                             std::to_string(ChunkHeader::kBytes) + " to " + std::to_string(bytes_.size())),
                     header_.offset + 24);
    Cursor at(bytes_, header_.offset, static_cast<std::size_t>(header_.metadata_at));
    Cursor body = event(at);
    const std::uint64_t start = body.offset();
    const std::uint64_t id = body.number();
    if (id != kMetadataId)
      fail_malformed("metadata: found an event of type " + std::to_string(id) + ", expected 0", start);
    return Metadata(body);
  }

  /// Start, duration, distance to the checkpoint before, kind; pools of a type, of which each constant has a key.
  void read_constants(Cursor body) {
    for (int fields = 0; fields < 3; ++fields) body.number();
    body.byte();
    for (std::size_t pools = body.count(); pools > 0; --pools) {
      const std::uint64_t start = body.offset();
      const std::uint64_t id = body.number();
      const std::uint32_t type = types_.find(id);
      if (type == kNoType)
        fail_malformed(
            "constants of an unknown type: found id " + std::to_string(id) + ", expected one of the metadata", start);
      Constants& pool = constants_[type];
      for (std::size_t left = body.count(); left > 0; --left) {
        const std::uint32_t row = pool.keys.intern(body.number());
        if (row == pool.at.size()) pool.at.push_back(static_cast<std::uint32_t>(body.at()));
        types_.skip_value(type, body);
      }
    }
  }

  void add_steps(std::uint32_t type, std::string_view prefix, Names names, Plan& plan) const {
    constexpr std::size_t kMostSteps = std::size_t{1} << 16;
    for (const Field& field : types_[type].fields) {
      if (plan.steps.size() == kMostSteps)
        fail_malformed("type with too many fields: expected at most " + std::to_string(kMostSteps), header_.offset);
      int slot = -1;
      std::string_view within;  // "heapSpace." of a name that continues after it
      for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t end = prefix.size() + field.name.size();
        if (!names[i].starts_with(prefix) || !names[i].substr(prefix.size()).starts_with(field.name)) continue;
        if (names[i].size() == end) slot = static_cast<int>(i);
        if (names[i].size() > end && names[i][end] == '.') within = names[i].substr(0, end + 1);
      }
      if (slot < 0 && !within.empty() && !field.in_pool && !field.is_array && types_[field.type].form == Form::fields) {
        add_steps(field.type, within, names, plan);
      } else {
        plan.steps.push_back({&field, slot});
      }
    }
  }

  Value value_of(const Field& field, Cursor& at) const {
    Value value{field.type, field.in_pool && !field.is_array, field.is_array, 0, at.at()};
    const Form form = types_[field.type].form;
    if (field.is_array || (!field.in_pool && (form == Form::text || form == Form::fields || form == Form::bits32 ||
                                              form == Form::bits64))) {
      types_.skip_field(field, at);
    } else if (!field.in_pool && form == Form::byte) {
      value.number = at.byte();
    } else {
      const std::uint64_t number = at.number();
      value.number = !field.in_pool && form == Form::number32 ? static_cast<std::int32_t>(number)
                                                              : static_cast<std::int64_t>(number);
    }
    return value;
  }

  std::string_view bytes_;
  ChunkHeader header_;
  Metadata types_;
  std::uint32_t string_type_ = kNoType;
  std::vector<Constants> constants_;  // by type row
  std::vector<KnownPlan> plans_;
  mutable std::uint64_t missing_ = 0;
};

}  // namespace snapdiff::formats::jfr
