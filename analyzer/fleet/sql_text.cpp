#include "analyzer/fleet/sql_text.hpp"

#include <cstring>

namespace snapdiff::fleet {
namespace {

bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

template <class Item, class Text>
std::string joined(std::span<const Item> items, Text text) {
  std::string out;
  for (const Item& item : items) {
    if (!out.empty()) out += ',';
    out += text(item);
  }
  return out;
}

}  // namespace

std::string literal(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(byte)) {
      out += c;
      continue;
    }
    out += "\\x";
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out + "'";
}

std::string literal(const Hash128& hash) {
  char bytes[16];
  std::memcpy(bytes, &hash.high, 8);
  std::memcpy(bytes + 8, &hash.low, 8);
  return literal(std::string_view(bytes, sizeof bytes));
}

std::string identifier(std::string_view name) { return "`" + std::string(name) + "`"; }

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    if (!is_plain(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

std::string list_of(std::span<const std::uint64_t> numbers) {
  return joined(numbers, [](std::uint64_t number) { return std::to_string(number); });
}
std::string list_of(std::span<const std::string> texts) {
  return joined(texts, [](const std::string& text) { return literal(text); });
}
std::string list_of(std::span<const Hash128> hashes) {
  return joined(hashes, [](const Hash128& hash) { return literal(hash); });
}

}  // namespace snapdiff::fleet
