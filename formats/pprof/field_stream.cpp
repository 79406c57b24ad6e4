#include "formats/pprof/field_stream.hpp"

namespace snapdiff::formats::pprof {
namespace {

// Protobuf knows no longer messages; a longer length is damage, not data.
constexpr std::uint64_t kMaxLength = (std::uint64_t{1} << 31) - 1;
// A field has to be in memory whole. A stack of 1 000 000 frames takes 10 MB; a longer text is none that anybody reads.
constexpr std::uint64_t kMaxFieldBytes = std::uint64_t{64} << 20;

}  // namespace

void FieldStream::refill(std::size_t wanted) {
  in_->consume(static_cast<std::size_t>(at_ - begin_));
  const std::string_view view = value_or_throw(in_->peek(wanted));
  base_ = in_->offset();
  begin_ = at_ = view.data();
  end_ = begin_ + view.size();
}

void FieldStream::decode(Field& field) {
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
      fail_malformed("unknown wire type: " + std::to_string(field.wire) + " in field " + std::to_string(field.number) +
                         ", expected 0, 1, 2 or 5",
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

}  // namespace snapdiff::formats::pprof
