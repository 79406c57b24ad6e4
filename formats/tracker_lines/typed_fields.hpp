#pragma once

#include <iterator>

#include "formats/tracker_lines/json_line.hpp"

namespace snapdiff::formats::tracker_lines {

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

Key key_of(std::string_view text);
Kind kind_of(std::string_view text);

constexpr std::uint64_t bit(Key key) { return std::uint64_t{1} << static_cast<unsigned>(key); }

/// Keys that lines of `kind` have, those that all must have among them.
std::uint64_t keys_of(Kind kind);

/// What a line says under the keys of the format. A key that is null is as if it were not there. Every getter throws
/// LineError (rule 7) for a value of another type.
class Fields {
 public:
  /// Takes the members of the object in row 0; views into `json`.
  /// @param unknown  gets the rows of members whose key is not one of the format's
  /// @param repeated gets the keys that occur more than once
  void take(const JsonLine& json, std::vector<std::uint32_t>& unknown, std::uint64_t& repeated);

  void set_kind(Kind kind) { kind_ = kind; }
  Kind kind() const { return kind_; }
  std::uint64_t present() const { return present_; }
  bool has(Key key) const { return (present_ & bit(key)) != 0; }
  const JsonValue& at(Key key) const { return (*values_)[row_[static_cast<std::size_t>(key)]]; }
  const std::vector<JsonValue>& values() const { return *values_; }
  std::uint32_t row(Key key) const { return row_[static_cast<std::size_t>(key)]; }

  /// Throws LineError (rule 7) when it is not there.
  void require(Key key) const;

  std::string_view text(Key key) const;  ///< "" where absent
  std::string_view required_text(Key key) const;
  std::optional<std::int64_t> integer(Key key, std::int64_t least = std::numeric_limits<std::int64_t>::min()) const;
  std::int64_t required_integer(Key key, std::int64_t least) const;
  std::optional<bool> truth(Key key) const;

  /// Wrong type of `key`, as LineError: what was found, what was `expected`.
  [[noreturn]] void wrong(Key key, const std::string& expected) const;

  /// Name and value of the members of the object under `key`, names in the order of the line; of equal names the last
  /// (`repeated` is then set). Only texts are taken.
  struct Tag {
    std::string_view name;
    std::string_view value;
  };
  const std::vector<Tag>& tags(Key key, bool& repeated);

 private:
  Kind kind_ = Kind::unknown;
  const std::vector<JsonValue>* values_ = nullptr;
  std::uint64_t present_ = 0;
  std::array<std::uint32_t, kKeyCount> row_{};
  std::vector<Tag> tags_;
};

/// A value as an error message shows it, short.
std::string shown(const JsonValue& value);

/// The integer that a number stands for: 12, 12.0 and 12e0 alike.
std::optional<std::int64_t> integer_of(const JsonValue& value);

}  // namespace snapdiff::formats::tracker_lines
