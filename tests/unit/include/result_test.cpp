#include "snapdiff/result.hpp"

#include <catch2/catch.hpp>

#include "snapdiff/checked.hpp"
#include "snapdiff/snapshot.hpp"

using namespace snapdiff;

TEST_CASE("result: an error reads file, kind, byte, message") {
  const Error error{ErrorCode::malformed, "sample has 3 values, 2 sample types declared", 4182};
  CHECK(error.text() == "malformed at byte 4182: sample has 3 values, 2 sample types declared");
  CHECK(Error(error).about("heap.pb.gz").text() ==
        "heap.pb.gz: malformed at byte 4182: sample has 3 values, 2 sample types declared");
  CHECK(Error(error).about("first.heap").about("second.heap").subject == "first.heap");
  CHECK(Error{ErrorCode::io, "disk full"}.text() == "input/output: disk full");
}

TEST_CASE("result: additions that do not fit leave the sum alone") {
  constexpr std::int64_t kMax = INT64_MAX;
  std::int64_t out = 7;
  CHECK_FALSE(checked_add(kMax, 1, out));
  CHECK(out == 7);
  CHECK(checked_add(kMax, -1, out));
  CHECK(out == kMax - 1);
  CHECK_FALSE(checked_sub(INT64_MIN, 1, out));
  CHECK(checked_sub(0, kMax, out));
  CHECK(out == -kMax);
}

TEST_CASE("snapshot: base names end at slash or backslash") {
  CHECK(base_name("/usr/lib/libc.so.6") == "libc.so.6");
  CHECK(base_name("C:\\app\\main.exe") == "main.exe");
  CHECK(base_name("main") == "main");
  CHECK(base_name("dir/").empty());
}
