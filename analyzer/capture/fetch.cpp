#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "analyzer/base/number_text.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/capture/capture.hpp"
#include "analyzer/http/exchange.hpp"

namespace snapdiff::capture {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRedirects = 5;

/// "http://host:80" of an address: a redirect keeps it.
std::string_view origin_of(std::string_view url) {
  const std::size_t host = url.find("://");
  return host == std::string_view::npos ? url : url.substr(0, url.find_first_of("/?#", host + 3));
}

Status check(const Address& address) {
  const auto refused = [&](const std::string& why) { return Error{ErrorCode::usage, why, std::nullopt, address.url}; };
  const std::string_view origin = origin_of(address.url);
  if (origin.ends_with("://")) return refused("the address has no host");
  if (origin.find('@') != std::string_view::npos)
    return Error{ErrorCode::usage, "the address holds a user: expected --header 'Authorization: ...'"};
  const auto odd = [](char c) { return static_cast<unsigned char>(c) <= 32 || static_cast<unsigned char>(c) == 127; };
  if (std::any_of(address.url.begin(), address.url.end(), odd)) return refused("the address holds a blank");
  for (const std::string& line : address.headers) {
    if (line.find(':') == std::string::npos || line.find_first_of("\r\n") != std::string::npos)
      return Error{ErrorCode::usage, "--header: expected 'Name: value' on one line"};
  }
  return ok();
}

/// A file that is only there when it is complete.
class PartFile {
 public:
  explicit PartFile(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
    file_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    if (file_ >= 0) ::close(file_);
    if (!kept_) ::unlink(part_.c_str());
  }

  bool write(std::string_view bytes) {
    while (!bytes.empty() && file_ >= 0) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
      size_ += static_cast<std::uint64_t>(written);
    }
    return file_ >= 0;
  }
  Status keep() {
    kept_ = file_ >= 0 && std::rename(part_.c_str(), path_.c_str()) == 0;
    return kept_ ? ok() : Status(failure());
  }
  Error failure() const { return {ErrorCode::io, std::string("cannot write: ") + std::strerror(errno), {}, path_}; }
  std::uint64_t size() const { return size_; }

 private:
  std::string path_, part_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  bool kept_ = false;
};

/// The first line of a refusal.
std::string first_words(std::string text) {
  text = printable(text.substr(0, text.find_first_of("\r\n")));
  return text.empty() ? text : ": " + text.substr(0, 200);
}

}  // namespace

bool is_address(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

std::string folder_for(const Address& address) {
  std::string out = "heaps-";
  const std::string_view origin = origin_of(address.url);
  for (const char c : origin.substr(std::min(origin.size(), origin.find("://") + 3)))
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '-';
  return out;
}

Result<std::uint64_t> fetch(const Address& address, const std::string& path) {
  if (const Status checked = check(address); !checked) return checked.error();
  const auto failed = [&](ErrorCode code, const std::string& why) { return Error{code, why, {}, address.url}; };
  const Error too_large = failed(ErrorCode::limit, "the answer is larger than " +
                                                       bytes_text(static_cast<std::int64_t>(address.most_bytes)) +
                                                       "; --max-input SIZE takes more");
  http::Connection connection;
  std::string url = address.url;
  for (int hops = 0;; ++hops) {
    PartFile file(path);
    std::string refusal;
    std::optional<Error> failure;
    http::Request request;
    request.url = url;
    request.headers = address.headers;
    request.quiet_seconds = request.most_seconds = address.most_seconds;
    request.most_bytes = address.most_bytes;
    request.unpack = false;  // files are recognised compressed as well
    const Result<http::Answer> answer = connection.perform(request, [&](int status, std::string_view bytes) {
      if (status != 200) {
        refusal += bytes.substr(0, 4096 - std::min<std::size_t>(refusal.size(), 4096));
        return refusal.size() < 4096;
      }
      if (file.size() + bytes.size() > address.most_bytes) {
        failure = too_large;
      } else if (!file.write(bytes)) {
        failure = file.failure();
      }
      return !failure;
    });
    if (failure) return *failure;
    if (!answer) {
      if (answer.error().code == ErrorCode::limit) return too_large;
      if (answer.error().code == ErrorCode::unsupported)
        return failed(ErrorCode::unsupported,
                      answer.error().message + "; expected a file, as by: curl -o heap.1 '" + address.url + "'");
      const bool late = answer.error().message.find("timed out") != std::string::npos ||
                        answer.error().message.find("too slow") != std::string::npos;
      return failed(answer.error().code, late ? "no complete answer within " + std::to_string(address.most_seconds) +
                                                    " s; --timeout N waits longer"
                                              : answer.error().message);
    }
    if (!answer->redirect.empty()) {
      if (origin_of(answer->redirect) != origin_of(url))
        return failed(ErrorCode::io, "it redirects to another host, which is not asked: " +
                                         printable(std::string(origin_of(answer->redirect)).substr(0, 200)));
      if (hops == kMostRedirects)
        return failed(ErrorCode::limit, "more than " + std::to_string(kMostRedirects) + " redirects");
      url = answer->redirect;
      continue;
    }
    if (answer->status != 200)
      return failed(ErrorCode::io,
                    "found status " + std::to_string(answer->status) + first_words(refusal) + ", expected 200");
    if (file.size() == 0) return failed(ErrorCode::io, "the answer is empty");
    if (const Status kept = file.keep(); !kept) return kept.error();
    return file.size();
  }
}

Result<std::string> next_file(const std::string& folder, std::string_view stem, std::string_view ending) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) return Error{ErrorCode::io, "cannot make the folder: " + failure.message(), {}, folder};
  std::uint64_t last = 0;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(std::string(stem) + ".")) continue;
    last = std::max<std::uint64_t>(last, std::strtoull(name.c_str() + stem.size() + 1, nullptr, 10));
  }
  char number[32];
  std::snprintf(number, sizeof number, ".%04llu", static_cast<unsigned long long>(last + 1));
  return (fs::path(folder) / (std::string(stem) + number + std::string(ending))).string();
}

Result<std::string> new_folder(const std::string& name) {
  for (int number = 1;; ++number) {
    const std::string path = number == 1 ? name : name + "." + std::to_string(number);
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST)
      return Error{ErrorCode::io, std::string("cannot make the folder: ") + std::strerror(errno), {}, path};
  }
}

}  // namespace snapdiff::capture
