#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace snapdiff::formats::pickle {

/// The stack of a pickle's machine. Values are written field by field where they stay: std::vector takes a reference to
/// the new value, which makes the compiler build it elsewhere and copy it as one word of 16 bytes while its parts are
/// still being written. That wait was a fifth of the time a pickle takes.
template <class Value>
class ValueStack {
  static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);

 public:
  explicit ValueStack(std::size_t room) : values_(room), end_(values_.data()), limit_(end_ + room) {}
  ValueStack(const ValueStack&) = delete;
  ValueStack& operator=(const ValueStack&) = delete;

  std::size_t size() const { return static_cast<std::size_t>(end_ - values_.data()); }
  bool empty() const { return end_ == values_.data(); }
  Value* data() { return values_.data(); }
  const Value* data() const { return values_.data(); }
  Value& operator[](std::size_t i) { return values_[i]; }
  const Value& operator[](std::size_t i) const { return values_[i]; }
  Value& back() { return end_[-1]; }
  const Value& back() const { return end_[-1]; }

  [[gnu::always_inline]] void push(Value value) {
    if (end_ == limit_) [[unlikely]]
      grow();
    *end_++ = value;
  }
  void pop() { --end_; }
  /// size <= size()
  void shrink_to(std::size_t size) { end_ = values_.data() + size; }

 private:
  [[gnu::noinline]] void grow() {
    const std::size_t used = size();
    values_.resize(used * 2);
    end_ = values_.data() + used;
    limit_ = values_.data() + values_.size();
  }

  std::vector<Value> values_;  ///< of which those below end_ are in use
  Value* end_;
  Value* limit_;
};

}  // namespace snapdiff::formats::pickle
