#pragma once

#include "formats/input/raw_bytes.hpp"
#include "snapdiff/notes.hpp"

namespace snapdiff::formats {

/// Bytes front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to `capacity` (> 0) next bytes into `out`; 0 at the end, then and ever after.
  /// Errors: io, malformed (offset in this layer's compressed bytes), limit.
  virtual Result<std::size_t> read(char* out, std::size_t capacity) = 0;
};

/// What the layers of one input share: the limits and what was used up of them.
struct DecodeBudget {
  std::uint64_t max_output_bytes = 0;  ///< of any layer
  std::uint64_t raw_bytes_read = 0;    ///< so far, of the bytes as given
  Notes* notes = nullptr;              ///< remarks; must outlive the sources
  bool cut = false;                    ///< the bytes of a layer end before its end
};

/// Data that unfolds more than this many times is a bomb, once it has come to this many bytes. Deflate cannot pass
/// 1032; real heap profiles stay under 60.
struct RatioLimit {
  std::uint64_t free_bytes = 0;
  std::uint64_t most = 0;
};
inline constexpr RatioLimit kRatioLimits[] = {{std::uint64_t{64} << 20, 2000}, {std::uint64_t{256} << 20, 500}};

/// UTF-16 with a byte order mark is undone like a compression: what comes out is UTF-8.
enum class Compression : std::uint8_t { none, gzip, zstd, xz, lz4, utf16 };
std::string_view to_text(Compression compression);

/// By the first bytes (12 are enough); never by a file's name.
Compression compression_of(std::string_view head);

/// The given bytes themselves. `raw`, `budget` must outlive the source.
std::unique_ptr<ByteSource> make_raw_source(RawBytes& raw, DecodeBudget& budget);

/// One layer of compression taken off `upstream`.
/// Errors: limit, when the library finds no memory.
Result<std::unique_ptr<ByteSource>> make_decoder(Compression compression, std::unique_ptr<ByteSource> upstream,
                                                 DecodeBudget& budget);

/// What the decoders have in common: a buffer of compressed bytes, limits, error texts.
class Decoder : public ByteSource {
 protected:
  Decoder(std::string_view name, std::unique_ptr<ByteSource> upstream, DecodeBudget& budget)
      : name_(name), upstream_(std::move(upstream)), budget_(budget) {}

  /// The compressed bytes not yet decoded: at least `wanted` where the upstream still has them; empty at the end.
  Result<std::string_view> input(std::size_t wanted = 1);
  void used(std::size_t count) { begin_ += count; }

  /// Offset of the next compressed byte in this layer.
  std::uint64_t position() const { return before_ + begin_; }

  /// Counts decoded bytes; refuses bombs.
  Status produced(std::size_t count);

  Error ends_early(std::string_view expected) const;
  Error damaged(std::string_view what) const;
  void note_trailing_bytes() const;

 private:
  static constexpr std::size_t kBufferBytes = 32 * 1024;  // with what comes out of it, stays in the second-level cache

  std::string_view name_;
  std::unique_ptr<ByteSource> upstream_;
  DecodeBudget& budget_;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kBufferBytes);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t before_ = 0;  // compressed bytes of this layer before buffer_[0]
  std::uint64_t output_ = 0;
};

std::unique_ptr<ByteSource> make_utf16_decoder(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget);

}  // namespace snapdiff::formats
