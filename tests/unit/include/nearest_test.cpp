#include "analyzer/base/nearest.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace snapdiff;

TEST_CASE("nearest: edits are counted, a swap of neighbours is one") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("focus", "focus") == 0);
  CHECK(edit_distance("focsu", "focus") == 1);
  CHECK(edit_distance("rendr", "render") == 1);
  CHECK(edit_distance("trned", "trend") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("nearest: a word that is near is suggested, a far one is not") {
  const std::vector<std::string> names = {"--focus", "--format", "--frames", "--allocator-frames"};
  CHECK(nearest_word("--focsu", names) == "--focus");
  CHECK(nearest_word("--fromat", names) == "--format");
  CHECK(nearest_word("--allocator", names) == "--allocator-frames");
  CHECK(nearest_word("--nothing-like-it", names).empty());
  CHECK(nearest_word("", names).empty());
  CHECK(nearest_word(std::string(65, 'f'), names).empty());
  CHECK(nearest_word("ab", std::vector<std::string>{"abcdef"}).empty());
  CHECK(did_you_mean("--frame", names) == "; did you mean --frames?");
  CHECK(did_you_mean("--frames", names).empty());
  CHECK(did_you_mean("zzz", names).empty());
}
