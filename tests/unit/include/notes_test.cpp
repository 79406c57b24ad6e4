#include "snapdiff/notes.hpp"

#include <catch2/catch.hpp>

using namespace snapdiff;

TEST_CASE("notes: equal remarks are counted, the first offset stays") {
  Notes notes;
  notes.add(Severity::warning, "row cut", 10);
  notes.add(Severity::info, "row cut", 11);
  notes.add(Severity::warning, "row cut", 12, 3);
  REQUIRE(notes.all().size() == 2);
  CHECK(notes.all()[0] == Note{Severity::warning, "row cut", 4, 10});
  CHECK(notes.all()[1] == Note{Severity::info, "row cut", 1, 11});
}

TEST_CASE("notes: two lists join in order of first appearance") {
  Notes first;
  first.add(Severity::info, "a", 1);
  Notes second;
  second.add(Severity::info, "b");
  second.add(Severity::info, "a", 9, 2);
  first.add_all(second);
  REQUIRE(first.all().size() == 2);
  CHECK(first.all()[0] == Note{Severity::info, "a", 3, 1});
  CHECK(first.all()[1].text == "b");
  CHECK_FALSE(first.empty());
  CHECK(Notes{}.empty());
}
