#include <lz4frame.h>

#include "formats/input/frame_decoder.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::string_view kMagic = "\x04\x22\x4d\x18";

class Lz4Decoder final : public FrameDecoder {
 public:
  Lz4Decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : FrameDecoder("lz4", "the rest of the frame", kMagic.size(), std::move(upstream), budget) {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&stream_, LZ4F_VERSION)) != 0) stream_ = nullptr;
  }
  ~Lz4Decoder() override { LZ4F_freeDecompressionContext(stream_); }
  bool ready() const { return stream_ != nullptr; }

 private:
  Result<Next> next_frame(std::string_view in) override {
    const bool skippable = in.size() >= 4 && (in[0] & 0xf0) == 0x50 && in.substr(1, 3) == "\x2a\x4d\x18";
    if (in.substr(0, kMagic.size()) == kMagic || skippable) return Next::frame;
    if (in.size() >= kMagic.size() || kMagic.substr(0, in.size()) != in) return Next::none;
    used(in.size());
    return ends_early("a whole frame header");
  }

  Result<std::size_t> decode_into(std::string_view in, char* out, std::size_t capacity) override {
    std::size_t taken = in.size();
    std::size_t count = capacity;
    const std::size_t code = LZ4F_decompress(stream_, out, &count, in.data(), &taken, nullptr);
    if (LZ4F_isError(code) != 0) return damaged(LZ4F_getErrorName(code));
    used(taken);
    between_frames_ = code == 0;
    output_was_full_ = count == capacity;
    if (in.empty() && count == 0 && code != 0) return ends_early("the rest of the frame");
    return count;
  }

  LZ4F_dctx* stream_ = nullptr;
};

}  // namespace

std::unique_ptr<ByteSource> make_lz4_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  return make_ready<Lz4Decoder>(std::move(upstream), budget);
}

}  // namespace snapdiff::formats
