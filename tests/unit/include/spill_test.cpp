#include "analyzer/base/spill.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace snapdiff::spill {
namespace {

TEST_CASE("large blocks beyond the limit are part of a file, empty at first, until they are given back") {
  set_folder(std::filesystem::temp_directory_path().string());
  set_limit(3 * kLarge);
  void* const in_memory = take(2 * kLarge);
  char* const in_file = static_cast<char*>(take(2 * kLarge));
  CHECK(most_used().file_bytes == 2 * kLarge);
  CHECK(most_used().limit == 3 * kLarge);
  CHECK(std::all_of(in_file, in_file + 2 * kLarge, [](char c) { return c == 0; }));
  std::fill(in_file, in_file + 2 * kLarge, 'x');

  REQUIRE_FALSE(give_back(in_memory));
  std::free(in_memory);
  void* const again = take(2 * kLarge);  // there is room again
  CHECK(most_used().file_bytes == 2 * kLarge);
  CHECK(std::count(in_file, in_file + 2 * kLarge, 'x') == 2 * kLarge);
  CHECK(give_back(in_file));
  REQUIRE_FALSE(give_back(again));
  std::free(again);

  auto* const next = static_cast<char*>(take(4 * kLarge));
  CHECK(next[0] == 0);
  CHECK(give_back(next));
  CHECK(most_used().file_bytes == 4 * kLarge);
}

TEST_CASE("some of the memory of this machine is free, and less than all of its addresses") {
  CHECK(most_of_free() > 0);
  CHECK(most_of_free() < std::size_t{1} << 50);
}

}  // namespace
}  // namespace snapdiff::spill
