#include "formats/tracker_lines/keys.hpp"

#include <algorithm>
#include <cstring>

namespace snapdiff::formats::tracker_lines {
namespace {

// The names are in order of their lengths; those of length n are rows kOfLength[n] .. kOfLength[n + 1).
constexpr std::size_t kLongest = 16;
constexpr std::array<std::uint8_t, kLongest + 2> kOfLength = [] {
  std::array<std::uint8_t, kLongest + 2> begin{};
  for (std::size_t length = 0; length < begin.size(); ++length) {
    std::uint8_t row = 0;
    while (row < kKeyCount && kKeyNames[row].size() < length) ++row;
    begin[length] = row;
  }
  return begin;
}();

constexpr std::size_t length_of(std::string_view name) { return name.size(); }
static_assert(std::ranges::is_sorted(kKeyNames, {}, length_of) && kKeyNames[kKeyCount - 1].size() == kLongest);

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

}  // namespace

Key key_of(std::string_view text) {
  if (text.empty() || text.size() > kLongest) return kUnknownKey;
  for (std::size_t row = kOfLength[text.size()]; row < kOfLength[text.size() + 1]; ++row) {
    if (kKeyNames[row][0] == text[0] && std::memcmp(kKeyNames[row].data(), text.data(), text.size()) == 0)
      return static_cast<Key>(row);
  }
  return kUnknownKey;
}

Kind kind_of(std::string_view text) {
  for (std::size_t row = 0; row < kKindNames.size(); ++row) {
    if (kKindNames[row] == text) return static_cast<Kind>(row);
  }
  return Kind::unknown;
}

std::uint64_t keys_of(Kind kind) { return kKeysOf[static_cast<std::size_t>(kind)]; }

}  // namespace snapdiff::formats::tracker_lines
