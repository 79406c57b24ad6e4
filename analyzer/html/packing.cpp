#include "analyzer/html/packing.hpp"

#include <libdeflate.h>

#include <memory>
#include <new>

namespace snapdiff::html {

std::string deflated(std::string_view bytes) {
  constexpr int kLevel = 9;
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kLevel), &libdeflate_free_compressor);
  if (compressor == nullptr) throw std::bad_alloc();
  std::string out(libdeflate_deflate_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_deflate_compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(base64_size(bytes.size()));
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) : 0U;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kDigits[three >> 18];
    out += kDigits[three >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[three >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & 63] : '=';
  }
  return out;
}

}  // namespace snapdiff::html
