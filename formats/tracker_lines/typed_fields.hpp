#pragma once

#include <cmath>
#include <cstdio>

#include "formats/tracker_lines/json_line.hpp"

namespace snapdiff::formats::tracker_lines {

// The names are in order of their lengths; those of length n are rows kOfLength[n] .. kOfLength[n + 1).
constexpr std::size_t kLongest = 16;

constexpr std::size_t length_of(std::string_view name) { return name.size(); }

constexpr double kTwoTo63 = 9223372036854775808.0;

constexpr std::size_t kShownBytes = 40;

enum class Kind : std::uint8_t { header, frame, stack, snapshot, live, counter, node, edge, end, unknown };

inline constexpr std::array<std::string_view, 9> kKindNames = {"header",  "frame", "stack", "snapshot", "live",
                                                               "counter", "node",  "edge",  "end"};

/// A key of the format: a row of kKeyNames. At most 64, for sets of bits.
enum class Key : std::uint8_t {};
inline constexpr std::string_view kKeyNames[] = {
    "k",      "id",     "fn",      "to",      "seq",     "addr",     "file",     "line",       "time",
    "type",   "tags",   "name",    "mode",    "unit",    "root",     "from",     "weak",       "rows",
    "label",  "attrs",  "stack",   "bytes",   "count",   "value",    "order",    "module",     "frames",
    "totals", "format", "inlined", "version", "process", "complete", "producer", "bytes_kind", "producer_version"};
inline constexpr std::size_t kKeyCount = std::size(kKeyNames);
inline constexpr Key kUnknownKey{kKeyCount};

constexpr std::array<std::uint8_t, kLongest + 2> kOfLength = [] {
  std::array<std::uint8_t, kLongest + 2> begin{};
  for (std::size_t length = 0; length < begin.size(); ++length) {
    std::uint8_t row = 0;
    while (row < kKeyCount && kKeyNames[row].size() < length) ++row;
    begin[length] = row;
  }
  return begin;
}();

static_assert(std::ranges::is_sorted(kKeyNames, {}, length_of) && kKeyNames[kKeyCount - 1].size() == kLongest);

/// The key that is written like this; of one that is not in the list the compiler says so.
consteval Key operator""_key(const char* text, std::size_t size) {
  std::uint8_t row = 0;
  while (kKeyNames[row] != std::string_view(text, size)) ++row;
  return Key{row};
}

constexpr std::string_view to_text(Key key) { return kKeyNames[static_cast<std::size_t>(key)]; }
/// "line" for an unknown one.
constexpr std::string_view to_text(Kind kind) {
  return kind == Kind::unknown ? std::string_view("line") : kKindNames[static_cast<std::size_t>(kind)];
}

inline std::string name_of(Kind kind, Key key) { return std::string(to_text(kind)).append(": ").append(to_text(key)); }

inline Key key_of(std::string_view text) {
  if (text.empty() || text.size() > kLongest) return kUnknownKey;
  for (std::size_t row = kOfLength[text.size()]; row < kOfLength[text.size() + 1]; ++row) {
    if (kKeyNames[row][0] == text[0] && std::memcmp(kKeyNames[row].data(), text.data(), text.size()) == 0)
      return static_cast<Key>(row);
  }
  return kUnknownKey;
}
inline Kind kind_of(std::string_view text) {
  for (std::size_t row = 0; row < kKindNames.size(); ++row) {
    if (kKindNames[row] == text) return static_cast<Kind>(row);
  }
  return Kind::unknown;
}

constexpr std::uint64_t bit(Key key) { return std::uint64_t{1} << static_cast<unsigned>(key); }

template <class... Keys>
constexpr std::uint64_t mask(Keys... keys) {
  return (bit(keys) | ... | bit("k"_key));
}

constexpr std::array<std::uint64_t, 10> kKeysOf = {
    mask("format"_key, "version"_key, "producer"_key, "producer_version"_key, "process"_key, "order"_key,
         "complete"_key, "bytes_kind"_key, "attrs"_key),
    mask("id"_key, "fn"_key, "addr"_key, "file"_key, "line"_key, "module"_key, "inlined"_key),
    mask("id"_key, "frames"_key),
    mask("id"_key, "seq"_key, "time"_key, "label"_key, "totals"_key, "complete"_key, "attrs"_key),
    mask("stack"_key, "type"_key, "bytes"_key, "count"_key, "tags"_key),
    mask("name"_key, "value"_key, "mode"_key, "unit"_key, "tags"_key),
    mask("id"_key, "type"_key, "bytes"_key, "count"_key, "stack"_key, "root"_key, "tags"_key),
    mask("from"_key, "to"_key, "label"_key, "weak"_key),
    mask("id"_key, "rows"_key),
    mask()};

/// Keys that lines of `kind` have, those that all must have among them.
inline std::uint64_t keys_of(Kind kind) { return kKeysOf[static_cast<std::size_t>(kind)]; }

/// A value as an error message shows it, short.
inline std::string shown(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::null: return "null";
    case JsonKind::boolean: return value.truth ? "true" : "false";
    case JsonKind::integer: return std::to_string(value.integer);
    case JsonKind::array: return "an array";
    case JsonKind::object: return "an object";
    case JsonKind::text:
      return std::string("\"").append(value.text.substr(0, kShownBytes)) +
             (value.text.size() > kShownBytes ? "...\"" : "\"");
    case JsonKind::big:
    case JsonKind::real: break;
  }
  std::array<char, 40> digits{};
  std::snprintf(digits.data(), digits.size(), "%.17g", value.real);
  return digits.data();
}

/// The integer that a number stands for: 12, 12.0 and 12e0 alike.
inline std::optional<std::int64_t> integer_of(const JsonValue& value) {
  if (value.kind == JsonKind::integer) return value.integer;
  if (value.kind != JsonKind::real || std::trunc(value.real) != value.real) return std::nullopt;
  if (value.real < -kTwoTo63 || value.real >= kTwoTo63) return std::nullopt;
  return static_cast<std::int64_t>(value.real);
}

/// What a line says under the keys of the format. A key that is null is as if it were not there. Every getter throws
/// LineError (rule 7) for a value of another type.
class Fields {
 public:
  /// Takes the members of the object in row 0; views into `json`.
  /// @param unknown  gets the rows of members whose key is not one of the format's
  /// @param repeated gets the keys that occur more than once
  void take(const JsonLine& json, std::vector<std::uint32_t>& unknown, std::uint64_t& repeated) {
    values_ = &json.values();
    present_ = 0;
    repeated = 0;
    unknown.clear();
    kind_ = Kind::unknown;
    const std::vector<JsonValue>& values = *values_;
    for (std::uint32_t row = 1; row < values.size(); row = values[row].end) {
      const Key key = key_of(values[row].key);
      if (key == kUnknownKey) {
        unknown.push_back(row);
        continue;
      }
      if (has(key)) repeated |= bit(key);
      row_[static_cast<std::size_t>(key)] = row;
      if (values[row].kind == JsonKind::null) {
        present_ &= ~bit(key);
      } else {
        present_ |= bit(key);
      }
    }
  }

  void set_kind(Kind kind) { kind_ = kind; }
  Kind kind() const { return kind_; }
  std::uint64_t present() const { return present_; }
  bool has(Key key) const { return (present_ & bit(key)) != 0; }
  const JsonValue& at(Key key) const { return (*values_)[row_[static_cast<std::size_t>(key)]]; }
  const std::vector<JsonValue>& values() const { return *values_; }
  std::uint32_t row(Key key) const { return row_[static_cast<std::size_t>(key)]; }

  /// Throws LineError (rule 7) when it is not there.
  void require(Key key) const {
    if (!has(key)) fail_line(Rule::line, std::string(to_text(kind_)).append(" without ").append(to_text(key)));
  }

  std::string_view text(Key key) const {
    if (!has(key)) return {};
    if (at(key).kind != JsonKind::text) wrong(key, "a text");
    return at(key).text;
  }  ///< "" where absent
  std::string_view required_text(Key key) const {
    require(key);
    return text(key);
  }

  std::optional<std::int64_t> integer(Key key, std::int64_t least = std::numeric_limits<std::int64_t>::min()) const {
    if (!has(key)) return std::nullopt;
    const std::optional<std::int64_t> number = integer_of(at(key));
    if (!number || *number < least)
      wrong(key, least == std::numeric_limits<std::int64_t>::min()
                     ? std::string("an integer")
                     : "an integer from " + std::to_string(least) + " to 2^63-1");
    return number;
  }

  std::int64_t required_integer(Key key, std::int64_t least) const {
    require(key);
    return *integer(key, least);
  }

  std::optional<bool> truth(Key key) const {
    if (!has(key)) return std::nullopt;
    if (at(key).kind != JsonKind::boolean) wrong(key, "true or false");
    return at(key).truth;
  }

  /// Wrong type of `key`, as LineError: what was found, what was `expected`.
  [[noreturn]] void wrong(Key key, const std::string& expected) const {
    fail_line(Rule::line, name_of(kind_, key) + " is not what is expected",
              "found " + shown(at(key)) + ", expected " + expected);
  }

  /// The member of the object under `key` that has this name; of several the last. Null where there is none, and where
  /// it is null.
  const JsonValue* member(Key key, std::string_view name) const {
    if (!has(key)) return nullptr;
    if (at(key).kind != JsonKind::object) wrong(key, "an object");
    const JsonValue* found = nullptr;
    for (std::uint32_t row = this->row(key) + 1; row < at(key).end; row = (*values_)[row].end) {
      const JsonValue& value = (*values_)[row];
      if (value.key == name) found = value.kind == JsonKind::null ? nullptr : &value;
    }
    return found;
  }
  std::optional<std::int64_t> natural_member(Key key, std::string_view name) const {
    const JsonValue* const found = member(key, name);
    if (found == nullptr) return std::nullopt;
    const std::optional<std::int64_t> number = integer_of(*found);
    if (!number || *number < 0) wrong_member(key, name, *found, "an integer from 0 to 2^63-1");
    return number;
  }
  [[noreturn]] void wrong_member(Key key, std::string_view name, const JsonValue& found, const char* expected) const {
    fail_line(Rule::line, name_of(kind_, key).append(".").append(name) + " is not what is expected",
              "found " + shown(found) + ", expected " + expected);
  }

  /// Name and value of the members of the object under `key`, names in the order of the line; of equal names the last
  /// (`repeated` is then set). Only texts are taken.
  struct Tag {
    std::string_view name;
    std::string_view value;
  };
  const std::vector<Tag>& tags(Key key, bool& repeated) {
    tags_.clear();
    if (!has(key)) return tags_;
    const JsonValue& object = at(key);
    if (object.kind != JsonKind::object) wrong(key, "an object of texts");
    for (std::uint32_t row = this->row(key) + 1; row < object.end; row = (*values_)[row].end) {
      const JsonValue& member = (*values_)[row];
      if (member.kind == JsonKind::null) continue;
      if (member.kind != JsonKind::text)
        fail_line(Rule::line, name_of(kind_, key) + " holds something else than texts",
                  "found " + shown(member) + ", expected a text");
      tags_.push_back({member.key, member.text});
    }
    if (tags_.size() < 2) return tags_;
    std::stable_sort(tags_.begin(), tags_.end(), [](const Tag& a, const Tag& b) { return a.name < b.name; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < tags_.size(); ++i) {
      if (tags_[i].name == tags_[kept].name) {
        repeated = true;
      } else {
        ++kept;
      }
      tags_[kept] = tags_[i];
    }
    tags_.resize(kept + 1);
    return tags_;
  }

 private:
  Kind kind_ = Kind::unknown;
  const std::vector<JsonValue>* values_ = nullptr;
  std::uint64_t present_ = 0;
  std::array<std::uint32_t, kKeyCount> row_{};
  std::vector<Tag> tags_;
};

}  // namespace snapdiff::formats::tracker_lines
