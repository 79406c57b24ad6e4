#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/importer.hpp"

/// How reading fails deep inside a format, and where that ends.
namespace snapdiff::formats {

[[noreturn]] inline void fail_malformed(std::string message, std::uint64_t offset) {
  fail(ErrorCode::malformed, std::move(message), offset);
}

/// Hands a snapshot to the sink; throws the error of either.
inline void give(SnapshotSink& out, Result<Snapshot> made) {
  value_or_throw(out.take(value_or_throw(std::move(made))));
}

/// Calls `read()`, which returns a Status, a Result or nothing, or throws Failure. `many` is what may be more than
/// fits in memory, for the message; where it is empty, running out of memory is left to the caller.
template <class Read>
auto run_reader(Read read, std::string_view many = {})
    -> std::conditional_t<std::is_void_v<decltype(read())>, Status, decltype(read())> {
  const auto out_of_memory = [many] {
    return Error{ErrorCode::limit, "out of memory: more " + std::string(many) + " than fit"};
  };
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
    if (many.empty()) throw;
    return out_of_memory();
  } catch (const std::length_error&) {
    if (many.empty()) throw;
    return out_of_memory();
  }
}

}  // namespace snapdiff::formats
