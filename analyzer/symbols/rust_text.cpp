#include "analyzer/symbols/rust_text.hpp"

#include <vector>

namespace snapdiff::symbols {
namespace {

constexpr std::size_t kMaxPunycode = 1024;  // decoding is quadratic

}  // namespace

bool append_punycode(std::string& out, std::string_view text) {
  constexpr std::uint32_t kBase = 36, kTmin = 1, kTmax = 26, kSkew = 38, kDamp = 700;
  std::vector<std::uint32_t> codes;
  const std::size_t delimiter = text.rfind('_');
  if (delimiter != std::string_view::npos) {
    for (const char c : text.substr(0, delimiter)) codes.push_back(static_cast<unsigned char>(c));
    text.remove_prefix(delimiter + 1);
  }
  if (text.empty() || text.size() > kMaxPunycode) return false;
  std::uint64_t n = 128, i = 0, bias = 72;
  bool first = true;
  while (!text.empty()) {
    const std::uint64_t before = i;
    std::uint64_t weight = 1;
    for (std::uint64_t k = kBase;; k += kBase) {
      if (text.empty()) return false;
      const char c = text[0];
      text.remove_prefix(1);
      const std::uint64_t digit = is_lower(c)   ? static_cast<std::uint64_t>(c - 'a')
                                  : is_digit(c) ? static_cast<std::uint64_t>(c - '0') + 26
                                                : kBase;
      if (digit >= kBase) return false;
      i += digit * weight;
      const std::uint64_t t = k <= bias ? kTmin : k >= bias + kTmax ? kTmax : k - bias;
      if (digit < t) break;
      weight *= kBase - t;
      if (weight > 0xffffffffU || i > 0xffffffffU) return false;
    }
    const std::uint64_t size = codes.size() + 1;
    std::uint64_t delta = first ? (i - before) / kDamp : (i - before) / 2;
    first = false;
    delta += delta / size;
    std::uint64_t k = 0;
    for (; delta > ((kBase - kTmin) * kTmax) / 2; k += kBase) delta /= kBase - kTmin;
    bias = k + (kBase - kTmin + 1) * delta / (delta + kSkew);
    n += i / size;
    i %= size;
    if (n > 0x10ffff || (n >= 0xd800 && n < 0xe000)) return false;
    codes.insert(codes.begin() + static_cast<std::ptrdiff_t>(i), static_cast<std::uint32_t>(n));
    ++i;
  }
  for (const std::uint32_t code : codes) append_utf8(out, code);
  return true;
}

}  // namespace snapdiff::symbols
