#include "formats/tracker_lines/mend_text.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace snapdiff::formats::tracker_lines {
namespace {

// U+10FF00 to U+10FFFF, private use, begin with these two bytes and BC to BF as the third.
constexpr std::string_view kPrefix = "\xf4\x8f";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

bool is_tail(unsigned byte) { return (byte & 0xc0U) == 0x80U; }

/// Length of the UTF-8 sequence at `at`, 0 when it is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const unsigned lead = byte_at(text, at);
  const unsigned second = byte_at(text, at + 1);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return is_tail(second) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!is_tail(second) || !is_tail(byte_at(text, at + 2))) return 0;
    return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ? 0 : 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!is_tail(second) || !is_tail(byte_at(text, at + 2)) || !is_tail(byte_at(text, at + 3))) return 0;
    return (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f) ? 0 : 4;
  }
  return 0;
}

/// The code of "\uXXXX" at `at`.
std::optional<unsigned> escape_at(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned code = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const char c = text[i];
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10
                           : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A') + 10
                                                  : 16U;
    if (digit == 16) return std::nullopt;
    code = code * 16 + digit;
  }
  return code;
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

std::string mend_text(std::string_view line) {
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
    const std::size_t length = sequence_length(line, at);
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

void append_unmended(std::string_view text, std::string& out) {
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
