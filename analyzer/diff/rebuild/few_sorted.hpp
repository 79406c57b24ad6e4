#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace snapdiff::diff::rebuild {

/// A sorted set of mostly few values: the first ones need no memory of their own, and there are as many of these sets
/// as lines in a program.
template <class T>
class FewSorted {
 public:
  /// Nothing where there are `most` values already.
  void add(T value, std::size_t most) {
    if (size_ >= most) return;
    const T* const first = begin();
    const T* const at = std::lower_bound(first, first + size_, value);
    if (at != first + size_ && *at == value) return;
    const auto place = at - first;
    if (size_ == kInside && many_.empty()) many_.assign(few_.begin(), few_.end());
    if (many_.empty()) {
      std::copy_backward(few_.begin() + place, few_.begin() + size_, few_.begin() + size_ + 1);
      few_[static_cast<std::size_t>(place)] = value;
    } else {
      many_.insert(many_.begin() + place, value);
    }
    ++size_;
  }

  /// The `most` least values of all that are added, in whatever order they come.
  void add_least(T value, std::size_t most) {
    if (size_ >= most && !(value < back())) return;
    const std::size_t before = size_;
    add(value, most + 1);
    if (size_ <= most || size_ == before) return;
    --size_;
    if (!many_.empty()) many_.pop_back();
  }

  const T* begin() const { return many_.empty() ? few_.data() : many_.data(); }
  const T* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](std::size_t i) const { return begin()[i]; }
  T front() const { return *begin(); }
  T back() const { return begin()[size_ - 1]; }

 private:
  static constexpr std::size_t kInside = 16 / sizeof(T);
  std::array<T, kInside> few_{};
  std::uint32_t size_ = 0;
  std::vector<T> many_;  ///< all of them, where they are more than fit
};

}  // namespace snapdiff::diff::rebuild
