#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// Protobuf bytes by hand, after the wire format's definition: a field is a tag (number * 8 +
/// wire type) and its value.
namespace proto_bytes {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

class Message {
 public:
  /// Wire type 0; negative numbers take ten bytes.
  Message& number(std::uint32_t field, std::int64_t value) {
    bytes += varint(field << 3) + varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& id(std::uint32_t field, std::uint64_t value) {
    bytes += varint(field << 3) + varint(value);
    return *this;
  }
  /// Wire type 2: a text or a message.
  Message& bytes_of(std::uint32_t field, std::string_view value) {
    bytes += varint(field << 3 | 2) + varint(value.size());
    bytes.append(value);
    return *this;
  }
  Message& message(std::uint32_t field, const Message& value) { return bytes_of(field, value.bytes); }
  Message& packed(std::uint32_t field, std::initializer_list<std::int64_t> values) {
    std::string all;
    for (const std::int64_t value : values) all += varint(static_cast<std::uint64_t>(value));
    return bytes_of(field, all);
  }
  Message& raw(std::string_view more) {
    bytes.append(more);
    return *this;
  }

  std::string bytes;
};

// Field numbers of Profile.
constexpr std::uint32_t kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5, kString = 6,
                        kDropFrames = 7, kKeepFrames = 8, kTime = 9, kDuration = 10, kPeriodType = 11, kPeriod = 12,
                        kComment = 13, kDefaultType = 14, kDocUrl = 15;

inline Message value_type(std::int64_t type, std::int64_t unit) { return Message().number(1, type).number(2, unit); }
inline Message sample(std::initializer_list<std::int64_t> locations, std::initializer_list<std::int64_t> values) {
  return Message().packed(1, locations).packed(2, values);
}
inline Message line(std::uint64_t function, std::int64_t number) { return Message().id(1, function).number(2, number); }
inline Message location(std::uint64_t id, std::uint64_t mapping, std::uint64_t address,
                        std::initializer_list<Message> lines) {
  Message out;
  out.id(1, id).id(2, mapping).id(3, address);
  for (const Message& each : lines) out.message(4, each);
  return out;
}
inline Message function(std::uint64_t id, std::int64_t name, std::int64_t system_name, std::int64_t file) {
  return Message().id(1, id).number(2, name).number(3, system_name).number(4, file);
}
inline Message mapping(std::uint64_t id, std::uint64_t start, std::uint64_t limit, std::uint64_t offset,
                       std::int64_t file, std::int64_t build_id) {
  return Message().id(1, id).id(2, start).id(3, limit).id(4, offset).number(5, file).number(6, build_id);
}

/// The strings of small_profile(), by number.
enum StringNumber : std::int64_t {
  kEmpty,
  kObjects,
  kCount,
  kSpace,
  kBytes,
  kAppPath,
  kBuildId,
  kLeak,
  kLeakMangled,
  kLeakFile,
  kMain,
  kMainFile
};
inline std::vector<std::string> small_strings() {
  return {"",     "inuse_objects", "count",    "inuse_space", "bytes", "/usr/bin/app",
          "AB12", "leak(int)",     "_Z4leaki", "leak.cc",     "main",  "main.cc"};
}
inline void add_strings(Message& profile, const std::vector<std::string>& strings) {
  for (const std::string& text : strings) profile.bytes_of(kString, text);
}

/// Two sample types, two samples [leak main] = 3 objects, 48 bytes and [main] = 1, 100; everything
/// else once. The string table comes last, its last entry is used.
inline Message small_profile() {
  Message out;
  out.message(kSampleType, value_type(kObjects, kCount)).message(kSampleType, value_type(kSpace, kBytes));
  out.message(kSample, sample({1, 2}, {3, 48})).message(kSample, sample({2}, {1, 100}));
  out.message(kMapping, mapping(1, 0x400000, 0x500000, 0x1000, kAppPath, kBuildId));
  out.message(kLocation, location(1, 1, 0x400010, {line(1, 11)}));
  out.message(kLocation, location(2, 1, 0x400020, {line(2, 22)}));
  out.message(kFunction, function(1, kLeak, kLeakMangled, kLeakFile));
  out.message(kFunction, function(2, kMain, kMain, kMainFile));
  out.number(kTime, 1'700'000'000'000'000'000).message(kPeriodType, value_type(kSpace, kBytes)).number(kPeriod, 524288);
  add_strings(out, small_strings());
  return out;
}

}  // namespace proto_bytes
