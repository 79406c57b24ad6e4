#include "formats/input/window_input.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace snapdiff;
using namespace snapdiff::formats;

namespace {

/// Gives its bytes a few at a time, then ends or fails.
class SlowSource final : public ByteSource {
 public:
  SlowSource(std::string bytes, std::size_t step, bool fails) : bytes_(std::move(bytes)), step_(step), fails_(fails) {}
  Result<std::size_t> read(char* out, std::size_t capacity) override {
    if (at_ == bytes_.size() && fails_) return Error{ErrorCode::io, "disk failed"};
    const std::size_t count = bytes_.copy(out, std::min(step_, capacity), at_);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t step_;
  bool fails_;
  std::size_t at_ = 0;
};

std::string counted(std::size_t size) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<char>('a' + i % 23));
  return out;
}

WindowInput window(const std::string& bytes, std::size_t step, std::size_t window_bytes, bool fails = false) {
  return WindowInput(std::make_unique<SlowSource>(bytes, step, fails), window_bytes, 0, "name", "");
}

}  // namespace

TEST_CASE("window: every way of reading gives the same bytes") {
  const std::string bytes = counted(1000);
  for (const std::size_t step : {1U, 7U, 64U, 5000U}) {
    for (const std::size_t window_bytes : {1U, 16U, 333U, 4096U}) {
      for (const std::size_t wanted : {1U, 5U, 17U, 400U}) {
        WindowInput in = window(bytes, step, window_bytes);
        std::string got;
        for (;;) {
          Result<std::string_view> view = in.peek(wanted);
          REQUIRE(view);
          if (view->empty()) break;
          REQUIRE((view->size() >= wanted || got.size() + view->size() == bytes.size()));
          const std::size_t take = std::min<std::size_t>(wanted, view->size());
          got.append(view->substr(0, take));
          in.consume(take);
          REQUIRE(in.offset() == got.size());
        }
        REQUIRE(got == bytes);
      }
    }
  }
}

TEST_CASE("window: a peek longer than the input gives what there is, and forgets nothing") {
  const std::string bytes = counted(100);
  WindowInput in = window(bytes, 9, 16);
  CHECK(*in.peek(1'000'000) == bytes);
  in.consume(90);
  CHECK(*in.peek(20) == bytes.substr(90));
  in.consume(10);
  CHECK(in.peek(1)->empty());
  CHECK(in.peek(1)->empty());
}

TEST_CASE("window: an error of the source stays") {
  WindowInput in = window(counted(20), 20, 16, true);
  CHECK(in.peek(20)->size() == 20);
  CHECK_FALSE(in.failed());
  Result<std::string_view> more = in.peek(21);
  REQUIRE_FALSE(more);
  CHECK(more.error().message == "disk failed");
  CHECK_FALSE(in.peek(1));
  CHECK(in.failed());
}

TEST_CASE("window: a record of more than 1 GiB is a limit error at once") {
  WindowInput in = window(counted(20), 20, 16);
  Result<std::string_view> view = in.peek((std::size_t{1} << 30) + 1);
  REQUIRE_FALSE(view);
  CHECK(view.error().code == ErrorCode::limit);
}

TEST_CASE("memory: what is forgotten goes, what comes after it stays") {
  constexpr std::size_t kBytes = std::size_t{9} << 20;
  constexpr std::size_t kForgotten = std::size_t{7} << 20;
  std::vector<char> bytes(kBytes, 'x');
  MemoryInput in(bytes, "name", "gzip");
  const std::string_view view = *in.peek(kBytes);
  REQUIRE(view.size() == kBytes);
  forget(in, kForgotten);
  CHECK(view.find_first_not_of('x', kForgotten) == std::string_view::npos);
  CHECK(view.find('\0') < kForgotten);  // whole large pages before it are the system's again
  WindowInput other = window(counted(20), 20, 16);
  const std::string_view first = *other.peek(20);
  forget(other, 20);
  CHECK(first == counted(20));
}
