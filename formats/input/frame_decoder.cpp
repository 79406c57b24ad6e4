#include "formats/input/frame_decoder.hpp"

namespace snapdiff::formats {

Result<std::size_t> FrameDecoder::read(char* out, std::size_t capacity) {
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

}  // namespace snapdiff::formats
