#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

/// The words of the format: kinds of lines, and which keys each may have.
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

}  // namespace snapdiff::formats::tracker_lines
