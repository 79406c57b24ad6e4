#include "formats/tracker_lines/repair_text.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "formats/input/utf8.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::tracker_lines {
namespace {

// U+10FF00 to U+10FFFF, private use, begin with these two bytes and BC to BF as the third.
constexpr std::string_view kPrefix = "\xf4\x8f";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

/// The code of "\uXXXX" at `at`.
std::optional<unsigned> escape_at(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  text::Cursor digits(text.substr(at + 2, 4));
  std::uint64_t code = 0;
  if (digits.hex(code) != text::Number::ok || !digits.at_end()) return std::nullopt;
  return static_cast<unsigned>(code);
}

void append_marked(std::string& out, unsigned byte, bool ambiguous) {
  if (ambiguous) {
    out += kReplacement;
    return;
  }
  out += kPrefix;
  out += static_cast<char>(0xbcU + (byte >> 6));
  out += static_cast<char>(0x80U + (byte & 0x3fU));
}

bool has_private_codes(std::string_view line) {
  for (std::size_t at = line.find(kPrefix); at != std::string_view::npos; at = line.find(kPrefix, at + 1)) {
    if (byte_at(line, at + 2) >= 0xbc) return true;
  }
  return false;
}

}  // namespace

std::string repair_text(std::string_view line) {
  const bool ambiguous = has_private_codes(line);
  std::string out;
  out.reserve(line.size() + 64);
  bool changed = false;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\\') {
      const std::optional<unsigned> code = escape_at(line, at);
      if (code && *code >= 0xd800 && *code <= 0xdfff) {
        const std::optional<unsigned> next = escape_at(line, at + 6);
        if (*code <= 0xdbff && next && *next >= 0xdc00 && *next <= 0xdfff) {
          out.append(line.substr(at, 12));
          at += 12;
          continue;
        }
        // Python's surrogateescape: U+DC80 to U+DCFF stand for the bytes 80 to FF.
        append_marked(out, *code & 0xffU, ambiguous || *code < 0xdc80 || *code > 0xdcff);
        changed = true;
        at += 6;
        continue;
      }
      out.append(line.substr(at, 2));
      at += 2;
      continue;
    }
    const std::size_t length = decode_utf8(line, at).length;
    if (length == 0) {
      append_marked(out, byte_at(line, at), ambiguous);
      changed = true;
      ++at;
      continue;
    }
    out.append(line.substr(at, length));
    at += length;
  }
  return changed ? out : std::string();
}

void append_original(std::string_view text, std::string& out) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, 2) == kPrefix && at + 4 <= text.size() && byte_at(text, at + 2) >= 0xbc) {
      out += static_cast<char>(((byte_at(text, at + 2) - 0xbcU) << 6) | (byte_at(text, at + 3) & 0x3fU));
      at += 4;
    } else {
      out += text[at++];
    }
  }
}

}  // namespace snapdiff::formats::tracker_lines
