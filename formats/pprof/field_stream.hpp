#pragma once

#include "formats/pprof/wire.hpp"

namespace snapdiff::formats::pprof {

// Protobuf knows no longer messages; a longer length is damage, not data.
constexpr std::uint64_t kMaxLength = (std::uint64_t{1} << 31) - 1;

// A field has to be in memory whole. A stack of 1 000 000 frames takes 10 MB; a longer text is none that anybody reads.
constexpr std::uint64_t kMaxFieldBytes = std::uint64_t{64} << 20;

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

  void refill(std::size_t wanted) {
    in_->consume(static_cast<std::size_t>(at_ - begin_));
    const std::string_view view = value_or_throw(in_->peek(wanted));
    base_ = in_->offset();
    begin_ = at_ = view.data();
    end_ = begin_ + view.size();
  }

  void decode(Field& field) {
    const char* p = at_;
    field.offset = offset_of(at_);
    std::uint64_t tag = 0;
    std::uint64_t length = 0;
    try {
      tag = protozero::decode_varint(&p, end_);
      field.wire = static_cast<std::uint32_t>(tag & 7);
      if (field.wire == 0) field.value = protozero::decode_varint(&p, end_);
      if (field.wire == 2) length = protozero::decode_varint(&p, end_);
    } catch (const protozero::exception& error) {
      fail_malformed(std::string("bad varint: ") + error.what() + ", expected a profile field", offset_of(p));
    }
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
      fail_malformed("bad field number: " + std::to_string(tag >> 3) + ", expected 1 to 536870911", field.offset);
    field.number = static_cast<std::uint32_t>(tag >> 3);
    switch (field.wire) {
      case 0: break;
      case 1: length = 8; break;
      case 2: break;
      case 5: length = 4; break;
      default:
        fail_malformed("unknown wire type: " + std::to_string(field.wire) + " in field " +
                           std::to_string(field.number) + ", expected 0, 1, 2 or 5",
                       field.offset);
    }
    if (length > static_cast<std::uint64_t>(end_ - p)) {
      const auto header = static_cast<std::size_t>(p - at_);
      if (length > kMaxFieldBytes && length <= kMaxLength)
        fail(ErrorCode::limit,
             "field too long: field " + std::to_string(field.number) + " is " + std::to_string(length) +
                 " bytes long, expected at most " + std::to_string(kMaxFieldBytes),
             field.offset);
      if (in_ != nullptr && length <= kMaxLength) {
        refill(header + static_cast<std::size_t>(length));
        p = at_ + header;
      }
      if (length > static_cast<std::uint64_t>(end_ - p))
        fail_malformed("profile ends early: field " + std::to_string(field.number) + " is " + std::to_string(length) +
                           " bytes long, " + std::to_string(end_ - p) + " are left",
                       field.offset);
    }
    field.payload = std::string_view(p, static_cast<std::size_t>(length));
    field.payload_offset = offset_of(p);
    at_ = p + length;
  }

  std::uint64_t offset_of(const char* p) const { return base_ + static_cast<std::uint64_t>(p - begin_); }

  Input* in_ = nullptr;
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t base_ = 0;  // offset of *begin_
};

}  // namespace snapdiff::formats::pprof
