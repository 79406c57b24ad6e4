#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace snapdiff::formats::tracker_lines {

/// The line itself is level 1.
inline constexpr std::size_t kMaxDepth = 8;
/// A stack of a million frames, the most that is read, and what is beside it.
inline constexpr std::size_t kMaxValues = 1'100'000;

enum class JsonKind : std::uint8_t { null, boolean, integer, big, real, text, array, object };

/// One value of a line. What an array or object holds follows it, up to row `end`.
struct JsonValue {
  std::string_view key;  ///< inside an object
  std::string_view text;
  std::int64_t integer = 0;
  double real = 0;        ///< also of `big`, an integer from 2^63 on
  std::uint32_t end = 0;  ///< row of the next value on the same level
  JsonKind kind = JsonKind::null;
  bool truth = false;
};

/// Parses one line after the other with simdjson, which checks the whole of it.
class JsonLine {
 public:
  JsonLine();
  ~JsonLine();
  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;

  /// nullptr, or what is wrong with `line`. Where kPadding bytes are readable after it, it is not copied.
  const char* parse(std::string_view line, std::size_t bytes_behind);

  /// Row 0 is the line's own value. Valid until the next parse().
  const std::vector<JsonValue>& values() const { return values_; }

  /// Whether the last line had bytes that are no UTF-8, or escapes of half a surrogate pair; they are kept as bytes.
  bool repaired() const { return repaired_; }

  static constexpr std::size_t kPadding = 64;

 private:
  struct Parser;
  const char* parse_padded(const char* line, std::size_t size);
  void restore_texts();

  std::unique_ptr<Parser> parser_;
  std::vector<JsonValue> values_;
  std::string padded_;
  std::string original_;
  std::size_t capacity_ = 0;
  bool repaired_ = false;
};

}  // namespace snapdiff::formats::tracker_lines
