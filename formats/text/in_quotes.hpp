#pragma once

#include "analyzer/base/printable.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::text {

/// `text` for a message: in quotes, at most 60 bytes of it, what is not printable ASCII as \xNN.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out = "\"";
  for (const char& c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else if (c == '\t') {
      out += "\\t";
    } else {
      append_escaped(out, std::string_view(&c, 1));
    }
  }
  out += text.size() > kShown ? "…\"" : "\"";
  return out;
}

/// Throws Failure: malformed, "WHAT: found "FOUND", expected EXPECTED".
[[noreturn]] inline void fail_found(std::string_view what, std::string_view found, std::string_view expected,
                                    std::uint64_t offset) {
  fail_malformed(std::string(what) + ": found " + in_quotes(found) + ", expected " + std::string(expected), offset);
}

}  // namespace snapdiff::formats::text
