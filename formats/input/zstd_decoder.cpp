#include <zstd.h>
#include <zstd_errors.h>

#include <utility>

#include "formats/input/decoder.hpp"

namespace snapdiff::formats {
namespace {

// 128 MiB, what the zstd tool takes without being told to take more.
constexpr int kMaxWindowLog = 27;

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : Decoder("zstd", std::move(upstream), budget), stream_(ZSTD_createDCtx(), &ZSTD_freeDCtx) {
    if (stream_) ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  bool ready() const { return stream_ != nullptr; }

  Result<std::size_t> read(char* out, std::size_t capacity) override {
    while (!done_) {
      Result<std::string_view> in = input(between_frames_ ? 4 : 1);
      if (!in) return std::move(in).error();
      if (between_frames_ && (in->empty() || !frame_starts(*in))) {
        if (in->empty()) {
          done_ = true;
          break;
        }
        if (in->size() < 4) return ends_early("a whole frame header");
        note_trailing_bytes();
        done_ = true;
        break;
      }
      // A frame that ended in the last call with output left inside the decoder still has some.
      if (in->empty() && !output_was_full_) return ends_early("the rest of the frame");
      Result<std::size_t> got = decode_into(*in, out, capacity);
      if (!got || *got > 0) return got;
    }
    return std::size_t{0};
  }

 private:
  static bool frame_starts(std::string_view in) { return in.size() >= 4 && compression_of(in) == Compression::zstd; }

  Result<std::size_t> decode_into(std::string_view in, char* out, std::size_t capacity) {
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
    if (Status fits = produced(to.pos); !fits) return std::move(fits).error();
    return to.pos;
  }

  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> stream_;
  bool between_frames_ = true;
  bool output_was_full_ = false;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_zstd_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  auto decoder = std::make_unique<ZstdDecoder>(std::move(upstream), budget);
  if (!decoder->ready()) return nullptr;
  return decoder;
}

}  // namespace snapdiff::formats
