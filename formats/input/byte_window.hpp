#pragma once

#include "formats/input/read_failure.hpp"

namespace snapdiff::formats {

/// Pointers into the window of an Input, for decoders that look at every byte. The decoder moves a pointer of its
/// own and hands it in whenever it wants more bytes after it. After the last byte of the input lie
/// zeros, so that up to kPadding bytes can be read before the end is looked at.
class ByteWindow {
 public:
  static constexpr std::size_t kPadding = 64;

  explicit ByteWindow(Input& in) : in_(in), base_(in.offset()) {}

  const char* end() const { return end_; }
  std::uint64_t offset_of(const char* p) const { return base_ + static_cast<std::uint64_t>(p - begin_); }

  /// Makes `wanted` bytes readable after `p`, which moves with the window. False when the input ends before:
  /// what there is can then be read, with zeros after it where wanted <= kPadding. Throws Failure.
  bool ensure(const char*& p, std::size_t wanted) {
    if (static_cast<std::size_t>(end_ - p) >= wanted) [[likely]]
      return true;
    return more(p, wanted);
  }

  /// Whether the input ends at `p`.
  bool at_end(const char*& p) { return !ensure(p, 1); }

  /// Moves `p` over `count` bytes; false when the input ends before.
  bool skip(const char*& p, std::uint64_t count) {
    if (static_cast<std::uint64_t>(end_ - p) >= count) [[likely]] {
      p += count;
      return true;
    }
    return skip_far(p, count);
  }

 private:
  bool more(const char*& p, std::size_t wanted) {
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

  bool skip_far(const char*& p, std::uint64_t count) {
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

  Input& in_;
  std::uint64_t base_;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  bool in_tail_ = false;
  char tail_[3 * kPadding] = {};
};

}  // namespace snapdiff::formats
