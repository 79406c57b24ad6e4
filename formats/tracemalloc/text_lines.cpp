#include "formats/tracemalloc/text_lines.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace snapdiff::formats::tracemalloc {
namespace {

constexpr std::size_t kFirstWindow = std::size_t{64} << 10;

void append_utf8(std::string& out, std::uint32_t c) {
  const auto byte = [&out](std::uint32_t b) { out += static_cast<char>(b); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xc0 | c >> 6);
    byte(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    byte(0xe0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  } else {
    byte(0xf0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3f));
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  }
}

}  // namespace

std::string utf8_of_utf16(std::string_view text, bool big_endian) {
  std::string out;
  const auto unit = [&](std::size_t i) {
    const auto first = static_cast<std::uint8_t>(text[i]);
    const auto second = static_cast<std::uint8_t>(text[i + 1]);
    return static_cast<std::uint32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const std::uint32_t high = unit(i);
    if (high < 0xd800 || high > 0xdfff) {
      append_utf8(out, high);
    } else if (high < 0xdc00 && i + 3 < text.size() && unit(i + 2) >= 0xdc00 && unit(i + 2) <= 0xdfff) {
      append_utf8(out, 0x10000 + ((high - 0xd800) << 10) + (unit(i + 2) - 0xdc00));
      i += 2;
    } else {
      append_utf8(out, 0xfffd);
    }
  }
  return out;
}

std::string_view without_colours(std::string_view line, std::string& buffer) {
  std::size_t escape = line.find("\x1b[");
  if (escape == std::string_view::npos) return line;
  buffer.clear();
  std::size_t done = 0;
  for (; escape != std::string_view::npos; escape = line.find("\x1b[", done)) {
    buffer.append(line, done, escape - done);
    done = escape + 2;
    while (done < line.size() && (line[done] < 0x40 || line[done] > 0x7e)) ++done;
    done = std::min(done + 1, line.size());
  }
  return buffer.append(line, done);
}

std::string_view TextLines::fill(std::size_t wanted) {
  Result<std::string_view> view = in_.peek(wanted);
  if (view) return *view;
  status_ = std::move(view).error();
  return {};
}

bool TextLines::find_encoding() {
  const std::string_view head = fill(3);
  if (!status_) return false;
  encoding_ = Encoding::bytes;
  if (head.substr(0, 3) == "\xef\xbb\xbf") {
    in_.consume(3);
  } else if (head.substr(0, 2) == "\xff\xfe" || head.substr(0, 2) == "\xfe\xff") {
    encoding_ = head[0] == '\xff' ? Encoding::utf16_le : Encoding::utf16_be;
    in_.consume(2);
  }
  return true;
}

/// Position of the line's end at or after `from`, or npos.
std::size_t TextLines::find_end(std::string_view window, std::size_t from) const {
  if (encoding_ == Encoding::bytes) return window.find('\n', from);
  const std::size_t newline = encoding_ == Encoding::utf16_le ? 0 : 1;
  for (std::size_t i = from & ~std::size_t{1}; i + 1 < window.size(); i += 2) {
    if (window[i + newline] == '\n' && window[i + 1 - newline] == '\0') return i;
  }
  return std::string_view::npos;
}

bool TextLines::raw_line(std::string_view& line) {
  const std::size_t end_bytes = encoding_ == Encoding::bytes ? 1 : 2;
  in_.consume(std::exchange(pending_, 0));
  line_offset_ = in_.offset();
  std::size_t searched = 0;
  bool skipping = false;
  std::size_t wanted = kFirstWindow;
  for (;;) {
    const std::string_view window = fill(wanted);
    if (!status_) return false;
    const std::size_t end = find_end(window, searched);
    const bool ended = window.size() < wanted;
    if (end == std::string_view::npos && !ended) {
      searched = window.size();
      if (skipping || window.size() > kMostLineBytes) {
        // Whole code units only.
        skipping = true;
        in_.consume(window.size() & ~std::size_t{1});
        searched = 0;
        wanted = kFirstWindow;
      } else {
        wanted = window.size() * 2;
      }
      continue;
    }
    if (end == std::string_view::npos && window.empty() && !skipping) return false;
    const std::size_t length = end == std::string_view::npos ? window.size() : end;
    pending_ = end == std::string_view::npos ? window.size() : end + end_bytes;
    line = window.substr(0, length);
    if (skipping || length > kMostLineBytes) {
      ++too_long_;
      line = {};
    }
    return true;
  }
}

bool TextLines::next(std::string_view& line) {
  if (encoding_ == Encoding::unknown && !find_encoding()) return false;
  if (!raw_line(line)) return false;
  if (encoding_ != Encoding::bytes) {
    utf8_ = utf8_of_utf16(line, encoding_ == Encoding::utf16_be);
    line = utf8_;
  }
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  line = without_colours(line, plain_);
  return true;
}

}  // namespace snapdiff::formats::tracemalloc
