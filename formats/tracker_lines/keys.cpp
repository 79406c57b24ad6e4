#include "formats/tracker_lines/keys.hpp"

#include <cstring>

namespace snapdiff::formats::tracker_lines {
namespace {

constexpr std::array<std::string_view, kKeyCount> kNames = {
    "k",      "id",     "fn",      "to",      "seq",     "addr",     "file",     "line",       "time",
    "type",   "tags",   "name",    "mode",    "unit",    "root",     "from",     "weak",       "rows",
    "label",  "attrs",  "stack",   "bytes",   "count",   "value",    "order",    "module",     "frames",
    "totals", "format", "inlined", "version", "process", "complete", "producer", "bytes_kind", "producer_version"};

// The names are in order of their lengths; those of length n are rows kOfLength[n] .. kOfLength[n + 1).
constexpr std::size_t kLongest = 16;
constexpr std::array<std::uint8_t, kLongest + 2> kOfLength = [] {
  std::array<std::uint8_t, kLongest + 2> begin{};
  for (std::size_t length = 0; length < begin.size(); ++length) {
    std::uint8_t row = 0;
    while (row < kNames.size() && kNames[row].size() < length) ++row;
    begin[length] = row;
  }
  return begin;
}();

constexpr bool in_order_of_length() {
  for (std::size_t row = 1; row < kNames.size(); ++row) {
    if (kNames[row - 1].size() > kNames[row].size()) return false;
  }
  return kNames.back().size() == kLongest;
}
static_assert(in_order_of_length());

template <class... Keys>
constexpr std::uint64_t mask(Keys... keys) {
  return (bit(keys) | ... | bit(Key::k));
}

constexpr std::array<std::uint64_t, 10> kKeysOf = {
    mask(Key::format, Key::version, Key::producer, Key::producer_version, Key::process, Key::order, Key::complete,
         Key::bytes_kind, Key::attrs),
    mask(Key::id, Key::fn, Key::addr, Key::file, Key::line, Key::module, Key::inlined),
    mask(Key::id, Key::frames),
    mask(Key::id, Key::seq, Key::time, Key::label, Key::totals, Key::complete, Key::attrs),
    mask(Key::stack, Key::type, Key::bytes, Key::count, Key::tags),
    mask(Key::name, Key::value, Key::mode, Key::unit, Key::tags),
    mask(Key::id, Key::type, Key::bytes, Key::count, Key::stack, Key::root, Key::tags),
    mask(Key::from, Key::to, Key::label, Key::weak),
    mask(Key::id, Key::rows),
    mask()};

}  // namespace

std::string_view to_text(Key key) { return kNames[static_cast<std::size_t>(key)]; }

Key key_of(std::string_view text) {
  if (text.empty() || text.size() > kLongest) return Key::unknown;
  for (std::size_t row = kOfLength[text.size()]; row < kOfLength[text.size() + 1]; ++row) {
    if (kNames[row][0] == text[0] && std::memcmp(kNames[row].data(), text.data(), text.size()) == 0)
      return static_cast<Key>(row);
  }
  return Key::unknown;
}

Kind kind_of(std::string_view text) {
  for (std::size_t row = 0; row < kKindNames.size(); ++row) {
    if (kKindNames[row] == text) return static_cast<Kind>(row);
  }
  return Kind::unknown;
}

std::uint64_t keys_of(Kind kind) { return kKeysOf[static_cast<std::size_t>(kind)]; }

}  // namespace snapdiff::formats::tracker_lines
