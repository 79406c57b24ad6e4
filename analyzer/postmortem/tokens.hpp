#pragma once

#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/postmortem/make_postmortem.hpp"

namespace snapdiff::postmortem {

/// Tokens of names: twelve hex digits of HMAC-SHA-256 (RFC 2104, FIPS 180-4) over the name, with the key; the kind
/// of name is the word before them. What it hands out lives as long as it does. Safe to use from several threads.
class Redactor::Tokens {
 public:
  explicit Tokens(std::string_view key) : key_(key) {}

  /// "fn_0123456789ab"; where the short name is not the whole one, four digits more in brackets, so that the short
  /// name of the token is the token of the short name. Places ("app/cache.py:9") are those of their path.
  std::string_view function(std::string_view name);
  /// "dir_01234567/file_0123456789ab.py".
  std::string_view path(std::string_view path);
  std::string_view word(std::string_view text);
  /// A column, unit, program or form of a file: as it is where all its words are of a list of harmless ones and the
  /// rest are digits and signs, else the token of the whole.
  std::string_view harmless(std::string_view text);
  std::string_view operand(std::string_view ref);
  /// Of a name in a sentence: the token it has elsewhere.
  std::string_view span(std::string_view text);
  /// A text of unknown make-up: all names met before, whatever is in quotes, and paths.
  std::string text(std::string_view text);
  FrameView frame(const FrameView& frame);

 private:
  std::string digits(std::string_view text, std::size_t count) const;
  std::string file_token(std::string_view base_name) const;
  std::string path_token(std::string_view path) const;
  std::string_view keep(std::string token);
  std::string_view remember(std::string_view original, std::string token);
  std::string_view known(std::string_view original) const;
  std::string_view function_locked(std::string_view name);
  std::string_view path_locked(std::string_view path);

  std::string key_;
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;  ///< addresses stay
  std::unordered_map<std::string_view, std::string_view> token_of_;
  std::unordered_map<std::string_view, std::string_view>
      path_of_;                                    ///< base names and paths: a function may be called alike
  std::set<std::size_t, std::greater<>> lengths_;  ///< of the names in both
};

}  // namespace snapdiff::postmortem
