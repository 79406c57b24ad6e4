#include "formats/torch_cuda/base64_input.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace snapdiff::formats::torch_cuda {
namespace {

constexpr std::size_t kStep = 256 * 1024;
constexpr std::uint8_t kInvalid = 255;
constexpr std::uint8_t kIgnored = 254;  // padding, line ends, the backslash of "\/"

constexpr std::array<std::uint8_t, 256> make_digits() {
  std::array<std::uint8_t, 256> digits{};
  for (auto& digit : digits) digit = kInvalid;
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    digits[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  for (const char c : {'=', '\n', '\r', '\\', ' '}) digits[static_cast<std::uint8_t>(c)] = kIgnored;
  return digits;
}
constexpr std::array<std::uint8_t, 256> kDigits = make_digits();

}  // namespace

Status Base64Input::decode_some() {
  Result<std::string_view> view = page_.peek(1);
  if (!view) return std::move(view).error();
  const std::string_view text = view->substr(0, kStep);
  if (text.empty())
    return Error{ErrorCode::malformed, "truncated page: base64 text without its closing quote", offset_};
  std::size_t used = 0;
  for (; used < text.size(); ++used) {
    const auto byte = static_cast<std::uint8_t>(text[used]);
    const std::uint8_t digit = kDigits[byte];
    if (digit < 64) {
      bits_ = (bits_ << 6) | digit;
      bit_count_ += 6;
      if (bit_count_ >= 8) {
        bit_count_ -= 8;
        buffer_ += static_cast<char>(bits_ >> bit_count_ & 0xff);
      }
    } else if (byte == '"' || byte == '\'' || byte == '`') {
      ended_ = true;
      ++used;
      break;
    } else if (digit == kInvalid) {
      return Error{ErrorCode::malformed, "no base64: a character outside its alphabet", page_.offset() + used};
    }
  }
  page_.consume(used);
  return ok();
}

Result<std::string_view> Base64Input::peek(std::size_t wanted) {
  if (buffer_.size() - begin_ < wanted && !ended_) {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t target = std::max(wanted, kStep / 2);
    while (buffer_.size() < target && !ended_) {
      if (Status decoded = decode_some(); !decoded) return std::move(decoded).error();
    }
  }
  return std::string_view(buffer_).substr(begin_);
}

}  // namespace snapdiff::formats::torch_cuda
