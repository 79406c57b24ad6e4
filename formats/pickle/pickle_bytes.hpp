#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/pickle/value.hpp"
#include "snapdiff/importer.hpp"

namespace snapdiff::formats::pickle {

/// Pointers into the window of an Input. The reader moves a pointer of its own and hands it in
/// whenever it wants more bytes behind it. Once the input has ended, the last few bytes lie in a
/// buffer with zeros behind them, so that arguments can be read before the end is looked at.
class PickleBytes {
 public:
  /// So many bytes can always be read behind a pointer that is not beyond end().
  static constexpr std::size_t kPadding = 16;

  explicit PickleBytes(Input& in) : in_(in), base_(in.offset()) {}

  const char* end() const { return end_; }
  bool ended() const { return ended_; }
  std::uint64_t offset_of(const char* p) const { return base_ + static_cast<std::uint64_t>(p - begin_); }

  /// Brings `wanted` bytes behind `p`, which is moved along with the window. False when the input
  /// ends before; what there is can then be read. Throws ReadFailure.
  bool more(const char*& p, std::size_t wanted);

  /// Moves `p` over `count` bytes; false when the input ends before.
  bool skip(const char*& p, std::uint64_t count);

 private:
  Input& in_;
  std::uint64_t base_;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  bool ended_ = false;
  bool in_tail_ = false;
  char tail_[3 * kPadding] = {};
};

}  // namespace snapdiff::formats::pickle
