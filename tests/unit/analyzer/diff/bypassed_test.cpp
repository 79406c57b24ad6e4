#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

/// "stack bytes objects" of so many objects of one size.
std::string held(const std::string& stack, int number, int size) {
  return stack + " " + std::to_string(number * size) + " " + std::to_string(number) + "\n";
}

/// What the row holds whose stacks hold so much now; -1 without such a row.
std::int64_t before_of(const GrowthReport& r, std::int64_t now) {
  for (const GrowthRow& row : r.rows) {
    if (row.value.current == now) return row.value.baseline;
  }
  return -1;
}

double merged_share(const GrowthReport& r) { return r.matched[static_cast<std::size_t>(MatchTier::merged)]; }

/// A caller and what it calls twice: by a call that has a frame, and by a jump, in whose stacks the caller is missing.
std::string call_and_jump(int shift, int called, int jumped, int other_called, int other_jumped) {
  const std::string up = "main@m.cc:5;run@m.cc:22";
  const std::string call = up + ";handle@h.cc:" + std::to_string(93 + shift);
  return held(call + ";block@b.cc:22", called, 100) + held(up + ";block@b.cc:22", jumped, 100) +
         held(call + ";block@b.cc:30", other_called, 70) + held(up + ";block@b.cc:30", other_jumped, 70) +
         held("main@m.cc:5;run@m.cc:30;keep@h.cc:" + std::to_string(50 + shift) + moved_frames(shift), 10, 50);
}

/// V8 gives the line of the function, whatever it calls. `inlined`: of the two calls of `block` in `apply` one was put
/// into its place, and with it so many objects at each site.
std::string two_calls(int shift, int first, int second, int inlined_first, int inlined_second) {
  const std::string apply = "run@m.js:1;apply@a.js:" + std::to_string(6 + shift);
  std::string out = held(apply + ";block@b.js:9;merge@c.js:24", first, 100) +
                    held(apply + ";block@b.js:9;merge@c.js:24;put@d.js:3", second, 130) +
                    held(apply + ";load@a.js:" + std::to_string(60 + shift), 10, 50) +
                    held(apply + ";save@a.js:" + std::to_string(70 + shift), 12, 60);
  if (inlined_first > 0) out += held(apply + ";merge@c.js:24", inlined_first, 100);
  if (inlined_second > 0) out += held(apply + ";merge@c.js:24;put@d.js:3", inlined_second, 130);
  return out;
}

/// Four ways from `apply` to where objects are made; some of them go through middleware.
std::string through(const std::array<int, 4>& direct, const std::array<int, 4>& through_middleware) {
  std::string out = held("run@m.js:1;keep@k.js:3", 10, 50);
  for (std::size_t i = 0; i < direct.size(); ++i) {
    const std::string site = ";block@b.js:9;site" + std::to_string(i) + "@c.js:" + std::to_string(10 * i);
    out += held("run@m.js:1;apply@a.js:6" + site, direct[i], 100);
    if (through_middleware[i] > 0)
      out += held("run@m.js:1;apply@a.js:6;trace@t.js:4;inner@a.js:9" + site, through_middleware[i], 100);
  }
  return out;
}

}  // namespace

TEST_CASE("another build: two calls changed places, of which one is a jump that leaves out its caller's frame") {
  const GrowthReport r = must_diff(call_and_jump(0, 56, 82, 30, 70), call_and_jump(3, 86, 60, 66, 31));
  CHECK(before_of(r, (86 + 60) * 100) == (56 + 82) * 100);
  CHECK(before_of(r, (66 + 31) * 70) == (30 + 70) * 70);
  CHECK(before_of(r, 500) == 500);
  CHECK(merged_share(r) > 0.9);
}

TEST_CASE("another build: a call and a jump that hold what they held stay two rows") {
  const GrowthReport r = must_diff(call_and_jump(0, 56, 82, 30, 70), call_and_jump(3, 60, 86, 31, 66));
  CHECK(r.rows.size() == 5);
  CHECK(merged_share(r) == 0);
  // Both grew: nothing went from one to the other.
  CHECK(merged_share(must_diff(call_and_jump(0, 56, 82, 30, 70), call_and_jump(3, 90, 160, 60, 150))) == 0);
}

TEST_CASE("another build: one of two calls was inlined, and no line tells which of the stacks are its") {
  const GrowthReport r = must_diff(two_calls(0, 72, 90, 0, 0), two_calls(2, 9, 35, 62, 60));
  CHECK(before_of(r, (9 + 62) * 100) == 72 * 100);
  CHECK(before_of(r, (35 + 60) * 130) == 90 * 130);
}

TEST_CASE("another build: a new call is none of a row that lost nothing") {
  const GrowthReport r = must_diff(two_calls(0, 72, 90, 0, 0), two_calls(2, 70, 95, 62, 60));
  CHECK(before_of(r, 62 * 100) == 0);
  CHECK(before_of(r, 60 * 130) == 0);
  CHECK(before_of(r, 70 * 100) == 72 * 100);
}

TEST_CASE("new stacks through new functions are no other build where the old ones lost nothing") {
  const GrowthReport r =
      must_diff(through({100, 60, 80, 40}, {0, 0, 0, 0}), through({96, 63, 84, 41}, {55, 44, 52, 21}));
  CHECK(r.rows.size() == 9);
  CHECK(before_of(r, 55 * 100) == 0);
  CHECK(before_of(r, 96 * 100) == 100 * 100);
}
