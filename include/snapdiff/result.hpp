#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace snapdiff {

/// What kind of failure an Error is.
///   io            the operating system refused (file missing, disk full, read-only)
///   unsupported   readable, but of a kind snapdiff does not take (a CPU profile, a PNG)
///   malformed     the bytes break the grammar of their format
///   limit         a bound that protects the reader was passed (bombs, sums beyond 2^63-1)
///   incompatible  each part is fine, together they are not (no common metric, newer schema)
///   usage         the user asked for something that does not exist (unknown operand, bad regex)
///   internal      one of our own checks failed
enum class ErrorCode { io, unsupported, malformed, limit, incompatible, usage, internal };

constexpr std::string_view to_text(ErrorCode code) {
  switch (code) {
    case ErrorCode::io: return "input/output";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::malformed: return "malformed";
    case ErrorCode::limit: return "limit";
    case ErrorCode::incompatible: return "incompatible";
    case ErrorCode::usage: return "usage";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

/// A failure as data. `message` reads "what was wrong: what was found, what was expected", lower
/// case, without a full stop. `offset` counts bytes from the start of the input; where the input
/// is compressed, of its decompressed bytes, and the message says so. `subject` is the file or
/// store the error is about; the layer that knows it fills it in, the one below leaves it empty.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::optional<std::uint64_t> offset = std::nullopt;
  std::string subject = {};

  /// "heap.pb.gz: malformed at byte 4182: sample has 3 values, 2 sample types declared"
  std::string text() const {
    std::string out;
    if (!subject.empty()) out += subject + ": ";
    out += to_text(code);
    if (offset) out += " at byte " + std::to_string(*offset);
    return out + ": " + message;
  }

  /// The same error, about `name` where it was not yet about anything.
  Error about(std::string_view name) && {
    if (subject.empty()) subject = name;
    return std::move(*this);
  }
};

/// A value or an Error. Member names follow std::expected, which C++20 lacks.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    assert(has_value());
    return std::get<0>(state_);
  }
  const T& value() const& {
    assert(has_value());
    return std::get<0>(state_);
  }
  T&& value() && {
    assert(has_value());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & {
    assert(!has_value());
    return std::get<1>(state_);
  }
  const Error& error() const& {
    assert(!has_value());
    return std::get<1>(state_);
  }
  Error&& error() && {
    assert(!has_value());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<std::monostate>;

inline Status ok() { return std::monostate{}; }

}  // namespace snapdiff
