#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/torch_cuda/schema.hpp"

/// What a value of a record is, for Records and its messages.
namespace snapdiff::formats::torch_cuda {

inline constexpr std::uint32_t kMostDevices = 65536;

inline Word word_of(std::uint32_t key) {
  return key < static_cast<std::uint32_t>(Word::count) ? static_cast<Word>(key) : Word::count;
}

/// A container that close() was called for, in its own place.
inline bool is_record(const Value& value) {
  return value.is_container() && value.kind == Kind::lost && value.role != kNowhere;
}

/// `text` for a message: at most 40 bytes of it, control characters as ?.
std::string cleaned(std::string_view text);

/// "a dict"
std::string_view kind_name(Kind kind);

}  // namespace snapdiff::formats::torch_cuda
