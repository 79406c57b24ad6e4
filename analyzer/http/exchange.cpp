#include "analyzer/http/exchange.hpp"

#ifdef SNAPDIFF_HAS_CURL
#define CURL_DISABLE_TYPECHECK  // it wraps functions that are called through pointers here
#include <curl/curl.h>
#include <dlfcn.h>

#include <array>
#endif

namespace snapdiff::http {

#ifdef SNAPDIFF_HAS_CURL
namespace {

/// Linked, libcurl's thirty libraries would double the time that every other command takes to start. Functions are null
/// where it is not installed.
struct CurlLibrary {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_reset) easy_reset = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  bool is_open = false;
};

template <class Function>
bool find_in(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, name));
  return out != nullptr;
}

CurlLibrary open_curl() {
  CurlLibrary curl;
  // By name alone: the loader looks where it looks for every library of the system.
  void* const library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return curl;
  curl.is_open =
      find_in(library, "curl_global_init", curl.global_init) && find_in(library, "curl_easy_init", curl.easy_init) &&
      find_in(library, "curl_easy_reset", curl.easy_reset) && find_in(library, "curl_easy_setopt", curl.easy_setopt) &&
      find_in(library, "curl_easy_perform", curl.easy_perform) &&
      find_in(library, "curl_easy_getinfo", curl.easy_getinfo) &&
      find_in(library, "curl_easy_strerror", curl.easy_strerror) &&
      find_in(library, "curl_easy_cleanup", curl.easy_cleanup) &&
      find_in(library, "curl_slist_append", curl.slist_append) &&
      find_in(library, "curl_slist_free_all", curl.slist_free_all) && curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return curl;
}

/// The same for the whole process; threads wait for the first.
const CurlLibrary& curl_library() {
  static const CurlLibrary curl = open_curl();
  return curl;
}

/// Parts of an answer, as libcurl hands them on.
struct Incoming {
  CURL* curl;
  const Take* take;
  bool stopped = false;

  static std::size_t receive(char* data, std::size_t, std::size_t size, void* self) {
    auto* const incoming = static_cast<Incoming*>(self);
    long status = 0;
    if (curl_library().is_open) curl_library().easy_getinfo(incoming->curl, CURLINFO_RESPONSE_CODE, &status);
    incoming->stopped = !(*incoming->take)(static_cast<int>(status), {data, size});
    return incoming->stopped ? 0 : size;
  }
};

}  // namespace

struct Connection::Handle {
  CURL* curl = nullptr;
  Handle() {
    if (curl_library().is_open) curl = curl_library().easy_init();
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (curl != nullptr && curl_library().is_open) curl_library().easy_cleanup(curl);
  }
};

Result<Answer> Connection::perform(const Request& request, const Take& take) {
  CURL* const curl = handle_->curl;
  if (curl == nullptr)
    return Error{ErrorCode::io,
                 "libcurl.so.4 is not installed or cannot be started; on Debian: apt-get install libcurl4"};
  const CurlLibrary& library = curl_library();
  library.easy_reset(curl);
  curl_slist* headers = nullptr;
  for (const std::string& line : request.headers) headers = library.slist_append(headers, line.c_str());
  const std::unique_ptr<curl_slist, decltype(library.slist_free_all)> kept(headers, library.slist_free_all);

  Incoming incoming{curl, &take};
  std::array<char, CURL_ERROR_SIZE> words{};
  library.easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  library.easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  if (request.body) {
    library.easy_setopt(curl, CURLOPT_POST, 1L);
    library.easy_setopt(curl, CURLOPT_POSTFIELDS, request.body->data());
    library.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
  }
  library.easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Incoming::receive);
  library.easy_setopt(curl, CURLOPT_WRITEDATA, &incoming);
  library.easy_setopt(curl, CURLOPT_ERRORBUFFER, words.data());
  if (request.unpack) library.easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
  library.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  library.easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  library.easy_setopt(curl, CURLOPT_PROXY, "");  // servers are asked directly, whatever the environment says
  library.easy_setopt(curl, CURLOPT_NETRC, CURL_NETRC_IGNORED);
  library.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  library.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
  library.easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  library.easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.quiet_seconds));
  if (request.most_seconds > 0) library.easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(request.most_seconds));
  if (request.most_bytes > 0)
    library.easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(request.most_bytes));
  library.easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  library.easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!request.authority.empty()) library.easy_setopt(curl, CURLOPT_CAINFO, request.authority.c_str());

  const CURLcode code = library.easy_perform(curl);
  long status = 0;
  library.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  char* redirect = nullptr;
  library.easy_getinfo(curl, CURLINFO_REDIRECT_URL, &redirect);
  if (code != CURLE_OK && !incoming.stopped)
    return Error{code == CURLE_FILESIZE_EXCEEDED ? ErrorCode::limit : ErrorCode::io,
                 words[0] != '\0' ? std::string(words.data()) : std::string(library.easy_strerror(code))};
  return Answer{static_cast<int>(status), redirect == nullptr ? "" : redirect, incoming.stopped};
}
#else
struct Connection::Handle {};

Result<Answer> Connection::perform(const Request&, const Take&) {
  return Error{ErrorCode::unsupported, "this program was built without connections"};
}
#endif

Connection::Connection() : handle_(std::make_unique<Handle>()) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

}  // namespace snapdiff::http
