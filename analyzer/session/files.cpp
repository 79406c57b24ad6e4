#include "analyzer/session/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/toml_bounds.hpp"

namespace snapdiff::session {
namespace {

Status failed(const std::string& path, const char* what) {
  return Error{ErrorCode::io, std::string(what) + ": " + std::strerror(errno), std::nullopt, path};
}

/// Throws io.
void write_all(int file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) value_or_throw(failed(path, "cannot write"));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// A file that is open for writing. One with a temporary name is removed, unless it is given its own.
class Opened {
 public:
  Opened(int file, std::string temporary) : file_(file), temporary_(std::move(temporary)) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  void close_as(const std::string& path) {
    if (::close(std::exchange(file_, -1)) != 0) value_or_throw(failed(path, "cannot write"));
    if (std::rename(temporary_.c_str(), path.c_str()) != 0) value_or_throw(failed(path, "cannot rename into place"));
    temporary_.clear();
  }

 private:
  int file_;
  std::string temporary_;
};

/// A store holds what cannot be made again: nothing takes its place.
Status keep_store(const std::string& path) {
  constexpr std::string_view kStore = "SQLite format 3";
  std::ifstream file(path, std::ios::binary);
  std::string begin(kStore.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin != kStore) return ok();
  return Error{ErrorCode::usage, "not replaced: it is a SQLite file; remove it first or name another file",
               std::nullopt, path};
}

}  // namespace

Result<std::string> read_small_file(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored))
    return Error{ErrorCode::io, "cannot read it", std::nullopt, path};
  std::string text(kMaxTomlBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return Error{ErrorCode::io, "cannot read it", std::nullopt, path};
  if (text.size() > kMaxTomlBytes)
    return Error{ErrorCode::limit, "too large: expected at most 1 MiB", std::nullopt, path};
  return text;
}

Status write_file(const std::string& given, const Pieces& pieces) {
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::canonical(given, failure);  // a link stays a link
  const std::string path = failure ? given : real.string();
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  // A device or a pipe, e.g. /dev/full: nothing to rename over.
  const bool in_place = exists && !S_ISREG(there.st_mode);
  if (Status same = exists && !in_place ? keep_store(path) : ok(); !same) return std::move(same).error().about(given);
  const std::string temporary = in_place ? "" : path + ".tmp" + std::to_string(::getpid());
  const int file = in_place ? ::open(path.c_str(), O_WRONLY | O_CLOEXEC)
                            : ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? 0600 : 0666);
  if (file < 0) return failed(path, in_place ? "cannot open for writing" : "cannot create");
  Opened opened(file, temporary);
  return guarded([&] {
    pieces([&](std::string_view piece) { write_all(file, path, piece); });
    if (in_place) return;
    if (exists && ::fchmod(file, there.st_mode & 07777) != 0) value_or_throw(failed(path, "cannot set its mode"));
    opened.close_as(path);
  });
}

Status write_file(const std::string& path, std::string_view bytes) {
  return write_file(path, [bytes](const auto& take) { take(bytes); });
}

}  // namespace snapdiff::session
