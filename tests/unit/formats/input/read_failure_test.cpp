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

TEST_CASE("read failure: exhausted memory is a limit") {
  const Status bytes = run_reader([] { throw std::bad_alloc(); });
  REQUIRE_FALSE(bytes);
  CHECK(bytes.error().text() == "limit: not enough memory to read this input");
  const Status length = run_reader([] { throw std::length_error("vector"); });
  REQUIRE_FALSE(length);
  CHECK(length.error().text() == "limit: not enough memory to read this input");
}
