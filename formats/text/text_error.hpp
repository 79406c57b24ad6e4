#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "snapdiff/result.hpp"

namespace snapdiff::formats::text {

/// How deep decoding fails inside this room. run_reader() turns it into an Error; nothing else
/// leaves a read().
struct TextError {
  Error error;
};

[[noreturn]] inline void fail(ErrorCode code, std::uint64_t offset, std::string message) {
  throw TextError{Error{code, std::move(message), offset}};
}

/// `text` for a message: in quotes, at most 60 bytes of it, what is not printable ASCII as \xNN.
std::string in_quotes(std::string_view text);

/// Calls `body`; a TextError or an exhausted memory becomes an Error.
Status guarded(void (*body)(void*), void* context);

/// Calls `body()`, which returns a Status or throws TextError.
template <class Body>
Status run_reader(Body body) {
  Status result = ok();
  struct Call {
    Body* body;
    Status* result;
  } call{&body, &result};
  Status guard = guarded(
      [](void* context) {
        Call& c = *static_cast<Call*>(context);
        *c.result = (*c.body)();
      },
      &call);
  return guard ? result : guard;
}

}  // namespace snapdiff::formats::text
