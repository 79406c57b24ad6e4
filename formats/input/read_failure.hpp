#pragma once

#include <new>
#include <stdexcept>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/importer.hpp"

/// How reading fails deep inside a format, and where that ends.
namespace snapdiff::formats {

[[noreturn]] inline void fail_malformed(std::string message, std::uint64_t offset) {
  fail(ErrorCode::malformed, std::move(message), offset);
}

/// "WHAT: found FOUND, expected EXPECTED", for a message.
template <class Found>
std::string instead(std::string_view what, const Found& found, std::string_view expected) {
  std::string out = std::string(what) + ": found ";
  if constexpr (std::is_integral_v<Found>) {
    out += std::to_string(found);
  } else {
    out += found;
  }
  return out + ", expected " + std::string(expected);
}

/// Adds to a sum. Throws Failure where it leaves 64 bits: limit, "WHAT beyond 2^63-1", as "a sum is", "bytes are".
inline void add_to(std::int64_t& sum, std::int64_t more, std::string_view what,
                   std::optional<std::uint64_t> offset = std::nullopt) {
  if (checked_add(sum, more, sum)) return;
  fail(ErrorCode::limit,
       std::string(what) + " beyond 2^63-1, expected " + (what.ends_with(" is") ? "it" : "them") + " to fit in 64 bits",
       offset);
}

/// a * b. Throws Failure as add_to() does.
inline std::int64_t product_of(std::int64_t a, std::int64_t b, std::string_view what,
                               std::optional<std::uint64_t> offset = std::nullopt) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) add_to(out = std::numeric_limits<std::int64_t>::max(), 1, what, offset);
  return out;
}

/// Hands a snapshot to the sink; throws the error of either.
inline void give(SnapshotSink& out, Result<Snapshot> made) {
  value_or_throw(out.take(value_or_throw(std::move(made))));
}

/// Calls `read()`, which returns a Status, a Result or nothing, or throws Failure or for want of memory.
template <class Read>
auto run_reader(Read read) -> std::conditional_t<std::is_void_v<decltype(read())>, Status, decltype(read())> {
  const Error no_memory{ErrorCode::limit, "not enough memory to read this input"};
  try {
    if constexpr (std::is_void_v<decltype(read())>) {
      read();
      return ok();
    } else {
      return read();
    }
  } catch (Failure& failure) {
    return std::move(failure.error);
  } catch (const std::bad_alloc&) {
    return no_memory;
  } catch (const std::length_error&) {
    return no_memory;
  }
}

}  // namespace snapdiff::formats
