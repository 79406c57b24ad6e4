#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <string>

#include "analyzer/document/terms.hpp"

using namespace snapdiff;

namespace {

std::string readme() {
  std::ifstream file(SNAPDIFF_README);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("terms: the README's table of verdicts has the words and meanings of the program") {
  const std::string text = readme();
  for (const document::Term& term : document::verdict_terms()) {
    INFO(term.word);
    CHECK(text.find("| " + std::string(term.word) + " | " + std::string(term.meaning) + " |") != std::string::npos);
  }
}

TEST_CASE("terms: each verdict has one gravity and one meaning") {
  std::set<std::string> explained;
  for (const document::Term& term : document::verdict_terms()) {
    std::istringstream words{std::string(term.word)};
    for (std::string word; std::getline(words >> std::ws, word, ',');) CHECK(explained.insert(word).second);
  }
  CHECK(explained.erase("minor") == 1);
  const auto by_gravity = document::verdicts_by_gravity();
  CHECK(std::set<std::string>(by_gravity.begin(), by_gravity.end()) == explained);
  for (std::size_t i = 1; i < by_gravity.size(); ++i)
    CHECK(document::gravity(by_gravity[i - 1]) > document::gravity(by_gravity[i]));
  CHECK(document::gravity("FLAT") > document::gravity(""));
  CHECK(document::gravity("") == document::gravity("minor"));
}

TEST_CASE("terms: growth below two standard deviations is within error, exact and unknown errors never are") {
  CHECK(document::within_error(199, 100));
  CHECK(document::within_error(-199, 100));
  CHECK_FALSE(document::within_error(200, 100));
  CHECK_FALSE(document::within_error(0, 0));
  CHECK_FALSE(document::within_error(1, std::numeric_limits<double>::quiet_NaN()));
  CHECK(document::within_error(1, std::numeric_limits<double>::infinity()));
}

TEST_CASE("terms: the help of verdicts fits 80 columns and names each") {
  std::istringstream help(document::verdict_help());
  for (std::string line; std::getline(help, line);) CHECK(line.size() <= 80);
  for (const document::Term& term : document::verdict_terms())
    CHECK(help.str().find("\n  " + std::string(term.word) + " ") != std::string::npos);
}
