#include "formats/text/in_quotes.hpp"

#include "snapdiff/printable.hpp"

namespace snapdiff::formats::text {

std::string in_quotes(std::string_view text) {
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

}  // namespace snapdiff::formats::text
