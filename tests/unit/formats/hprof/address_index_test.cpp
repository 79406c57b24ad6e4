#include "formats/hprof/address_index.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

using snapdiff::formats::hprof::AddressIndex;

namespace {

void check(const std::vector<std::uint64_t>& addresses) {
  const AddressIndex index(addresses);
  std::map<std::uint64_t, std::uint32_t> truth;
  for (std::uint32_t row = 0; row < addresses.size(); ++row) truth.emplace(addresses[row], row);
  bool same = index.order().size() == addresses.size();
  for (const auto& [address, row] : truth) {
    same = same && index.find(address) == row;
    for (const std::uint64_t near : {address - 1, address + 1, address + 8}) {
      const auto found = truth.find(near);
      same = same && index.find(near) == (found == truth.end() ? AddressIndex::kAbsent : found->second);
    }
  }
  CHECK(same);
}

}  // namespace

TEST_CASE("address index: finds what a map finds, however the addresses lie") {
  check({});
  check({7});
  check({0, ~std::uint64_t{0}});
  check({5, 5, 5});
  std::mt19937_64 random(7);
  for (const std::size_t count : {10U, 1000U, 5000U}) {
    std::vector<std::uint64_t> even;
    std::vector<std::uint64_t> wild;
    std::vector<std::uint64_t> clusters;
    for (std::size_t i = 0; i < count; ++i) {
      even.push_back(0x700000000 + 8 * i);
      wild.push_back(random());
      clusters.push_back((random() % 3 << 40) + random() % count * 8);
    }
    check(even);
    std::reverse(even.begin(), even.end());
    check(even);
    check(wild);
    check(clusters);
    even.push_back(~std::uint64_t{0});  // one far away: all others share a stretch
    check(even);
  }
}
