#include "analyzer/fleet/http.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "analyzer/base/failure.hpp"

namespace snapdiff::fleet {
namespace {

constexpr std::size_t kMostText = std::size_t{64} << 20;
constexpr std::size_t kMostError = std::size_t{64} << 10;
/// What a reader may leave: one row, with names of 16 MiB.
constexpr std::size_t kMostUnread = std::size_t{256} << 20;

/// Settings of every statement. The answer of half of the shards is never taken for an answer; a server sends its
/// status only when the answer is complete; rows are on their shards when an insert returns; of replicas the first that
/// is there is asked, so that what one question wrote the next one reads; fast compression, for answers of many rows.
constexpr std::string_view kSettings =
    "skip_unavailable_shards=0&wait_end_of_query=1&insert_distributed_sync=1&distributed_product_mode=local"
    "&load_balancing=in_order&enable_http_compression=1&http_zlib_compression_level=1&max_query_size=268435456&max_ast_"
    "elements=20000000"
    "&max_expanded_ast_elements=20000000";

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9')) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    }
  }
  return out;
}

std::string gzip(std::string_view bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(1), &libdeflate_free_compressor);
  if (!compressor) fail({ErrorCode::limit, "out of memory"});
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  return out;
}

/// "Code: 60, e.displayText() = DB::Exception: Table x doesn't exist., e.what() = ..." -> what people need, one line.
std::string server_words(std::string text) {
  constexpr std::string_view kBegin = "e.displayText() = ";
  std::string code;
  if (text.starts_with("Code: ")) code = text.substr(0, text.find_first_of(",.", 6));
  if (const auto begin = text.find(kBegin); begin != std::string::npos) text.erase(0, begin + kBegin.size());
  if (const auto begin = text.find("DB::Exception: "); !code.empty() && begin < 16)
    text.erase(0, begin);  // newer servers
  for (const std::string_view kind : {"DB::Exception: ", "DB::NetException: "}) {
    if (text.starts_with(kind)) text.erase(0, kind.size());
  }
  if (const auto end = text.rfind(", e.what()"); end != std::string::npos) text.resize(end);
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (text.size() > 600) text = text.substr(0, 600) + " ...";
  if (text.empty()) text = "no words";
  return code.empty() ? text : text + " (" + code + ")";
}

}  // namespace

/// What comes back of one request.
struct Client::Exchange {
  const Reader* reader = nullptr;
  std::string pending;
  std::string refusal;
  std::optional<Error> failure;

  bool take(int status, std::string_view bytes) {
    if (status != 200) {
      refusal += bytes.substr(0, kMostError - std::min(refusal.size(), kMostError));
      return true;
    }
    pending += bytes;
    const Result<std::size_t> used = guarded([&] { return (*reader)(pending); });
    if (!used) {
      failure = used.error();
      return false;
    }
    pending.erase(0, *used);
    if (pending.size() <= kMostUnread) return true;
    failure = Error{ErrorCode::limit, "one row of the answer is larger than 256 MiB"};
    return false;
  }
};

Client::Client(const Connection& to, std::string url)
    : url_(std::move(url)),
      user_(to.user),
      password_(to.password),
      authority_(to.authority),
      timeout_seconds_(to.timeout_seconds) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

void Client::perform(std::string_view name, std::string_view target, std::string_view body, bool compressed,
                     const Reader& reader) {
  const auto failed = [&](ErrorCode code, const std::string& what) {
    fail({code, std::string(name) + ": " + what, std::nullopt, "server " + url_});
  };
  http::Request request;
  request.url = url_ + "/?" + std::string(kSettings) + std::string(target);
  request.body = body;
  request.authority = authority_;
  request.quiet_seconds = timeout_seconds_;
  request.headers = {"Expect:", "Content-Type: application/octet-stream"};
  if (!user_.empty()) request.headers.push_back("X-ClickHouse-User: " + user_);
  if (!password_.empty()) request.headers.push_back("X-ClickHouse-Key: " + password_);
  if (compressed) request.headers.emplace_back("Content-Encoding: gzip");
  Exchange exchange;
  exchange.reader = &reader;
  const Result<http::Answer> answer =
      connection_.perform(request, [&](int status, std::string_view bytes) { return exchange.take(status, bytes); });
  if (exchange.failure) failed(exchange.failure->code, exchange.failure->message);
  if (!answer) failed(answer.error().code, answer.error().message);
  if (answer->status != 200) failed(ErrorCode::io, "the server refused it: " + server_words(exchange.refusal));
  if (!exchange.pending.empty())
    failed(ErrorCode::malformed,
           "the answer ends within a row: " + std::to_string(exchange.pending.size()) + " bytes are left over");
}

void Client::read(std::string_view name, std::string_view query, const Reader& reader, std::string_view settings) {
  perform(name, settings, query, false, reader);
}

std::string Client::text(std::string_view name, std::string_view query) {
  std::string all;
  read(name, query, [&](std::string_view bytes) {
    all += bytes;
    if (all.size() > kMostText) fail({ErrorCode::limit, "the answer is larger than 64 MiB"});
    return bytes.size();
  });
  return all;
}

std::vector<std::string> Client::lines(std::string_view name, std::string_view query) {
  const std::string all = text(name, query);
  std::vector<std::string> out;
  for (std::size_t begin = 0, end; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1)
    out.push_back(all.substr(begin, end - begin));
  return out;
}

std::uint64_t Client::insert(std::string_view name, std::string_view statement, std::string_view rows) {
  const std::string body = gzip(rows);
  perform(name, "&query=" + percent_encoded(statement), body, true,
          [](std::string_view bytes) { return bytes.size(); });
  return body.size();
}

Result<std::string> checked_url(const std::string& url) {
  const bool plain = url.starts_with("http://");
  if (!plain && !url.starts_with("https://"))
    return Error{ErrorCode::usage,
                 "the address of a server begins with http:// or https://; expected e.g. "
                 "https://ch1.example.net:8443"};
  const std::size_t begin = plain ? 7 : 8;
  const std::string host = url.substr(begin, url.find('/', begin) - begin);
  if (host.empty()) return Error{ErrorCode::usage, "the address of a server has no host"};
  if (url.find('@') != std::string::npos)
    return Error{ErrorCode::usage,
                 "the address of a server holds a user: expected SNAPDIFF_FLEET_USER and SNAPDIFF_FLEET_PASSWORD"};
  const bool odd = std::any_of(url.begin(), url.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 32 || static_cast<unsigned char>(c) >= 127;
  });
  if (odd || url.find_first_of("?#") != std::string::npos)
    return Error{ErrorCode::usage, "the address of a server holds more than a host, a port and a path"};
  std::string out = url;
  while (out.ends_with('/')) out.pop_back();
  return out;
}

}  // namespace snapdiff::fleet
