#include <zlib.h>

#include <limits>

#include "formats/input/frame_decoder.hpp"

namespace snapdiff::formats {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // largest window, gzip wrapper only

class GzipDecoder final : public FrameDecoder {
 public:
  GzipDecoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : FrameDecoder("gzip", "more deflate data and its 8-byte trailer", 2, std::move(upstream), budget),
        ready_(inflateInit2(&stream_, kGzipWindowBits) == Z_OK) {
    between_frames_ = false;
  }
  ~GzipDecoder() override {
    if (ready_) inflateEnd(&stream_);
  }
  bool ready() const { return ready_; }

 private:
  Result<Next> next_frame(std::string_view in) override {
    if (in.substr(0, 2) == "\x1f\x8b") {
      inflateReset(&stream_);
      return Next::frame;
    }
    if (in != "\x1f") return Next::none;
    used(1);
    return ends_early("the rest of a member's header");
  }

  Result<std::size_t> decode_into(std::string_view in, char* out, std::size_t capacity) override {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    const std::size_t room = capacity < kMost ? capacity : kMost;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib does not write there
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    used(in.size() - stream_.avail_in);
    const std::size_t count = room - stream_.avail_out;
    if (code == Z_MEM_ERROR) return Error{ErrorCode::limit, "no memory to inflate"};
    if (code == Z_STREAM_END) {
      between_frames_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return damaged(stream_.msg != nullptr ? stream_.msg : "not valid deflate data");
    }
    return count;
  }

  z_stream stream_{};
  bool ready_;
};

}  // namespace

std::unique_ptr<ByteSource> make_gzip_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  return make_ready<GzipDecoder>(std::move(upstream), budget);
}

}  // namespace snapdiff::formats
