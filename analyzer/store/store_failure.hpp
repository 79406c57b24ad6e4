#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "analyzer/base/failure.hpp"

/// Failures inside this module; store.hpp gives them back as Errors.
namespace snapdiff::store {

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
auto guarded(const std::string& subject, Body&& body) -> decltype(snapdiff::guarded(body)) {
  try {
    return snapdiff::guarded([&] { return concerning(subject, body); });
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, "out of memory", std::nullopt, subject};
  } catch (const std::exception& other) {
    return Error{ErrorCode::internal, other.what(), std::nullopt, subject};
  }
}

}  // namespace snapdiff::store
