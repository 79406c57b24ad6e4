#pragma once

#include "formats/pprof/wire.hpp"

namespace snapdiff::formats::pprof {

/// One top-level field. `payload` is set for wire type 2, `value` for 0; others hold neither.
struct Field {
  std::uint32_t number = 0;
  std::uint32_t wire = 0;
  std::uint64_t value = 0;
  std::string_view payload;
  std::uint64_t offset = 0;          ///< of the field's tag in the decompressed input
  std::uint64_t payload_offset = 0;  ///< of the payload's first byte
};

/// Walks the top-level fields of a message that lies in one view, or comes through an Input.
class FieldStream {
 public:
  explicit FieldStream(std::string_view whole) : begin_(whole.data()), at_(begin_), end_(begin_ + whole.size()) {}
  explicit FieldStream(Input& in) : in_(&in), base_(in.offset()) {}

  /// False at the end. The payload is valid until the next call.
  /// Throws Failure.
  bool next(Field& field) {
    if (static_cast<std::size_t>(end_ - at_) < kHeaderBytes && in_ != nullptr) refill(kHeaderBytes);
    if (at_ == end_) return false;
    decode(field);
    return true;
  }

 private:
  static constexpr std::size_t kHeaderBytes = 20;  // two varints of 10 bytes

  void refill(std::size_t wanted);
  void decode(Field& field);
  std::uint64_t offset_of(const char* p) const { return base_ + static_cast<std::uint64_t>(p - begin_); }

  Input* in_ = nullptr;
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t base_ = 0;  // offset of *begin_
};

}  // namespace snapdiff::formats::pprof
