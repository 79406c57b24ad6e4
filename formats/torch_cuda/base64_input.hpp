#pragma once

#include <string>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::torch_cuda {

/// The bytes of a base64 text (RFC 4648) that ends with a quote, decoded as they are asked for.
/// The page's input must be after the opening quote; it is left after the closing one once
/// everything was read.
class Base64Input final : public Input {
 public:
  explicit Base64Input(Input& page) : page_(page) {}
  Result<std::string_view> peek(std::size_t wanted) override;
  void consume(std::size_t n) override {
    begin_ += n;
    offset_ += n;
  }
  std::uint64_t offset() const override { return offset_; }
  const std::string& name() const override { return page_.name(); }
  std::string_view compression() const override { return "base64"; }

 private:
  Status decode_some();

  Input& page_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::uint64_t offset_ = 0;
  std::uint32_t bits_ = 0;
  unsigned bit_count_ = 0;
  bool ended_ = false;
};

}  // namespace snapdiff::formats::torch_cuda
