#pragma once

#include "formats/input/read_failure.hpp"

/// The only place that includes protozero: its checks must throw, in every build, or a field of
/// the wrong wire type aborts a debug build and reads nonsense in a release build.
namespace snapdiff::formats::pprof {

[[noreturn]] void wire_check_failed(const char* check);

}  // namespace snapdiff::formats::pprof

#ifdef PROTOZERO_CONFIG_HPP
#error "protozero was included before formats/pprof/wire.hpp"
#endif
#define protozero_assert(x) \
  (static_cast<bool>(x) ? static_cast<void>(0) : ::snapdiff::formats::pprof::wire_check_failed(#x))
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

namespace snapdiff::formats::pprof {

struct WireCheckFailed : protozero::exception {
  const char* what() const noexcept override { return "field with an unexpected wire type"; }
};
[[noreturn]] inline void wire_check_failed(const char* /*check*/) { throw WireCheckFailed{}; }

constexpr std::uint32_t varint_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t bytes_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}

/// Runs `read(reader)` over one message; `what` names it in errors, `offset` is where its first
/// byte lies in the input.
template <class Read>
void read_message(std::string_view message, std::uint64_t offset, const char* what, Read read) {
  protozero::pbf_reader reader(message.data(), message.size());
  try {
    read(reader);
  } catch (const protozero::exception& error) {
    const auto at = static_cast<std::uint64_t>(reader.data().data() - message.data());
    fail_malformed(std::string(what) + " cannot be decoded: " + error.what() + ", expected a protobuf field",
                   offset + at);
  }
}

/// For the `default` of a switch over tags: skips unknown fields, refuses known ones (numbers up
/// to `known`) that have a wire type other than theirs.
inline void skip_unknown(protozero::pbf_reader& reader, std::uint32_t known) {
  if (reader.tag() <= known) throw WireCheckFailed{};
  reader.skip();
}

/// Takes the field that `in` stands at, where its number is 1, 2, … up to as many as there are `numbers`. Throws for
/// one that is no number.
template <class... Number>
bool take_number(protozero::pbf_reader& in, Number&... numbers) {
  std::uint32_t tag = 0;
  return ((in.tag() == ++tag && (numbers = static_cast<Number>(in.get_uint64()), true)) || ...);
}

/// Reads a message whose first fields are numbers; others are skipped.
template <class... Number>
void read_numbers_of(protozero::pbf_reader& in, Number&... numbers) {
  while (in.next()) {
    if (!take_number(in, numbers...)) in.skip();
  }
}

/// As protozero::decode_varint; up to four bytes without a branch that depends on how many they are: ids of
/// locations change between one, two and three at random. Requires p < end.
inline std::uint64_t next_varint(const char*& p, const char* end) {
  if (end - p >= 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, p, sizeof(word));
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
    const std::uint32_t last = ~word & 0x80808080U;  // the first byte of these is the last one of the number
    if (last != 0) {
      const int bits = std::countr_zero(last) + 1;
      const std::uint64_t all = word & ((std::uint64_t{1} << bits) - 1);
      p += bits / 8;
      return (all & 0x7f) | ((all >> 1) & 0x3f80) | ((all >> 2) & 0x1fc000) | ((all >> 3) & 0xfe00000);
    }
  }
  return protozero::decode_varint(&p, end);
}

}  // namespace snapdiff::formats::pprof
