#include "formats/input/read_failure.hpp"

#include <catch2/catch.hpp>

using namespace snapdiff;
using namespace snapdiff::formats;

TEST_CASE("read failure: the guard gives the error with its code and offset") {
  const Status read = run_reader([] { fail(ErrorCode::limit, "too deep", 17); });
  REQUIRE_FALSE(read);
  CHECK(read.error().text() == "limit at byte 17: too deep");
  const Status sum = run_reader([] { fail(ErrorCode::limit, "sum too large"); });
  REQUIRE_FALSE(sum);
  CHECK(sum.error().text() == "limit: sum too large");
  const Result<int> number = run_reader([]() -> Result<int> { return value_or_throw(Result<int>(Error{})); });
  REQUIRE_FALSE(number);
  CHECK(number.error().code == ErrorCode::internal);
}

TEST_CASE("read failure: what the reader returns is passed on") {
  CHECK(run_reader([] {}));
  CHECK(*run_reader([]() -> Result<int> { return value_or_throw(Result<int>(3)); }) == 3);
  const Status status = run_reader([]() -> Status { return Error{ErrorCode::io, "gone"}; });
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "gone");
}

TEST_CASE("read failure: exhausted memory names what does not fit, or is left to the caller") {
  const auto no_memory = [] { throw std::bad_alloc(); };
  const auto too_long = [] { throw std::length_error("vector"); };
  const Status bytes = run_reader(no_memory, "traces");
  REQUIRE_FALSE(bytes);
  CHECK(bytes.error().text() == "limit: out of memory: more traces than fit");
  CHECK_FALSE(run_reader(too_long, "traces"));
  CHECK_THROWS_AS(run_reader(no_memory), std::bad_alloc);
  CHECK_THROWS_AS(run_reader(too_long), std::length_error);
}
