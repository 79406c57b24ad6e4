#pragma once

#include "formats/input/decoder.hpp"

namespace snapdiff::formats {

/// A compression whose frames (gzip's members, xz's streams) may stand one after another.
class FrameDecoder : public Decoder {
 public:
  FrameDecoder(const FrameDecoder&) = delete;
  FrameDecoder& operator=(const FrameDecoder&) = delete;
  Result<std::size_t> read(char* out, std::size_t capacity) final;

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

/// Null where the library found no memory, which the decoder's ready() says.
template <class Made>
std::unique_ptr<ByteSource> make_ready(std::unique_ptr<ByteSource> upstream, DecodeBudget& budget) {
  auto decoder = std::make_unique<Made>(std::move(upstream), budget);
  if (!decoder->ready()) return nullptr;
  return decoder;
}

}  // namespace snapdiff::formats
