#pragma once

#include <sys/mman.h>

#include "analyzer/base/importer.hpp"
#include "analyzer/base/large_pages.hpp"
#include "formats/input/decoder.hpp"

namespace snapdiff::formats {

/// Gives whole large pages at the start of a block back to the system. Their contents are lost. Returns
/// how many bytes of the block are done with. Nothing where the block is short.
inline std::size_t give_back(char* memory, std::size_t size) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) & ~(kHugePage - 1);
  if (begin >= end || ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) != 0) return 0;
  return end - reinterpret_cast<std::uintptr_t>(memory);
}

/// A window over a ByteSource. It grows with what is asked for, as far as bytes really come, and
/// shrinks again. An error stays: every later peek() returns it.
class WindowInput final : public Input {
 public:
  /// One record of an input may be this long at most.
  static constexpr std::size_t kMaxWindowBytes = std::size_t{1} << 30;

  /// `expected_bytes`: what will come in all, 0 where unknown; spares copies while the window grows.
  WindowInput(std::unique_ptr<ByteSource> source, std::size_t window_bytes, std::uint64_t expected_bytes,
              std::string name, std::string compression)
      : source_(std::move(source)),
        window_bytes_(window_bytes),
        expected_bytes_(expected_bytes),
        name_(std::move(name)),
        compression_(std::move(compression)) {}

  Result<std::string_view> peek(std::size_t wanted) override {
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

  void consume(std::size_t n) override {
    begin_ += n;
    offset_ += n;
  }

  std::uint64_t offset() const override { return offset_; }
  const std::string& name() const override { return name_; }
  std::string_view compression() const override { return compression_; }
  bool failed() const { return error_.has_value(); }

  /// An error while `*cut` is set is the end of the input, and kept as cut_error(). `cut` must live as long as this.
  void end_at_cut(const bool* cut) { cut_ = cut; }
  const std::optional<Error>& cut_error() const { return cut_error_; }

 private:
  Status fill(std::size_t wanted) {
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
  void make_room(std::size_t capacity) {
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

  std::unique_ptr<ByteSource> source_;
  std::size_t window_bytes_;
  std::uint64_t expected_bytes_;
  std::string name_;
  std::string compression_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  bool ended_ = false;
  std::optional<Error> error_;
  const bool* cut_ = nullptr;
  std::optional<Error> cut_error_;
};

/// Bytes that are all in memory; they must outlive the input.
class MemoryInput final : public Input {
 public:
  MemoryInput(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
  /// The input's own bytes: what it forgets goes back to the system.
  MemoryInput(std::span<char> bytes, std::string name, std::string compression)
      : bytes_(bytes.data(), bytes.size()), own_(bytes), name_(std::move(name)), compression_(std::move(compression)) {}
  Result<std::string_view> peek(std::size_t /*wanted*/) override { return bytes_.substr(offset_); }
  void consume(std::size_t n) override { offset_ += n; }
  void forget(std::size_t n) {
    const std::size_t end = std::min(own_.size(), offset_ + n);
    if (end > forgotten_) forgotten_ += give_back(own_.data() + forgotten_, end - forgotten_);
  }

  std::uint64_t offset() const override { return offset_; }
  const std::string& name() const override { return name_; }
  std::string_view compression() const override { return compression_; }

 private:
  std::string_view bytes_;
  std::span<char> own_;
  std::size_t forgotten_ = 0;
  std::size_t offset_ = 0;
  std::string name_;
  std::string compression_;
};

/// The first `n` bytes of the last view will not be looked at again, though they are not consumed yet: an input of
/// with memory of its own gives theirs back.
inline void forget(Input& in, std::size_t n) {
  if (auto* const memory = dynamic_cast<MemoryInput*>(&in)) memory->forget(n);
}

}  // namespace snapdiff::formats
