#include "analyzer/store/column_chunk.hpp"

#include <zstd.h>

#include <cstring>
#include <memory>

#include "analyzer/store/bytes.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::store {
namespace {

/// Below this all columns share one frame: a frame costs about 12 bytes and its own tables.
constexpr std::size_t kOneFrameBytes = 8 * 1024;
constexpr std::size_t kChecksumBytes = 4;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

ZSTD_CCtx* compressor() {
  thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (context == nullptr) throw std::bad_alloc();
  return context.get();
}
ZSTD_DCtx* decompressor() {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  return context.get();
}

/// Appends `raw` compressed, or as it is when that is not smaller; returns the stored size, which
/// equals raw.size() only in the second case.
std::size_t append_frame(std::string& out, std::string_view raw, int level) {
  const std::size_t before = out.size();
  if (raw.size() > 16) {
    out.resize(before + ZSTD_compressBound(raw.size()));
    const std::size_t size =
        ZSTD_compressCCtx(compressor(), out.data() + before, out.size() - before, raw.data(), raw.size(), level);
    if (ZSTD_isError(size) == 0U && size < raw.size()) {
      out.resize(before + size);
      return size;
    }
    out.resize(before);
  }
  out.append(raw);
  return raw.size();
}

void read_frame(std::string_view stored, char* to, std::size_t raw_size) {
  if (stored.size() == raw_size) {
    if (raw_size > 0) std::memcpy(to, stored.data(), raw_size);
    return;
  }
  const std::size_t size = ZSTD_decompressDCtx(decompressor(), to, raw_size, stored.data(), stored.size());
  if (ZSTD_isError(size) != 0U)
    fail(ErrorCode::malformed, std::string("compressed column: ") + ZSTD_getErrorName(size));
  if (size != raw_size)
    fail(ErrorCode::malformed,
         "compressed column holds " + std::to_string(size) + " bytes, expected " + std::to_string(raw_size));
}

/// The size is believed only when the frame itself says the same.
void check_frame_size(std::string_view stored, std::size_t raw_size) {
  if (stored.size() == raw_size) return;
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != raw_size)
    fail(ErrorCode::malformed, "compressed column and its header disagree on the size");
}

std::uint32_t checksum(std::string_view bytes) { return static_cast<std::uint32_t>(hash_bytes(bytes).low); }

void append_checksum(std::string& blob) {
  const std::uint32_t sum = checksum(blob);
  for (unsigned i = 0; i < kChecksumBytes; ++i) blob.push_back(static_cast<char>(sum >> (8 * i)));
}

std::string_view without_checksum(std::string_view blob) {
  if (blob.size() < kChecksumBytes) fail(ErrorCode::malformed, "chunk of " + std::to_string(blob.size()) + " bytes");
  const std::string_view body = blob.substr(0, blob.size() - kChecksumBytes);
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < kChecksumBytes; ++i)
    sum |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(blob[body.size() + i])) << (8 * i);
  if (sum != checksum(body)) fail(ErrorCode::malformed, "checksum does not match");
  return body;
}

}  // namespace

int compression_level(std::size_t bytes) { return bytes < 512 * 1024 ? 9 : 1; }

std::string pack_columns(std::span<const std::string> columns, int level) {
  std::size_t raw_size = 0;
  for (const std::string& column : columns) raw_size += column.size();
  if (raw_size > kMaxChunkBytes)
    fail(ErrorCode::limit, "chunk of " + std::to_string(raw_size) + " bytes, expected at most " +
                               std::to_string(kMaxChunkBytes) + " (a stack of more than 8 million frames?)");
  const bool one_frame = raw_size < kOneFrameBytes;
  std::string sizes;
  std::string frames;
  for (const std::string& column : columns) put_varint(sizes, column.size());
  if (one_frame) {
    std::string all;
    for (const std::string& column : columns) all += column;
    put_varint(sizes, append_frame(frames, all, level));
  } else {
    for (const std::string& column : columns) put_varint(sizes, append_frame(frames, column, level));
  }
  std::string blob;
  blob.reserve(1 + sizes.size() + frames.size() + kChecksumBytes);
  blob.push_back(one_frame ? 1 : 0);
  blob += sizes;
  blob += frames;
  append_checksum(blob);
  return blob;
}

std::vector<std::string_view> unpack_columns(std::string_view blob, std::size_t column_count, std::string& buffer) {
  ByteReader in(without_checksum(blob));
  const bool one_frame = in.byte() == 1;
  std::vector<std::size_t> raw(column_count);
  std::size_t total = 0;
  for (std::size_t& size : raw) {
    size = in.below(kMaxChunkBytes + 1, "column size");
    total += size;
  }
  if (total > kMaxChunkBytes) fail(ErrorCode::malformed, "chunk declares " + std::to_string(total) + " bytes");
  std::vector<std::size_t> frame_raw = one_frame ? std::vector<std::size_t>{total} : raw;
  std::vector<std::string_view> stored(frame_raw.size());
  std::vector<std::size_t> stored_size(frame_raw.size());
  for (std::size_t& size : stored_size) size = in.below(kMaxChunkBytes + 1, "stored size");
  for (std::size_t i = 0; i < stored.size(); ++i) {
    stored[i] = in.bytes(stored_size[i]);
    check_frame_size(stored[i], frame_raw[i]);
  }
  in.expect_end();

  buffer.resize(total);
  std::size_t at = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    read_frame(stored[i], buffer.data() + at, frame_raw[i]);
    at += frame_raw[i];
  }
  std::vector<std::string_view> columns(column_count);
  at = 0;
  for (std::size_t i = 0; i < column_count; ++i) {
    columns[i] = std::string_view(buffer).substr(at, raw[i]);
    at += raw[i];
  }
  return columns;
}

std::string pack_bytes(std::string_view bytes, int level) {
  std::string blob;
  put_varint(blob, bytes.size());
  append_frame(blob, bytes, level);
  append_checksum(blob);
  return blob;
}

std::string unpack_bytes(std::string_view blob, std::size_t cap) {
  ByteReader in(without_checksum(blob));
  const std::uint64_t raw_size = in.varint();
  if (raw_size > cap)
    fail(ErrorCode::malformed, std::to_string(raw_size) + " bytes declared, expected at most " + std::to_string(cap));
  const std::string_view stored = in.bytes(in.left());
  check_frame_size(stored, raw_size);
  std::string bytes(raw_size, '\0');
  read_frame(stored, bytes.data(), raw_size);
  return bytes;
}

}  // namespace snapdiff::store
