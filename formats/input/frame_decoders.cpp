#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <limits>

#include "formats/input/decoder.hpp"

namespace snapdiff::formats {
namespace {

/// A compression whose frames (gzip's members, xz's streams) may stand one after another.
class FrameDecoder : public Decoder {
 public:
  FrameDecoder(const FrameDecoder&) = delete;
  FrameDecoder& operator=(const FrameDecoder&) = delete;
  Result<std::size_t> read(char* out, std::size_t capacity) final {
    while (!done_) {
      Result<std::string_view> in = input(between_frames_ ? header_bytes_ : 1);
      if (!in) return std::move(in).error();
      if (between_frames_) {
        const Result<Next> next = in->empty() ? Next::none : next_frame(*in);
        if (!next) return next.error();
        between_frames_ = *next != Next::frame;
        done_ = *next == Next::none;
        if (done_ && !in->empty()) note_trailing_bytes();
        continue;
      }
      if (in->empty() && !output_was_full_) return ends_early(rest_);
      Result<std::size_t> got = decode_into(*in, out, capacity);
      if (!got) return got;
      if (Status fits = produced(*got); !fits) return std::move(fits).error();
      if (*got > 0) return got;
    }
    return std::size_t{0};
  }

 protected:
  /// `header_bytes`: what next_frame() looks at. `rest`: what is expected where the input ends inside a frame.
  FrameDecoder(std::string_view name, std::string_view rest, std::size_t header_bytes,
               std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : Decoder(name, std::move(upstream), budget), rest_(rest), header_bytes_(header_bytes) {}

  enum class Next : std::uint8_t { frame, padding, none };
  /// What begins with `in`, which is not empty, between two frames; padding is used() already.
  virtual Result<Next> next_frame(std::string_view in) = 0;
  /// Decodes some of a frame; the number of bytes in `out`.
  virtual Result<std::size_t> decode_into(std::string_view in, char* out, std::size_t capacity) = 0;

  bool between_frames_ = true;
  bool output_was_full_ = false;  ///< the decoder may hold more without further input

 private:
  std::string_view rest_;
  std::size_t header_bytes_;
  bool done_ = false;
};

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

constexpr std::string_view kLz4Magic = "\x04\x22\x4d\x18";

class Lz4Decoder final : public FrameDecoder {
 public:
  Lz4Decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : FrameDecoder("lz4", "the rest of the frame", kLz4Magic.size(), std::move(upstream), budget) {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&stream_, LZ4F_VERSION)) != 0) stream_ = nullptr;
  }
  ~Lz4Decoder() override { LZ4F_freeDecompressionContext(stream_); }
  bool ready() const { return stream_ != nullptr; }

 private:
  Result<Next> next_frame(std::string_view in) override {
    const bool skippable = in.size() >= 4 && (in[0] & 0xf0) == 0x50 && in.substr(1, 3) == "\x2a\x4d\x18";
    if (in.substr(0, kLz4Magic.size()) == kLz4Magic || skippable) return Next::frame;
    if (in.size() >= kLz4Magic.size() || kLz4Magic.substr(0, in.size()) != in) return Next::none;
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

/// Null where the library found no memory, which the decoder's ready() says.
template <class Made>
std::unique_ptr<ByteSource> make_ready(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  auto decoder = std::make_unique<Made>(std::move(upstream), budget);
  if (!decoder->ready()) return nullptr;
  return decoder;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> make_decoder(Compression compression, std::unique_ptr<ByteSource> upstream,
                                                 DecodeBudget& budget) {
  std::unique_ptr<ByteSource> decoder;
  switch (compression) {
    case Compression::none: return upstream;
    case Compression::gzip: decoder = make_ready<GzipDecoder>(std::move(upstream), budget); break;
    case Compression::zstd: decoder = make_ready<ZstdDecoder>(std::move(upstream), budget); break;
    case Compression::xz: decoder = make_ready<XzDecoder>(std::move(upstream), budget); break;
    case Compression::lz4: decoder = make_ready<Lz4Decoder>(std::move(upstream), budget); break;
    case Compression::utf16: decoder = make_utf16_decoder(std::move(upstream), budget); break;
  }
  if (decoder == nullptr) return Error{ErrorCode::limit, "no memory for a decoder"};
  return decoder;
}

}  // namespace snapdiff::formats
