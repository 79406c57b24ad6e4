#include "analyzer/fleet/query_guard.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "analyzer/base/failure.hpp"

namespace snapdiff::fleet {
namespace {

/// A word (lower case unless quoted), a text, a number or one symbol.
struct Token {
  enum class Kind : std::uint8_t { word, quoted, text, symbol };
  Kind kind = Kind::symbol;
  std::string text;
  bool is(std::string_view what) const { return kind != Kind::quoted && kind != Kind::text && text == what; }
  bool is_name() const { return kind == Kind::word || kind == Kind::quoted; }
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

/// From the opening quote at `at`; leaves `at` behind the closing one.
std::string take_quoted(std::string_view query, std::size_t& at) {
  const char quote = query[at++];
  std::string out;
  for (; at < query.size(); ++at) {
    if (query[at] == quote) {
      if (at + 1 >= query.size() || query[at + 1] != quote) break;
      ++at;  // doubled
    } else if (query[at] == '\\' && at + 1 < query.size()) {
      ++at;
    }
    out += query[at];
  }
  if (at++ >= query.size()) fail({ErrorCode::usage, std::string("a quote is not closed: ") + quote});
  return out;
}

/// Behind spaces and comments.
void skip_blank(std::string_view query, std::size_t& at) {
  while (at < query.size()) {
    const std::string_view rest = query.substr(at);
    if (std::isspace(static_cast<unsigned char>(rest[0])) != 0) {
      ++at;
    } else if (rest.starts_with("--") || rest.starts_with("#")) {
      at = std::min(query.size(), query.find('\n', at));
    } else if (rest.starts_with("/*")) {
      const std::size_t end = query.find("*/", at + 2);
      if (end == std::string_view::npos) fail({ErrorCode::usage, "a comment is not closed"});
      at = end + 2;
    } else {
      return;
    }
  }
}

std::vector<Token> tokens_of(std::string_view query) {
  std::vector<Token> out;
  std::size_t at = 0;
  for (skip_blank(query, at); at < query.size(); skip_blank(query, at)) {
    const char c = query[at];
    if (c == '\'') {
      out.push_back({Token::Kind::text, take_quoted(query, at)});
    } else if (c == '`' || c == '"') {
      out.push_back({Token::Kind::quoted, take_quoted(query, at)});
    } else if (is_word(c)) {
      std::string word;
      for (; at < query.size() && is_word(query[at]); ++at)
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(query[at])));
      out.push_back({Token::Kind::word, std::move(word)});
    } else {
      out.push_back({Token::Kind::symbol, std::string(1, c)});
      ++at;
    }
  }
  return out;
}

template <std::size_t Count>
bool is_one_of(const Token& token, const std::array<std::string_view, Count>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return token.is(word); });
}

constexpr std::array<std::string_view, 8> kReads = {"select", "with",   "show",    "describe",
                                                    "desc",   "exists", "explain", "("};
constexpr std::array<std::string_view, 3> kBeforeTable = {"from", "join", "table"};
/// Words that end the tables of a FROM.
constexpr std::array<std::string_view, 13> kAfterTables = {"where",  "prewhere", "group",    "order",  "having",
                                                           "limit",  "union",    "settings", "format", "array",
                                                           "sample", "on",       "using"};
/// Functions that reach files or other servers where an expression stands.
constexpr std::array<std::string_view, 5> kReaching = {"file", "url", "remote", "executable", "reversednsquery"};

class Guard {
 public:
  Guard(std::vector<Token> tokens, std::string_view database) : tokens_(std::move(tokens)), database_(database) {}

  void run() {
    if (tokens_.empty() || !is_one_of(tokens_.front(), kReads))
      fail({ErrorCode::usage, "fleet sql reads: expected SELECT, WITH, SHOW, DESCRIBE, EXISTS or EXPLAIN"});
    for (std::size_t i = 0; i < tokens_.size(); ++i) look_at(i);
  }

 private:
  const Token& at(std::size_t i) const {
    static const Token none;
    return i < tokens_.size() ? tokens_[i] : none;
  }

  void look_at(std::size_t i) {
    const Token& token = tokens_[i];
    if (token.is("(")) in_tables_.push_back(false);
    if (token.is(")") && in_tables_.size() > 1) in_tables_.pop_back();
    if (is_one_of(token, kBeforeTable)) {
      if (i > 0 && at(i - 1).is("array")) return;  // ARRAY JOIN names columns
      in_tables_.back() = true;
      check_table(i + 1);
    } else if (is_one_of(token, kAfterTables)) {
      in_tables_.back() = false;
    } else if (token.is(",") && in_tables_.back()) {
      check_table(i + 1);
    } else if (token.is("in")) {
      check_set(i + 1);
    } else if (token.is_name() && at(i + 1).is("(")) {
      check_function(token);
    }
  }

  void check_table(std::size_t i) const {
    const Token& name = at(i);
    if (!name.is_name() || name.is("select")) return;  // a query of its own
    if (at(i + 1).is("(")) {
      if (!name.is("numbers") && !name.is("numbers_mt")) refuse(name.text + "()");
      return;
    }
    if (!at(i + 1).is(".")) return;
    if (name.text != database_ && name.text != "system") refuse("a table of " + name.text);
  }

  /// x IN table, x IN table_function(...).
  void check_set(std::size_t i) const {
    const Token& name = at(i);
    if (name.is_name() && at(i + 1).is("(") && !name.is("tuple") && !name.is("array")) return check_table(i);
    if (name.is_name() && at(i + 1).is(".")) check_table(i);
  }

  static void check_function(const Token& name) {
    std::string lower = name.text;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool reaches = std::find(kReaching.begin(), kReaching.end(), lower) != kReaching.end();
    if (reaches || lower.starts_with("dict") || lower.starts_with("joinget")) refuse(name.text + "()");
  }

  [[noreturn]] static void refuse(const std::string& what) {
    fail({ErrorCode::usage,
          "fleet sql does not read " + what + ": expected tables of the fleet, of system, or numbers()"});
  }

  std::vector<Token> tokens_;
  std::string_view database_;
  std::vector<bool> in_tables_{false};
};

}  // namespace

Status check_query(std::string_view query, std::string_view database) {
  return guarded([&] { Guard(tokens_of(query), database).run(); });
}

}  // namespace snapdiff::fleet
