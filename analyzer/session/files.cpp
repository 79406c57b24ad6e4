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

#include "analyzer/base/toml_bounds.hpp"

namespace snapdiff::session {
namespace {

Status failed(const std::string& path, const char* what) {
  return Error{ErrorCode::io, std::string(what) + ": " + std::strerror(errno), std::nullopt, path};
}

Status write_all(int file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(path, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ok();
}

/// A store holds what cannot be made again: only another store may take its place.
Status keep_store(const std::string& path, std::string_view bytes) {
  constexpr std::string_view kStore = "SQLite format 3";
  std::ifstream file(path, std::ios::binary);
  std::string begin(kStore.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin != kStore || bytes.starts_with(kStore)) return ok();
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

Status write_file(const std::string& given, std::string_view bytes) {
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::canonical(given, failure);  // a link stays a link
  const std::string path = failure ? given : real.string();
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    // A device or a pipe, e.g. /dev/full: nothing to rename over.
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return failed(path, "cannot open for writing");
    Status written = write_all(file, path, bytes);
    ::close(file);
    return written;
  }
  if (Status same = exists ? keep_store(path, bytes) : ok(); !same) return std::move(same).error().about(given);
  const std::string temporary = path + ".tmp" + std::to_string(::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? 0600 : 0666);
  if (file < 0) return failed(path, "cannot create");
  Status written = write_all(file, path, bytes);
  if (exists && written && ::fchmod(file, there.st_mode & 07777) != 0) written = failed(path, "cannot set its mode");
  if (::close(file) != 0 && written) written = failed(path, "cannot write");
  if (written && std::rename(temporary.c_str(), path.c_str()) != 0) written = failed(path, "cannot rename into place");
  if (!written) ::unlink(temporary.c_str());
  return written;
}

}  // namespace snapdiff::session
