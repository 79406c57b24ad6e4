#include "analyzer/fleet/curl_library.hpp"

#include <dlfcn.h>

namespace snapdiff::fleet {
namespace {

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

}  // namespace

const CurlLibrary& curl_library() {
  static const CurlLibrary curl = open_curl();
  return curl;
}

}  // namespace snapdiff::fleet
