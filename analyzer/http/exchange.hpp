#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/result.hpp"

/// HTTP by request: libcurl, opened when the first connection is asked for. Addresses are asked directly and as they
/// are given: no proxy, no .netrc, no redirect is followed, certificates are verified.
namespace snapdiff::http {

/// One request.
///   headers        lines, "Name: value"
///   body           it is posted; without one the address is read
///   authority      file with the certificates to trust; "" = those of the system
///   quiet_seconds  nothing came for so long: an error
///   most_seconds   for the whole answer; 0 = no bound
///   most_bytes     an answer that announces more is refused at its head; 0 = no bound
///   unpack         the server may compress
struct Request {
  std::string url;
  std::vector<std::string> headers;
  std::optional<std::string_view> body;
  std::string authority;
  std::int64_t quiet_seconds = 300;
  std::int64_t most_seconds = 0;
  std::uint64_t most_bytes = 0;
  bool unpack = true;
};

///   redirect  where the server sends the reader to; "" = nowhere
///   stopped   Take refused more
struct Answer {
  int status = 0;
  std::string redirect;
  bool stopped = false;
};

/// Bytes of the body as they come, with the status of the answer; false: no more.
using Take = std::function<bool(int status, std::string_view bytes)>;

/// One server after the other; what is open stays open for the next request. Not thread-safe.
class Connection {
 public:
  Connection();
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  /// Errors: limit, where more than most_bytes is announced; io, in the words of libcurl; unsupported, where there is
  /// none.
  Result<Answer> perform(const Request& request, const Take& take);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace snapdiff::http
