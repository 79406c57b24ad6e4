#include "formats/input/utf16_input.hpp"

#include <algorithm>
#include <utility>

namespace snapdiff::formats {
namespace {

constexpr std::size_t kChunk = 64u << 10;

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t b) { out += static_cast<char>(b); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 63));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 63));
    byte(0x80 | (code & 63));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 63));
    byte(0x80 | (code >> 6 & 63));
    byte(0x80 | (code & 63));
  }
}

/// Whole units of `bytes` to the end of `out`; `high` carries a surrogate from call to call.
void convert(std::string_view bytes, bool big_endian, std::uint32_t& high, std::string& out) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const auto second = static_cast<unsigned char>(bytes[i + 1]);
    const std::uint32_t unit =
        big_endian ? static_cast<std::uint32_t>(first << 8 | second) : static_cast<std::uint32_t>(second << 8 | first);
    if (high != 0) {
      const std::uint32_t waiting = std::exchange(high, 0);
      if (unit >= 0xdc00 && unit < 0xe000) {
        append_utf8(out, 0x10000 + ((waiting - 0xd800) << 10) + (unit - 0xdc00));
        continue;
      }
      append_utf8(out, waiting);
    }
    if (unit >= 0xd800 && unit < 0xdc00) {
      high = unit;
    } else {
      append_utf8(out, unit);
    }
  }
}

}  // namespace

bool Utf16Input::is_utf16(std::string_view head) {
  // FF FE 00 00 would be UTF-32; no tool writes that.
  return head.substr(0, 2) == "\xff\xfe" || head.substr(0, 2) == "\xfe\xff";
}

std::string Utf16Input::head_as_utf8(std::string_view head) {
  if (!is_utf16(head)) return std::string(head);
  std::string out;
  std::uint32_t high = 0;
  convert(head.substr(2), head[0] == '\xfe', high, out);
  return out;
}

Result<std::string_view> Utf16Input::peek(std::size_t wanted) {
  if (begin_ > 0 && text_.size() - begin_ < wanted) {
    text_.erase(0, begin_);
    begin_ = 0;
  }
  while (text_.size() - begin_ < wanted && !ended_) {
    Result<std::string_view> view = source_.peek(kChunk);
    if (!view) return std::move(view).error();
    std::string_view bytes = *view;
    ended_ = bytes.size() < kChunk;
    if (!ended_) {
      bytes = bytes.substr(0, std::max(kChunk, wanted));
      bytes.remove_suffix(bytes.size() % 2);
    }
    std::size_t mark = 0;
    if (!started_ && is_utf16(bytes)) {
      big_endian_ = bytes[0] == '\xfe';
      mark = 2;
    }
    started_ = true;
    convert(bytes.substr(mark), big_endian_, high_, text_);
    if (ended_) {
      if (high_ != 0) append_utf8(text_, std::exchange(high_, 0));
      if (bytes.size() % 2 != 0) append_utf8(text_, 0xfffd);
    }
    source_.consume(bytes.size());
  }
  return std::string_view(text_).substr(begin_);
}

}  // namespace snapdiff::formats
