#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace snapdiff::formats {

/// SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  /// Lower-case hex of everything so far; the object starts again afterwards.
  std::string finish_hex();

 private:
  struct Context;  // keeps the library's header out of this one
  std::unique_ptr<Context> context_;
};

}  // namespace snapdiff::formats
