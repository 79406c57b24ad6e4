#include "formats/input/gzip_whole.hpp"

#include <libdeflate.h>

#include <cstring>

#include "analyzer/base/large_pages.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::uint64_t kDeflateMaxRatio = 1032;
constexpr std::size_t kMemberMinBytes = 18;  // header 10, trailer 8

/// The size that the last member claims: modulo 2^32, and written by whoever made the file. A
/// hint that is never trusted beyond what deflate can do.
std::uint64_t first_guess(std::string_view compressed) {
  std::uint32_t claimed = 0;
  std::memcpy(&claimed, compressed.data() + compressed.size() - sizeof claimed, sizeof claimed);
  return std::clamp<std::uint64_t>(claimed, compressed.size(), compressed.size() * kDeflateMaxRatio);
}

}  // namespace

std::optional<WholeBytes> gunzip_whole(std::string_view compressed, std::uint64_t limit) {
  if (compressed.size() < kMemberMinBytes) return std::nullopt;
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  if (inflater == nullptr) return std::nullopt;

  WholeBytes out;
  std::size_t capacity = static_cast<std::size_t>(std::min(limit, first_guess(compressed)));
  out.data.reset(new (std::nothrow) char[capacity + 1]);
  if (out.data == nullptr) return std::nullopt;
  prefer_large_pages(out.data.get(), capacity);
  while (!compressed.empty()) {
    std::size_t taken = 0;
    std::size_t made = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(inflater.get(), compressed.data(), compressed.size(), out.data.get() + out.size,
                                      capacity - out.size, &taken, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE && capacity < limit) {
      const std::uint64_t grown = std::min<std::uint64_t>(limit, std::uint64_t{capacity} * 4 + 65536);
      std::unique_ptr<char[]> larger(new (std::nothrow) char[static_cast<std::size_t>(grown) + 1]);
      if (larger == nullptr) return std::nullopt;
      prefer_large_pages(larger.get(), static_cast<std::size_t>(grown));
      std::memcpy(larger.get(), out.data.get(), out.size);
      out.data = std::move(larger);
      capacity = static_cast<std::size_t>(grown);
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS) return std::nullopt;
    out.size += made;
    compressed.remove_prefix(taken);
  }
  return out;
}

}  // namespace snapdiff::formats
