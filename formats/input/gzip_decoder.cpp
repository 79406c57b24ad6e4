#include <zlib.h>

#include <limits>
#include <utility>

#include "formats/input/decoder.hpp"

namespace snapdiff::formats {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // largest window, gzip wrapper only

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : Decoder("gzip", std::move(upstream), budget), ready_(inflateInit2(&stream_, kGzipWindowBits) == Z_OK) {}
  ~GzipDecoder() override {
    if (ready_) inflateEnd(&stream_);
  }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;
  bool ready() const { return ready_; }

  Result<std::size_t> read(char* out, std::size_t capacity) override {
    while (!done_) {
      Result<std::string_view> in = input(between_members_ ? 2 : 1);
      if (!in) return std::move(in).error();
      if (between_members_) {
        if (Status next = next_member(*in); !next) return std::move(next).error();
        continue;
      }
      if (in->empty()) return ends_early("more deflate data and its 8-byte trailer");
      Result<std::size_t> got = inflate_into(*in, out, capacity);
      if (!got || *got > 0) return got;
    }
    return std::size_t{0};
  }

 private:
  Status next_member(std::string_view in) {
    if (in.size() >= 2 && in.substr(0, 2) == "\x1f\x8b") {
      inflateReset(&stream_);
      between_members_ = false;
      return ok();
    }
    if (in == "\x1f") {
      used(1);
      return ends_early("the rest of a member's header");
    }
    if (!in.empty()) note_trailing_bytes();
    done_ = true;
    return ok();
  }

  Result<std::size_t> inflate_into(std::string_view in, char* out, std::size_t capacity) {
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
      between_members_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return damaged(stream_.msg != nullptr ? stream_.msg : "not valid deflate data");
    }
    if (Status fits = produced(count); !fits) return std::move(fits).error();
    return count;
  }

  z_stream stream_{};
  bool ready_;
  bool between_members_ = false;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_gzip_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  auto decoder = std::make_unique<GzipDecoder>(std::move(upstream), budget);
  if (!decoder->ready()) return nullptr;
  return decoder;
}

}  // namespace snapdiff::formats
