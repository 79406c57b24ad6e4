#include "analyzer/base/toml_bounds.hpp"

#include <algorithm>
#include <cstdint>

namespace snapdiff {
namespace {

/// Follows brackets, strings, comments and keys of a text, whether or not the rest of it is TOML.
class Bounds {
 public:
  explicit Bounds(std::string_view text) : text_(text) {}

  /// What is beyond a bound, or "".
  std::string fault() {
    while (at_ < text_.size() && fault_.empty()) step();
    return fault_;
  }
  std::uint64_t line() const { return line_; }

 private:
  void step() {
    const char c = text_[at_];
    if (in_key_ && c != '\n' && ++key_bytes_ > kMaxTomlKeyBytes)
      fault_ = "key too long: expected at most " + std::to_string(kMaxTomlKeyBytes) + " bytes";
    switch (c) {
      case '\n':
        ++line_;
        if (depth_ == 0 || in_key_) begin_key();
        break;
      case '#': at_ = std::min(text_.find('\n', at_), text_.size()) - 1; break;
      case '"':
      case '\'': skip_string(c); break;
      case '[':
      case '{': open(c); break;
      case ']':
      case '}': close(); break;
      case ',':
        if (depth_ > 0 && kinds_[depth_ - 1] == '{') begin_key();
        break;
      case '=': in_key_ = false; break;
      case '.':
        if (in_key_ && ++parts_ > kMaxTomlDepth) too_deep();
        break;
      default: break;
    }
    ++at_;
  }

  void begin_key() {
    in_key_ = true;
    key_bytes_ = 0;
    parts_ = 1;
  }
  void too_deep() { fault_ = "nested too deep: expected at most " + std::to_string(kMaxTomlDepth) + " levels"; }
  void open(char kind) {
    if (depth_ == kMaxTomlDepth) return too_deep();
    kinds_[depth_++] = kind;
    if (kind == '{') begin_key();
  }
  void close() {
    if (depth_ > 0) --depth_;
    if (depth_ > 0) in_key_ = false;
  }

  /// To the quote that ends the string at at_; one of a single line ends with its line.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool long_string = text_.substr(at_, 3) == three;
    const std::size_t begin = at_;
    at_ += long_string ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!long_string) {
          --at_;  // the line's end is looked at again
          break;
        }
        ++line_;
      } else if (c == '\\' && quote == '"') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      } else if (c == quote && (!long_string || text_.substr(at_, 3) == three)) {
        if (long_string) at_ += 2;
        break;
      }
    }
    at_ = std::min(at_, text_.size() - 1);
    if (in_key_) key_bytes_ += at_ - begin;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
  char kinds_[kMaxTomlDepth] = {};
  std::size_t depth_ = 0;
  bool in_key_ = true;
  std::size_t key_bytes_ = 0;
  std::size_t parts_ = 1;
  std::string fault_;
};

}  // namespace

Status check_toml_bounds(std::string_view text, const std::string& file) {
  if (text.size() > kMaxTomlBytes) {
    return Error{
        ErrorCode::limit,
        "too large: found " + std::to_string(text.size()) + " bytes, expected at most " + std::to_string(kMaxTomlBytes),
        std::nullopt, file};
  }
  Bounds bounds(text);
  const std::string fault = bounds.fault();
  if (fault.empty()) return ok();
  return Error{ErrorCode::limit, "line " + std::to_string(bounds.line()) + ": " + fault, std::nullopt, file};
}

}  // namespace snapdiff
