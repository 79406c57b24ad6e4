#include "snapdiff/keyed_hash.hpp"

#include <random>

namespace snapdiff::keyed {

Seed draw() {
  std::random_device device;
  const auto word = [&device] { return std::uint64_t{device()} << 32 | device(); };
  return {word(), word() | 1U};
}

}  // namespace snapdiff::keyed
