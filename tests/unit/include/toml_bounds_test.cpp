#include <catch2/catch.hpp>

#include <string>

#include "analyzer/base/toml_bounds.hpp"

using namespace snapdiff;

namespace {

std::string repeated(const std::string& part, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += part;
  return out;
}

std::string refusal(const std::string& text) {
  const Status status = check_toml_bounds(text, "x.toml");
  if (status) return {};
  CHECK(status.error().code == ErrorCode::limit);
  CHECK(status.error().subject == "x.toml");
  return status.error().message;
}

}  // namespace

TEST_CASE("toml bounds: what people write passes, whatever strings and comments hold") {
  CHECK(refusal("") == "");
  CHECK(refusal(
            "# [[[[[[\n[[hint]]\nid = \"a\"\nany = ['^[a-z]{2}[', \"x\\\"[[[\"]\nn = { a = { b = 1.5 }, c = [1] }\n") ==
        "");
  CHECK(refusal("a = \"\"\"" + repeated("[", 999) + "\n\\\"\"\"\"\nb = '''" + repeated("{", 999) + "'''\n") == "");
  CHECK(refusal("a = '" + repeated("[", 9999) + "'\n") == "");
  CHECK(refusal(repeated("[[accept]]\nid = \"x\"\n", 5000)) == "");
  CHECK(refusal("a = " + repeated("[", 64) + repeated("]", 64)) == "");
  CHECK(refusal("a = [\n" + repeated("[1, 2],\n", 5000) + "]\n") == "");
  CHECK(refusal("a = 1 # " + repeated("long ", 1000)) == "");
}

TEST_CASE("toml bounds: depth, keys and sizes beyond them are refused before they are parsed") {
  const std::string depth = "line 1: nested too deep: expected at most 64 levels";
  for (const std::string part : {"[", "{b=", "[{c=", "[\n"})
    CHECK(refusal("a=" + repeated(part, 10'000)).find("nested too deep") != std::string::npos);
  CHECK(refusal("a=" + repeated("[", 65)) == depth);
  CHECK(refusal(repeated("[", 10'000)) == depth);
  CHECK(refusal(repeated("a.", 65) + "a=1") == depth);
  CHECK(refusal("[" + repeated("a.", 65) + "a]") == depth);
  CHECK(refusal("x = {" + repeated("a.", 65) + "a=1}") == depth);
  // A quote that no line ends hides nothing behind it.
  CHECK(refusal("x = \"\ny = " + repeated("[", 65)) == "line 2: nested too deep: expected at most 64 levels");
  const std::string key = "line 1: key too long: expected at most 1024 bytes";
  CHECK(refusal(repeated("k", 2000) + "=1") == key);
  CHECK(refusal("'" + repeated("k", 2000) + "' =1") == key);
  CHECK(refusal("{" + repeated("k", 2000)) == key);
  CHECK(refusal(repeated("x", 1 << 20)) != "");
  CHECK(refusal(repeated("#\n", (1 << 19) + 1)) == "too large: found 1048578 bytes, expected at most 1048576");
}
