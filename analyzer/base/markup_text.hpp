#pragma once

#include <string>
#include <string_view>

namespace snapdiff {

/// & < > " ' as entities, for the text and the attribute values of HTML and XML. The text itself must be printable
/// already.
inline std::string entities(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace snapdiff
