#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <type_traits>
#include <vector>

namespace snapdiff::formats::hprof {

/// A column of unknown length: blocks of growing size, so that it never moves while it grows, and
/// gives each block back as it is read. A vector that doubles would need up to three times the memory here.
template <class T>
class Chunks {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const { return size_; }

  void push(T value) {
    if (next_ == end_) add_block();
    *next_++ = value;
    ++size_;
  }

  void append(const T* values, std::size_t count) {
    size_ += count;
    while (count > 0) {
      if (next_ == end_) add_block();
      const std::size_t here = std::min(count, static_cast<std::size_t>(end_ - next_));
      std::copy_n(values, here, next_);
      next_ += here;
      values += here;
      count -= here;
    }
  }

  /// The first value that was not yet taken; there must be one. Only once everything is in.
  T take_front() {
    if (front_ == front_end_) next_front();
    --size_;
    return *front_++;
  }

  /// All values, moved into a vector without a second copy of the whole.
  std::vector<T> take_all() {
    std::vector<T> out;
    out.reserve(size_);
    while (size_ > 0) {
      if (front_ == front_end_) next_front();
      const std::size_t here = std::min(size_, static_cast<std::size_t>(front_end_ - front_));
      out.insert(out.end(), front_, front_ + here);
      front_ += here;
      size_ -= here;
    }
    blocks_.clear();
    return out;
  }

 private:
  // Blocks beyond 32 MiB are mapped by the C library, so that freeing one gives it back to the system.
  static constexpr std::size_t kFirstBlock = std::size_t{1024};
  static constexpr std::size_t kLastBlock = (std::size_t{36} << 20) / sizeof(T);
  struct Block {
    std::unique_ptr<T[]> values;
    std::size_t size = 0;
  };

  void add_block() {
    const std::size_t size = std::clamp(size_, kFirstBlock, kLastBlock);
    blocks_.push_back(Block{std::make_unique_for_overwrite<T[]>(size), size});
    next_ = blocks_.back().values.get();
    end_ = next_ + size;
  }

  void next_front() {
    if (front_end_ != nullptr) blocks_.pop_front();
    front_ = blocks_.front().values.get();
    front_end_ = front_ + blocks_.front().size;
  }

  std::deque<Block> blocks_;
  T* next_ = nullptr;  // in the last block
  T* end_ = nullptr;
  T* front_ = nullptr;  // in the first block, once reading has begun
  T* front_end_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace snapdiff::formats::hprof
