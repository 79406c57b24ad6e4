#include <algorithm>

#include "formats/input/decoder.hpp"
#include "formats/input/utf8.hpp"

namespace snapdiff::formats {
namespace {

/// UTF-16 of either byte order to UTF-8. Half a surrogate pair is written as three bytes of its own, so
/// that nothing is lost.
class Utf16Decoder final : public Decoder {
 public:
  Utf16Decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : Decoder("utf-16", std::move(upstream), budget), notes_(budget.notes) {}

  Result<std::size_t> read(char* out, std::size_t capacity) override {
    while (given_ == ready_.size()) {
      if (ended_) return std::size_t{0};
      ready_.clear();
      given_ = 0;
      if (Status decoded = decode_some(); !decoded) return std::move(decoded).error();
    }
    const std::size_t count = ready_.copy(out, capacity, given_);
    given_ += count;
    return count;
  }

 private:
  static constexpr std::size_t kUnits = 16 * 1024;

  Status decode_some() {
    Result<std::string_view> in = input(4);  // a pair
    if (!in) return std::move(in).error();
    std::size_t at = 0;
    if (!started_ && in->size() >= 2) {
      little_ = (*in)[0] == '\xff';
      started_ = true;
      at = 2;
    }
    const std::size_t end = std::min(in->size(), kUnits);
    while (at + 2 <= end) {
      std::uint32_t code = unit(*in, at);
      std::size_t size = 2;
      if (code >= 0xd800 && code < 0xdc00) {
        if (at + 4 > in->size() && at > 0) break;  // the other half comes with the next bytes
        if (at + 4 <= in->size()) {
          const std::uint32_t low = unit(*in, at + 2);
          if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            size = 4;
          }
        }
      }
      append_utf8(ready_, code);
      at += size;
    }
    if (at == 0) {
      if (!in->empty()) {
        notes_->add(Severity::warning, "half a character at the end of UTF-16 text was left out", position());
        used(in->size());
      }
      ended_ = true;
      return ok();
    }
    used(at);
    return produced(ready_.size());
  }

  std::uint32_t unit(std::string_view in, std::size_t at) const {
    const auto first = static_cast<unsigned char>(in[at]), second = static_cast<unsigned char>(in[at + 1]);
    return little_ ? static_cast<std::uint32_t>(first | second << 8) : static_cast<std::uint32_t>(first << 8 | second);
  }

  Notes* notes_;
  std::string ready_;
  std::size_t given_ = 0;
  bool started_ = false;
  bool little_ = true;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_utf16_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  return std::make_unique<Utf16Decoder>(std::move(upstream), budget);
}

}  // namespace snapdiff::formats
