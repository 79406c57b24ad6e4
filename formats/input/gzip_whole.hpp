#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace snapdiff::formats {

struct WholeBytes {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;
  std::span<char> all() { return {data.get(), size}; }
};

/// Inflates all members of `compressed` at once, 1.6 times as fast as a stream. Nothing, when
/// anything is unusual (damage, bytes after the last member, more than `limit` bytes out): the
/// stream decoder then says what, and where.
std::optional<WholeBytes> gunzip_whole(std::string_view compressed, std::uint64_t limit);

}  // namespace snapdiff::formats
