#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "snapdiff/result.hpp"

/// How a failure travels inside a module: thrown where it is met, an Error again where the module ends.
namespace snapdiff {

/// What is thrown; nothing of the kind leaves a public function.
struct Failure {
  Error error;
};

[[noreturn]] inline void fail(Error error) { throw Failure{std::move(error)}; }
[[noreturn]] inline void fail(ErrorCode code, std::string message, std::optional<std::uint64_t> offset = std::nullopt) {
  fail(Error{code, std::move(message), offset});
}

/// The value of `result`; throws its error.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) fail(std::move(result).error());
  return *std::move(result);
}

/// Runs `body` and returns its value, or the Error that it threw.
template <class Body>
auto guarded(Body body)
    -> Result<std::conditional_t<std::is_void_v<decltype(body())>, std::monostate, decltype(body())>> {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return ok();
    } else {
      return body();
    }
  } catch (Failure& failure) {
    return std::move(failure.error);
  }
}

}  // namespace snapdiff
