#include "formats/input/raw_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "analyzer/base/large_pages.hpp"
#include "formats/input/sha256.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::size_t kHashChunk = 256 * 1024;          // stays in the second-level cache
constexpr std::uint64_t kHashBesideFrom = 1024 * 1024;  // below, a thread costs more than the hash
constexpr std::size_t kPipeChunk = 256 * 1024;

std::string os_text(int error) { return std::generic_category().message(error); }

Error read_failed(int error) {
  return Error{ErrorCode::io, "cannot read: " + os_text(error) + ", expected a readable file"};
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Bytes that can be read at any offset from any thread: hashed in a thread of their own.
class ReplayableBytes : public RawBytes {
 public:
  void start_hash() override {
    if (started_) return;
    started_ = true;
    if (size().value_or(0) < kHashBesideFrom) return;
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) { hash_guarded(stop); });
    } catch (const std::system_error&) {
      // No thread to be had: finish_hash() does the work.
    }
  }
  Result<Digest> finish_hash() override {
    if (thread_.joinable()) {
      thread_.join();
    } else {
      hash_guarded(std::stop_token{});
    }
    if (hash_error_) return *hash_error_;
    return digest_;
  }

 protected:
  /// Must run before the members of the derived class go.
  void stop_hash() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
  }

 private:
  /// Nothing may leave the thread.
  void hash_guarded(const std::stop_token& stop) {
    try {
      hash_all(stop);
    } catch (const std::bad_alloc&) {
      hash_error_ = Error{ErrorCode::limit, "not enough memory to hash the input"};
    }
  }
  void hash_all(const std::stop_token& stop) {
    Sha256 hash;
    std::vector<char> chunk(static_cast<std::size_t>(std::min<std::uint64_t>(kHashChunk, size().value_or(0) + 1)));
    std::uint64_t offset = 0;
    while (!stop.stop_requested()) {
      Result<std::size_t> got = read_at(offset, chunk.data(), chunk.size());
      if (!got) {
        hash_error_ = got.error();
        return;
      }
      if (*got == 0) break;
      hash.update({chunk.data(), *got});
      offset += *got;
    }
    digest_ = {hash.finish_hex(), offset};
  }

  bool started_ = false;
  Digest digest_;
  std::optional<Error> hash_error_;
  std::jthread thread_;
};

class FileBytes final : public ReplayableBytes {
 public:
  FileBytes(Fd fd, std::uint64_t size, std::int64_t time_ns) : fd_(std::move(fd)), size_(size), time_ns_(time_ns) {}
  ~FileBytes() override { stop_hash(); }

  Result<std::size_t> read_at(std::uint64_t offset, char* out, std::size_t capacity) override {
    for (;;) {
      const ssize_t got = ::pread(fd_.get(), out, capacity, static_cast<off_t>(offset));
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return read_failed(errno);
    }
  }
  std::optional<std::uint64_t> size() const override { return size_; }
  Result<std::optional<std::string_view>> whole(std::uint64_t limit) override {
    if (size_ > limit) return std::optional<std::string_view>();
    whole_ = std::make_unique_for_overwrite<char[]>(size_ + 1);
    prefer_large_pages(whole_.get(), size_ + 1);
    std::size_t filled = 0;
    for (;;) {
      Result<std::size_t> got = read_at(filled, whole_.get() + filled, size_ + 1 - filled);
      if (!got) return std::move(got).error();
      filled += *got;
      if (filled > size_) return std::optional<std::string_view>();  // it grows; the stream will cope
      if (*got == 0) return std::optional(std::string_view(whole_.get(), filled));
    }
  }
  void drop_whole() override { whole_.reset(); }
  std::optional<std::int64_t> file_time_ns() const override { return time_ns_; }

 private:
  Fd fd_;
  std::uint64_t size_;
  std::int64_t time_ns_;
  std::unique_ptr<char[]> whole_;
};

class MemoryBytes final : public ReplayableBytes {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  ~MemoryBytes() override { stop_hash(); }
  Result<std::size_t> read_at(std::uint64_t offset, char* out, std::size_t capacity) override {
    if (offset >= bytes_.size()) return std::size_t{0};
    return bytes_.copy(out, capacity, static_cast<std::size_t>(offset));
  }
  std::optional<std::uint64_t> size() const override { return bytes_.size(); }
  Result<std::optional<std::string_view>> whole(std::uint64_t limit) override {
    if (bytes_.size() > limit) return std::optional<std::string_view>();
    return std::optional(bytes_);
  }

 private:
  std::string_view bytes_;
};

/// Standard input and everything else that has no size: keeps what was read until
/// read_once_from_here(), hashes while reading.
class PipeBytes final : public RawBytes {
 public:
  PipeBytes(Fd fd, std::uint64_t limit) : fd_(std::move(fd)), limit_(limit) {
    ::fcntl(fd_.get(), F_SETPIPE_SZ, static_cast<int>(kPipeChunk));  // 64 KiB is slow; fails where it is no pipe
  }

  Result<std::size_t> read_at(std::uint64_t offset, char* out, std::size_t capacity) override {
    if (offset < kept_.size()) return kept_.copy(out, capacity, static_cast<std::size_t>(offset));
    if (!keep_) return take(out, capacity);
    if (Status more = keep_until(offset + capacity); !more) return std::move(more).error();
    if (offset >= kept_.size()) return std::size_t{0};
    return kept_.copy(out, capacity, static_cast<std::size_t>(offset));
  }
  std::optional<std::uint64_t> size() const override { return std::nullopt; }
  Result<std::optional<std::string_view>> whole(std::uint64_t limit) override {
    if (Status more = keep_until(limit + 1); !more) return std::move(more).error();
    if (kept_.size() > limit) return std::optional<std::string_view>();
    return std::optional<std::string_view>(kept_);
  }
  void read_once_from_here() override { keep_ = false; }
  void start_hash() override {}
  Result<Digest> finish_hash() override {
    std::vector<char> rest(kPipeChunk);
    for (;;) {
      Result<std::size_t> got = take(rest.data(), rest.size());
      if (!got) return std::move(got).error();
      if (*got == 0) break;
    }
    return Digest{hash_.finish_hex(), taken_};
  }

 private:
  Result<std::size_t> take(char* out, std::size_t capacity) {
    for (;;) {
      const ssize_t got = ::read(fd_.get(), out, capacity);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return read_failed(errno);
      const auto count = static_cast<std::size_t>(got);
      hash_.update({out, count});
      taken_ += count;
      if (taken_ > limit_) {
        return Error{ErrorCode::limit, "standard input or pipe is too long: more than " + std::to_string(limit_) +
                                           " bytes, expected at most that (--max-input)"};
      }
      return count;
    }
  }
  Status keep_until(std::uint64_t wanted) {
    while (kept_.size() < wanted) {
      const std::size_t before = kept_.size();
      kept_.resize(before + kPipeChunk);
      Result<std::size_t> got = take(kept_.data() + before, kPipeChunk);
      kept_.resize(before + (got ? *got : 0));
      if (!got) return std::move(got).error();
      if (*got == 0) break;
    }
    return ok();
  }

  Fd fd_;
  std::uint64_t limit_;
  bool keep_ = true;
  std::string kept_;
  std::uint64_t taken_ = 0;
  Sha256 hash_;
};

}  // namespace

Result<std::unique_ptr<RawBytes>> open_raw(const std::string& path, std::uint64_t pipe_limit) {
  Fd fd(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0) {
    const int error = errno;
    if (error == ENOENT) return Error{ErrorCode::io, "no such file: expected the path of a heap profile"};
    return Error{ErrorCode::io, "cannot open: " + os_text(error) + ", expected a readable file"};
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return read_failed(errno);
  if (S_ISDIR(info.st_mode)) return Error{ErrorCode::io, "is a directory: expected a file"};
  // Files under /proc say size 0 and have bytes; standard input may be a file that was read in part.
  if (S_ISREG(info.st_mode) && info.st_size > 0 && path != "-") {
    const std::int64_t time_ns = static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
    return std::unique_ptr<RawBytes>(
        std::make_unique<FileBytes>(std::move(fd), static_cast<std::uint64_t>(info.st_size), time_ns));
  }
  return std::unique_ptr<RawBytes>(std::make_unique<PipeBytes>(std::move(fd), pipe_limit));
}

std::unique_ptr<RawBytes> raw_from_memory(std::string_view bytes) { return std::make_unique<MemoryBytes>(bytes); }

}  // namespace snapdiff::formats
