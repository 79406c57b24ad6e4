#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "formats/text/text_error.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::formats::valgrind {

/// How deep decoding fails inside this room; guarded() turns it into an Error.
struct ReadError {
  Error error;
};

[[noreturn]] inline void fail(ErrorCode code, std::uint64_t offset, std::string message) {
  throw ReadError{Error{code, std::move(message), offset}};
}
[[noreturn]] inline void fail_malformed(std::uint64_t offset, std::string message) {
  fail(ErrorCode::malformed, offset, std::move(message));
}

/// Calls `body()`, which returns a Status or throws ReadError.
template <class Body>
Status guarded(Body body) {
  try {
    return body();
  } catch (ReadError& failure) {
    return std::move(failure.error);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, "out of memory: more stacks than fit"};
  } catch (const std::length_error&) {
    return Error{ErrorCode::limit, "out of memory: more stacks than fit"};
  }
}

using text::in_quotes;

}  // namespace snapdiff::formats::valgrind
