#pragma once

#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "snapdiff/result.hpp"

namespace snapdiff::store {

/// What travels inside this module; guarded() turns it into a Result in store.hpp.
struct Failure {
  Error error;
};

[[noreturn]] inline void fail(ErrorCode code, std::string message) { throw Failure{Error{code, std::move(message)}}; }

/// Runs `body`; what it finds malformed is said to be in `part`.
template <class Body>
void naming(const std::string& part, Body&& body) {
  try {
    body();
  } catch (Failure& failure) {
    if (failure.error.code == ErrorCode::malformed) failure.error.message = part + ": " + failure.error.message;
    throw;
  }
}

/// Runs `body`; its failures are about `subject`.
template <class Body>
auto concerning(const std::string& subject, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (Failure& failure) {
    failure.error = std::move(failure.error).about(subject);
    throw;
  }
}

/// Runs `body` and returns its value, or the Error about `subject` that it ended with.
template <class Body>
auto guarded(const std::string& subject, Body&& body)
    -> Result<std::conditional_t<std::is_void_v<decltype(body())>, std::monostate, decltype(body())>> {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return ok();
    } else {
      return body();
    }
  } catch (Failure& failure) {
    return std::move(failure.error).about(subject);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, "out of memory", std::nullopt, subject};
  } catch (const std::exception& other) {
    return Error{ErrorCode::internal, other.what(), std::nullopt, subject};
  }
}

}  // namespace snapdiff::store
