#include <zstd.h>
#include <zstd_errors.h>

#include "formats/input/frame_decoder.hpp"

namespace snapdiff::formats {
namespace {

// 128 MiB, what the zstd tool takes without an option to take more.
constexpr int kMaxWindowLog = 27;

class ZstdDecoder final : public FrameDecoder {
 public:
  ZstdDecoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : FrameDecoder("zstd", "the rest of the frame", 4, std::move(upstream), budget),
        stream_(ZSTD_createDCtx(), &ZSTD_freeDCtx) {
    if (stream_) ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  bool ready() const { return stream_ != nullptr; }

 private:
  Result<Next> next_frame(std::string_view in) override {
    if (in.size() < 4) return ends_early("a whole frame header");
    return compression_of(in) == Compression::zstd ? Next::frame : Next::none;
  }

  Result<std::size_t> decode_into(std::string_view in, char* out, std::size_t capacity) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out, capacity, 0};
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &to, &from);
    if (ZSTD_isError(code) != 0) {
      if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) {
        return Error{ErrorCode::limit, "zstd frame needs too large a window: expected at most 128 MiB", position()};
      }
      return damaged(ZSTD_getErrorName(code));
    }
    used(from.pos);
    between_frames_ = code == 0;
    output_was_full_ = to.pos == capacity;
    if (from.pos == 0 && to.pos == 0 && code != 0 && in.empty()) return ends_early("the rest of the frame");
    return to.pos;
  }

  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> stream_;
};

}  // namespace

std::unique_ptr<ByteSource> make_zstd_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  return make_ready<ZstdDecoder>(std::move(upstream), budget);
}

}  // namespace snapdiff::formats
