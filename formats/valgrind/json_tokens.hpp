#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::valgrind {

/// JSON (RFC 8259) token by token, in a stream. Texts are bytes: paths in them need not be valid UTF-8, which is
/// why no library reads these files. Throws ReadFailure: malformed where the grammar is broken, limit beyond 64 levels
/// or for a text beyond 16 MiB, and what Input returns.
class JsonTokens {
 public:
  enum class Kind : std::uint8_t { object_begin, object_end, array_begin, array_end, key, text, number, word, end };

  explicit JsonTokens(Input& in) : in_(in) {}

  /// The next token; `end` only behind the whole value.
  Kind next();
  /// Of a key or a text: decoded, until the next call. Of a number or a word (true, false, null): as written.
  std::string_view text() const { return text_; }
  /// Where the token begins.
  std::uint64_t offset() const { return token_offset_; }

  /// The next token must be a number from 0 to 2^63-1, a text, true or false; `what` names it in the error.
  std::int64_t expect_count(std::string_view what);
  std::string_view expect_text(std::string_view what);
  bool expect_bool(std::string_view what);
  void expect_begin(Kind begin, std::string_view what);
  /// Steps over a whole value.
  void skip_value();

 private:
  enum class State : std::uint8_t { value, first_item, first_key, behind_value, done };
  static constexpr std::size_t kMostDepth = 64;
  static constexpr std::size_t kLongestText = std::size_t{16} << 20;

  char peek();  ///< 0 at the end of the input
  char skip_blanks();
  void advance() { ++at_; }
  std::uint64_t here() const { return in_.offset() + at_; }
  Kind value(char c);
  Kind begin(bool object);
  Kind close();
  void read_text();
  void read_escape();
  std::uint32_t read_hex4();
  void append_utf8(std::uint32_t code);
  [[noreturn]] void unexpected(std::string_view expected);

  Input& in_;
  std::string_view window_;
  std::size_t at_ = 0;
  State state_ = State::value;
  std::vector<bool> is_object_;
  std::string text_;
  std::uint64_t token_offset_ = 0;
};

}  // namespace snapdiff::formats::valgrind
