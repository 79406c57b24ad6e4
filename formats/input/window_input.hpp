#pragma once

#include <sys/mman.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/base/importer.hpp"
#include "analyzer/base/large_pages.hpp"
#include "formats/input/decoder.hpp"

namespace snapdiff::formats {

/// Gives whole large pages at the start of a block back to the system. Their contents are lost. Returns
/// how many bytes of the block are done with. Nothing where the block is short.
inline std::size_t give_back(char* memory, std::size_t size) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) & ~(kHugePage - 1);
  if (begin >= end || ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) != 0) return 0;
  return end - reinterpret_cast<std::uintptr_t>(memory);
}

/// Bytes that are all in memory; they must outlive the input.
class MemoryInput final : public Input {
 public:
  MemoryInput(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
  /// The input's own bytes: what it forgets goes back to the system.
  MemoryInput(std::span<char> bytes, std::string name, std::string compression)
      : bytes_(bytes.data(), bytes.size()), own_(bytes), name_(std::move(name)), compression_(std::move(compression)) {}
  Result<std::string_view> peek(std::size_t /*wanted*/) override { return bytes_.substr(offset_); }
  void consume(std::size_t n) override { offset_ += n; }
  void forget(std::size_t n);
  std::uint64_t offset() const override { return offset_; }
  const std::string& name() const override { return name_; }
  std::string_view compression() const override { return compression_; }

 private:
  std::string_view bytes_;
  std::span<char> own_;
  std::size_t forgotten_ = 0;
  std::size_t offset_ = 0;
  std::string name_;
  std::string compression_;
};

/// The first `n` bytes of the last view will not be looked at again, though they are not consumed yet: an input of
/// with memory of its own gives theirs back.
void forget(Input& in, std::size_t n);

/// A window over a ByteSource. It grows with what is asked for, as far as bytes really come, and
/// shrinks again. An error stays: every later peek() returns it.
class WindowInput final : public Input {
 public:
  /// One record of an input may be this long at most.
  static constexpr std::size_t kMaxWindowBytes = std::size_t{1} << 30;

  /// `expected_bytes`: what will come in all, 0 where unknown; spares copies while the window grows.
  WindowInput(std::unique_ptr<ByteSource> source, std::size_t window_bytes, std::uint64_t expected_bytes,
              std::string name, std::string compression)
      : source_(std::move(source)),
        window_bytes_(window_bytes),
        expected_bytes_(expected_bytes),
        name_(std::move(name)),
        compression_(std::move(compression)) {}

  Result<std::string_view> peek(std::size_t wanted) override;
  void consume(std::size_t n) override {
    begin_ += n;
    offset_ += n;
  }
  std::uint64_t offset() const override { return offset_; }
  const std::string& name() const override { return name_; }
  std::string_view compression() const override { return compression_; }
  bool failed() const { return error_.has_value(); }

  /// An error while `*cut` is set is the end of the input, and kept as cut_error(). `cut` must live as long as this.
  void end_at_cut(const bool* cut) { cut_ = cut; }
  const std::optional<Error>& cut_error() const { return cut_error_; }

 private:
  Status fill(std::size_t wanted);
  void make_room(std::size_t capacity);

  std::unique_ptr<ByteSource> source_;
  std::size_t window_bytes_;
  std::uint64_t expected_bytes_;
  std::string name_;
  std::string compression_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  bool ended_ = false;
  std::optional<Error> error_;
  const bool* cut_ = nullptr;
  std::optional<Error> cut_error_;
};

}  // namespace snapdiff::formats
