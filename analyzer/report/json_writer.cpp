#include "analyzer/report/json_writer.hpp"

#include <algorithm>
#include <array>

#include <cmath>

#include "analyzer/report/text_tools.hpp"

namespace snapdiff::report {

namespace {

/// Bytes that can be copied as they are.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7F; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

void append_u(std::string& out, std::uint32_t code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (code > 0xFFFF) {  // a surrogate pair
    append_u(out, 0xD800 + ((code - 0x10000) >> 10));
    code = 0xDC00 + ((code - 0x10000) & 0x3FF);
  }
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(code >> shift) & 15];
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  separate();
  out_ += '"';
  out_ += name;
  out_ += '"';
  end_key();
}

void JsonWriter::string(std::string_view text) {
  separate();
  out_ += '"';
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && kPlain[static_cast<unsigned char>(text[end])]) ++end;
    out_.append(text, at, end - at);
    at = end;
    if (at == text.size()) break;
    const CodePoint code = decode_utf8(text, at);
    const std::size_t length = std::max<std::size_t>(1, code.length);
    if (code.length == 0) {
      out_ += "\xEF\xBF\xBD";
    } else if (code.value == '"' || code.value == '\\') {
      out_ += '\\';
      out_ += text[at];
    } else if (code.value == '\n') {
      out_ += "\\n";
    } else if (code.value == '\t') {
      out_ += "\\t";
    } else if (is_unsafe(code.value)) {
      append_u(out_, code.value);
    } else {
      out_.append(text, at, length);
    }
    at += length;
  }
  out_ += '"';
}

void JsonWriter::integer(std::int64_t value) {
  separate();
  append_number(out_, value);
}

void JsonWriter::unsigned_integer(std::uint64_t value) {
  separate();
  append_number(out_, value);
}

void JsonWriter::number(double value) {
  if (!std::isfinite(value)) {
    null();
    return;
  }
  separate();
  append_number(out_, value);
}

void JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

void JsonWriter::null() {
  separate();
  out_ += "null";
}

}  // namespace snapdiff::report
