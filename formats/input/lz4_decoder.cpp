#include <lz4frame.h>

#include <utility>

#include "formats/input/decoder.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::string_view kMagic = "\x04\x22\x4d\x18";

class Lz4Decoder final : public Decoder {
 public:
  Lz4Decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) : Decoder("lz4", std::move(upstream), budget) {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&stream_, LZ4F_VERSION)) != 0) stream_ = nullptr;
  }
  ~Lz4Decoder() override { LZ4F_freeDecompressionContext(stream_); }
  Lz4Decoder(const Lz4Decoder&) = delete;
  Lz4Decoder& operator=(const Lz4Decoder&) = delete;
  bool ready() const { return stream_ != nullptr; }

  Result<std::size_t> read(char* out, std::size_t capacity) override {
    while (!done_) {
      Result<std::string_view> in = input(between_frames_ ? kMagic.size() : 1);
      if (!in) return std::move(in).error();
      if (between_frames_) {
        if (Status next = next_frame(*in); !next) return std::move(next).error();
        continue;
      }
      if (in->empty() && !output_was_full_) return ends_early("the rest of the frame");
      Result<std::size_t> got = decode_into(*in, out, capacity);
      if (!got || *got > 0) return got;
    }
    return std::size_t{0};
  }

 private:
  Status next_frame(std::string_view in) {
    const bool skippable = in.size() >= 4 && (in[0] & 0xf0) == 0x50 && in.substr(1, 3) == "\x2a\x4d\x18";
    if (in.substr(0, kMagic.size()) == kMagic || skippable) {
      between_frames_ = false;
      return ok();
    }
    if (!in.empty() && in.size() < kMagic.size() && kMagic.substr(0, in.size()) == in) {
      used(in.size());
      return ends_early("a whole frame header");
    }
    if (!in.empty()) note_trailing_bytes();
    done_ = true;
    return ok();
  }

  Result<std::size_t> decode_into(std::string_view in, char* out, std::size_t capacity) {
    std::size_t taken = in.size();
    std::size_t count = capacity;
    const std::size_t code = LZ4F_decompress(stream_, out, &count, in.data(), &taken, nullptr);
    if (LZ4F_isError(code) != 0) return damaged(LZ4F_getErrorName(code));
    used(taken);
    between_frames_ = code == 0;
    output_was_full_ = count == capacity;
    if (in.empty() && count == 0 && code != 0) return ends_early("the rest of the frame");
    if (Status fits = produced(count); !fits) return std::move(fits).error();
    return count;
  }

  LZ4F_dctx* stream_ = nullptr;
  bool between_frames_ = true;
  bool output_was_full_ = false;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_lz4_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  auto decoder = std::make_unique<Lz4Decoder>(std::move(upstream), budget);
  if (!decoder->ready()) return nullptr;
  return decoder;
}

}  // namespace snapdiff::formats
