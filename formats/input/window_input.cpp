#include "formats/input/window_input.hpp"

namespace snapdiff::formats {

Result<std::string_view> WindowInput::peek(std::size_t wanted) {
  if (error_) return *error_;
  if (end_ - begin_ < wanted && !ended_) {
    if (Status filled = fill(wanted); !filled) {
      const bool is_cut = cut_ != nullptr && *cut_;
      (is_cut ? cut_error_ : error_) = std::move(filled).error();
      if (!is_cut) return *error_;
      ended_ = true;
    }
  }
  return std::string_view(buffer_.get() + begin_, end_ - begin_);
}

void MemoryInput::forget(std::size_t n) {
  const std::size_t end = std::min(own_.size(), offset_ + n);
  if (end > forgotten_) forgotten_ += give_back(own_.data() + forgotten_, end - forgotten_);
}

void forget(Input& in, std::size_t n) {
  if (auto* const memory = dynamic_cast<MemoryInput*>(&in)) memory->forget(n);
}

Status WindowInput::fill(std::size_t wanted) {
  if (wanted > kMaxWindowBytes) {
    return Error{ErrorCode::limit, "record too long: " + std::to_string(wanted) + " bytes, expected at most 1 GiB",
                 offset_};
  }
  const std::size_t target = std::max(wanted, window_bytes_);
  make_room(std::min(target, std::max(window_bytes_, end_ - begin_)));
  while (end_ - begin_ < wanted) {
    // Doubling, and only as bytes come: a length field of 900 MB in a file of 1 KB costs nothing.
    if (end_ == capacity_) {
      const std::uint64_t next = std::max<std::uint64_t>(capacity_ * 2, expected_bytes_ + 1);
      make_room(static_cast<std::size_t>(std::min<std::uint64_t>(target, next)));
    }
    Result<std::size_t> got = source_->read(buffer_.get() + end_, capacity_ - end_);
    if (!got) return std::move(got).error();
    if (*got == 0) {
      ended_ = true;
      break;
    }
    end_ += *got;
  }
  return ok();
}

/// Moves the unread bytes to the front of a buffer of at least `capacity`; gives back a buffer
/// that has become far too large.
void WindowInput::make_room(std::size_t capacity) {
  const std::size_t unread = end_ - begin_;
  if (capacity_ < capacity || capacity_ / 4 > capacity) {
    auto moved = std::make_unique_for_overwrite<char[]>(capacity);
    prefer_large_pages(moved.get(), capacity);
    if (unread > 0) std::memcpy(moved.get(), buffer_.get() + begin_, unread);
    buffer_ = std::move(moved);
    capacity_ = capacity;
  } else if (begin_ > 0 && unread > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, unread);
  }
  begin_ = 0;
  end_ = unread;
}

}  // namespace snapdiff::formats
