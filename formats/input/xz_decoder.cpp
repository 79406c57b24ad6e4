#include <lzma.h>

#include "formats/input/frame_decoder.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{256} << 20;  // `xz -9` needs 65 MiB
constexpr std::string_view kXzMagic("\xfd\x37\x7a\x58\x5a\x00", 6);

class XzDecoder final : public FrameDecoder {
 public:
  XzDecoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : FrameDecoder("xz", "the rest of the stream with its index and footer", kXzMagic.size(), std::move(upstream),
                     budget),
        ready_(start()) {
    between_frames_ = false;
  }
  ~XzDecoder() override { lzma_end(&stream_); }
  bool ready() const { return ready_; }

 private:
  bool start() { return lzma_stream_decoder(&stream_, kMaxMemoryBytes, 0) == LZMA_OK; }

  Result<Next> next_frame(std::string_view in) override {
    if (in.substr(0, 4) == std::string_view("\0\0\0\0", 4)) {  // stream padding comes in fours
      used(4);
      return Next::padding;
    }
    if (in.substr(0, kXzMagic.size()) == kXzMagic) {
      if (!start()) return Error{ErrorCode::limit, "no memory for a decoder"};
      return Next::frame;
    }
    if (kXzMagic.substr(0, in.size()) != in) return Next::none;
    used(in.size());
    return ends_early("a whole stream header");
  }

  Result<std::size_t> decode_into(std::string_view in, char* out, std::size_t capacity) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
    stream_.avail_out = capacity;
    const lzma_ret code = lzma_code(&stream_, LZMA_RUN);
    used(in.size() - stream_.avail_in);
    const std::size_t count = capacity - stream_.avail_out;
    switch (code) {
      case LZMA_OK:
      case LZMA_BUF_ERROR: break;
      case LZMA_STREAM_END: between_frames_ = true; break;
      case LZMA_MEM_ERROR:
      case LZMA_MEMLIMIT_ERROR:
        return Error{ErrorCode::limit, "xz stream needs too much memory: expected at most 256 MiB", position()};
      case LZMA_OPTIONS_ERROR: return damaged("options that this decoder does not know");
      case LZMA_FORMAT_ERROR: return damaged("not an xz stream header");
      default: return damaged("check or data wrong");
    }
    return count;
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_;
};

}  // namespace

std::unique_ptr<ByteSource> make_xz_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  return make_ready<XzDecoder>(std::move(upstream), budget);
}

}  // namespace snapdiff::formats
