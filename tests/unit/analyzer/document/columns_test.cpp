#include <catch2/catch.hpp>
#include <set>
#include <string_view>

#include "analyzer/document/growth_columns.hpp"
#include "analyzer/document/top_columns.hpp"

using namespace snapdiff::document;

namespace {

template <class Line>
void check_fields(std::span<const Field<Line>> fields) {
  std::set<std::string_view> keys;
  for (const Field<Line>& field : fields) {
    INFO(field.column->key);
    CHECK(keys.insert(field.column->key).second);
    CHECK_FALSE(field.column->key.empty());
    CHECK_FALSE(field.column->type.empty());
  }
}

template <class Line>
void check_places(std::span<const Place<Line>> places) {
  for (const Place<Line>& place : places) {
    // A column without a title is one of words alone, as "[NEW]".
    if (place.title.empty() && place.column->title.empty()) CHECK(place.if_filled);
  }
}

}  // namespace

TEST_CASE("columns of machine forms have a key and a type, each key once") {
  check_fields(growth_fields(false));
  check_fields(growth_fields(true));
  check_fields(top_fields());
}

TEST_CASE("columns for people have a title") {
  check_places(growth_screen(false));
  check_places(growth_screen(true));
  check_places(growth_markdown(false));
  check_places(growth_markdown(true));
  check_places(growth_page());
  check_places(growth_print());
  check_places(top_screen());
  check_places(top_markdown());
}
