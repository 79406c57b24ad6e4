#include <lzma.h>

#include <utility>

#include "formats/input/decoder.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{256} << 20;  // `xz -9` needs 65 MiB
constexpr std::string_view kXzMagic("\xfd\x37\x7a\x58\x5a\x00", 6);

class XzDecoder final : public Decoder {
 public:
  XzDecoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : Decoder("xz", std::move(upstream), budget), ready_(start()) {}
  ~XzDecoder() override { lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  bool ready() const { return ready_; }

  Result<std::size_t> read(char* out, std::size_t capacity) override {
    while (!done_) {
      Result<std::string_view> in = input(between_streams_ ? kXzMagic.size() : 1);
      if (!in) return std::move(in).error();
      if (between_streams_) {
        if (Status next = next_stream(*in); !next) return std::move(next).error();
        continue;
      }
      if (in->empty()) return ends_early("the rest of the stream with its index and footer");
      Result<std::size_t> got = decode_into(*in, out, capacity);
      if (!got || *got > 0) return got;
    }
    return std::size_t{0};
  }

 private:
  bool start() { return lzma_stream_decoder(&stream_, kMaxMemoryBytes, 0) == LZMA_OK; }

  Status next_stream(std::string_view in) {
    if (in.substr(0, 4) == std::string_view("\0\0\0\0", 4)) {  // stream padding comes in fours
      used(4);
      return ok();
    }
    if (in.substr(0, kXzMagic.size()) == kXzMagic) {
      if (!start()) return Error{ErrorCode::limit, "no memory for a decoder"};
      between_streams_ = false;
      return ok();
    }
    if (!in.empty() && kXzMagic.substr(0, in.size()) == in) {
      used(in.size());
      return ends_early("a whole stream header");
    }
    if (!in.empty()) note_trailing_bytes();
    done_ = true;
    return ok();
  }

  Result<std::size_t> decode_into(std::string_view in, char* out, std::size_t capacity) {
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
      case LZMA_STREAM_END: between_streams_ = true; break;
      case LZMA_MEM_ERROR:
      case LZMA_MEMLIMIT_ERROR:
        return Error{ErrorCode::limit, "xz stream needs too much memory: expected at most 256 MiB", position()};
      case LZMA_OPTIONS_ERROR: return damaged("options that this decoder does not know");
      case LZMA_FORMAT_ERROR: return damaged("not an xz stream header");
      default: return damaged("check or data wrong");
    }
    if (Status fits = produced(count); !fits) return std::move(fits).error();
    return count;
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_;
  bool between_streams_ = false;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_xz_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  auto decoder = std::make_unique<XzDecoder>(std::move(upstream), budget);
  if (!decoder->ready()) return nullptr;
  return decoder;
}

}  // namespace snapdiff::formats
