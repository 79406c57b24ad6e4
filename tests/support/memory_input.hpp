#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/base/importer.hpp"

namespace snapdiff::test {

/// Bytes in memory as an Input. With `window` 0 every view reaches to the end; else each peek()
/// hands out a fresh copy of exactly max(wanted, window) bytes and frees the one before, so that a
/// reader which keeps a stale view, or reads past one, is caught by AddressSanitizer.
class MemoryInput : public Input {
 public:
  explicit MemoryInput(std::string_view bytes, std::size_t window = 0, std::string name = "test")
      : bytes_(bytes), window_(window), name_(std::move(name)) {}

  Result<std::string_view> peek(std::size_t wanted) override {
    const std::string_view left = bytes_.substr(at_);
    if (window_ == 0) return left;
    const std::size_t size = std::min(left.size(), std::max(wanted, window_));
    copy_ = std::make_unique<char[]>(size);
    std::memcpy(copy_.get(), left.data(), size);
    return std::string_view(copy_.get(), size);
  }
  void consume(std::size_t n) override { at_ += std::min(n, bytes_.size() - at_); }
  std::uint64_t offset() const override { return at_; }
  const std::string& name() const override { return name_; }
  std::string_view compression() const override { return {}; }

 private:
  std::string_view bytes_;
  std::size_t window_;
  std::size_t at_ = 0;
  std::string name_;
  std::unique_ptr<char[]> copy_;
};

}  // namespace snapdiff::test
