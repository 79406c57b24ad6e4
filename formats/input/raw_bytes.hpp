#pragma once

#include <cstddef>
#include <memory>

#include "snapdiff/result.hpp"

namespace snapdiff::formats {

/// The bytes of one input as they were given: a file, standard input, or memory. Read twice: the
/// head for detection, then everything from the start.
///
/// Files are read with pread, not mapped: a file that shrinks, or a disk that fails, while it is
/// read is then an error and not a signal that ends the process. The copy costs 0.1 ms per MB.
class RawBytes {
 public:
  virtual ~RawBytes() = default;

  /// Up to `capacity` bytes from `offset` on into `out`; 0 at the end.
  /// Errors: io.
  virtual Result<std::size_t> read_at(std::uint64_t offset, char* out, std::size_t capacity) = 0;

  /// Size of all bytes where it is known beforehand (not for pipes).
  virtual std::optional<std::uint64_t> size() const = 0;

  /// All bytes at once where they are not more than `limit`, else nothing. Valid until
  /// drop_whole() or the next call.
  /// Errors: io.
  virtual Result<std::optional<std::string_view>> whole(std::uint64_t limit) = 0;
  virtual void drop_whole() {}

  /// From here on bytes are read in order, and each only once: a pipe needs to keep none.
  virtual void read_once_from_here() {}

  /// Starts computing the hash of all bytes, beside the reading where that pays.
  virtual void start_hash() = 0;
  struct Digest {
    std::string sha256;
    std::uint64_t size_bytes = 0;
  };
  /// Waits for it. Errors: io.
  virtual Result<Digest> finish_hash() = 0;

  /// Modification time, ns since 1970, of a file.
  virtual std::optional<std::int64_t> file_time_ns() const { return std::nullopt; }
};

/// Opens `path`; "-" is standard input. `pipe_limit` bounds the bytes taken from a pipe.
/// Errors: io, in plain words (missing, a directory, no permission).
Result<std::unique_ptr<RawBytes>> open_raw(const std::string& path, std::uint64_t pipe_limit);

/// `bytes` must outlive the result.
std::unique_ptr<RawBytes> raw_from_memory(std::string_view bytes);

}  // namespace snapdiff::formats
