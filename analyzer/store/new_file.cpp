#include "analyzer/store/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace snapdiff::store {
namespace {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// SQLite would take a journal or log with the right name for one of the new file.
bool has_stale_journal(const std::string& path) {
  struct stat found {};
  for (const char* suffix : {"-journal", "-wal"}) {
    if (::lstat((path + suffix).c_str(), &found) == 0 || errno != ENOENT) return true;
  }
  return false;
}

}  // namespace

bool place_new_file(const std::string& path, std::span<const unsigned char> bytes) {
  if (bytes.empty() || has_stale_journal(path)) return false;
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  constexpr mode_t kMode = 0644;  // SQLite's own
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode));
  if (!file || !write_all(file.get(), bytes) || ::fdatasync(file.get()) != 0) return false;
  const std::string nameless = "/proc/self/fd/" + std::to_string(file.get());
  if (::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) ::fsync(directory.get());  // without it a power failure may undo the whole, no more
  return true;
}

}  // namespace snapdiff::store
