#include "formats/text/text_error.hpp"

#include <new>
#include <stdexcept>

namespace snapdiff::formats::text {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 60;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  out += text.size() > kShown ? "…\"" : "\"";
  return out;
}

Status guarded(void (*body)(void*), void* context) {
  try {
    body(context);
    return ok();
  } catch (TextError& failure) {
    return std::move(failure.error);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, "out of memory: more distinct stacks than fit"};
  } catch (const std::length_error&) {
    return Error{ErrorCode::limit, "out of memory: more distinct stacks than fit"};
  }
}

}  // namespace snapdiff::formats::text
