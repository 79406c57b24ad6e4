#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/fleet/fleet.hpp"
#include "analyzer/http/exchange.hpp"

namespace snapdiff::fleet {

/// Statements over the HTTP interface of one server; its members throw Failure. Not thread-safe.
class Client {
 public:
  Client(const Connection& to, std::string url);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  /// Takes the bytes that have come so far and says how many of them it has used up, or throws what is wrong with them.
  using Reader = std::function<std::size_t(std::string_view bytes)>;

  /// `name`: how an error calls the statement. The answer comes to `reader` in pieces, only after the server has
  /// finished it without an error.
  /// `settings`: more of them, "&name=value".
  void read(std::string_view name, std::string_view query, const Reader& reader, std::string_view settings = {});

  /// The whole answer, at most 64 MiB.
  std::string text(std::string_view name, std::string_view query);
  /// The same, line by line.
  std::vector<std::string> lines(std::string_view name, std::string_view query);

  /// `statement` ends in FORMAT RowBinary; `rows` are sent compressed. Returns the bytes sent.
  std::uint64_t insert(std::string_view name, std::string_view statement, std::string_view rows);

  const std::string& url() const { return url_; }

 private:
  struct Exchange;
  void perform(std::string_view name, std::string_view target, std::string_view body, bool compressed,
               const Reader& reader);

  std::string url_;
  std::string user_, password_, authority_;
  std::int64_t timeout_seconds_ = 300;
  http::Connection connection_;
};

/// An address as we ask it, without a slash at its end. Errors: usage, without the text where it may hold a password.
Result<std::string> checked_url(const std::string& url);

}  // namespace snapdiff::fleet
