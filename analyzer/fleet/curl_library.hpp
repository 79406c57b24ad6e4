#pragma once

#define CURL_DISABLE_TYPECHECK  // it wraps functions that are called through pointers here
#include <curl/curl.h>

namespace snapdiff::fleet {

/// libcurl, opened when the first connection is asked for: linked, its thirty libraries would double the time that
/// every other command takes to start. Functions are null where it is not installed.
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

/// The same for the whole process; threads wait for the first.
const CurlLibrary& curl_library();

}  // namespace snapdiff::fleet
