#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The container of all compressed columns (README.md, "Column chunks").
namespace snapdiff::store {

/// Rows (or stacks) a chunk holds at most: compression is flat from 4k rows up, single look-ups
/// slow down beyond 16k.
inline constexpr std::size_t kChunkRows = 16 * 1024;

/// No chunk's columns may be larger than this together; a damaged size must not make us allocate.
inline constexpr std::size_t kMaxChunkBytes = 64 * 1024 * 1024;

/// zstd level for `bytes` of columns in one import: what takes no time anyway is pressed harder.
int compression_level(std::size_t bytes);

/// Several byte columns -> one blob with a checksum.
std::string pack_columns(std::span<const std::string> columns, int level);

/// The columns of a blob; the views are into `buffer`, which is overwritten.
/// Throws malformed: bad checksum, wrong number of columns, sizes that do not hold, over the cap.
std::vector<std::string_view> unpack_columns(std::string_view blob, std::size_t column_count, std::string& buffer);

/// For large texts (kept sources, memory maps): one column, the caller's own cap.
std::string pack_bytes(std::string_view bytes, int level);
std::string unpack_bytes(std::string_view blob, std::size_t cap);

}  // namespace snapdiff::store
