#include "formats/input/sha256.hpp"

#include <nettle/sha2.h>

#include <array>

#include "analyzer/base/printable.hpp"

namespace snapdiff::formats {

struct Sha256::Context {
  sha256_ctx state;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) { sha256_init(&context_->state); }
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  sha256_update(&context_->state, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

std::string Sha256::finish_hex() {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&context_->state, digest.size(), digest.data());
  std::string out;
  for (const std::uint8_t byte : digest) append_hex(out, static_cast<char>(byte));
  return out;
}

}  // namespace snapdiff::formats
