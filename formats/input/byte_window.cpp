#include "formats/input/byte_window.hpp"

namespace snapdiff::formats {

bool ByteWindow::more(const char*& p, std::size_t wanted) {
  if (in_tail_) return static_cast<std::size_t>(end_ - p) >= wanted;
  if (begin_ != nullptr) {
    const auto used = static_cast<std::size_t>(p - begin_);
    in_.consume(used);
    base_ += used;
  }
  const std::string_view view = value_or_throw(in_.peek(std::max(wanted, kPadding)));
  begin_ = p = view.data();
  end_ = begin_ + view.size();
  if (view.size() < kPadding) {
    in_tail_ = true;
    if (!view.empty()) std::memcpy(tail_, view.data(), view.size());
    in_.consume(view.size());
    begin_ = p = tail_;
    end_ = tail_ + view.size();
  }
  return static_cast<std::size_t>(end_ - p) >= wanted;
}

bool ByteWindow::skip_far(const char*& p, std::uint64_t count) {
  for (;;) {
    const auto here = static_cast<std::uint64_t>(end_ - p);
    if (count <= here) {
      p += count;
      return true;
    }
    count -= here;
    p = end_;
    if (!more(p, 1)) return false;
  }
}

}  // namespace snapdiff::formats
