#include "formats/metric_log/printed_object.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "formats/metric_log/metric_text.hpp"

namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kMostObjectBytes = 64 * 1024;
constexpr std::size_t kMostBrackets = 32;  // of nesting

bool is_opening(char c) { return c == '{' || c == '[' || c == '('; }
bool is_closing(char c) { return c == '}' || c == ']' || c == ')'; }
char closing_of(char c) { return c == '{' ? '}' : c == '[' ? ']' : ')'; }
bool is_key_letter(char c) { return is_word(c) || c == '$' || c == '.' || c == '-' || c == '/'; }

/// Takes a bracket into those that are `open`. False where one closes that is not, and where too many are.
bool follow(char c, std::vector<char>& open) {
  if (is_opening(c)) {
    open.push_back(c);
    return open.size() <= kMostBrackets;
  }
  if (!is_closing(c)) return true;
  if (open.empty() || closing_of(open.back()) != c) return false;
  open.pop_back();
  return true;
}

/// Texts in quotes, of one line.
class Quotes {
 public:
  /// Takes the text in quotes at the cursor; `text` is without them. False where it does not end on the line.
  bool take(Cursor& at, std::string_view& text) {
    const std::string_view rest = at.rest();
    if (rest.empty() || !is_quote(rest.front()) || contains(unended_, rest.substr(0, 1))) return false;
    for (std::size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == rest.front()) {
        text = rest.substr(1, i - 1);
        return at.take(rest.substr(0, i + 1));
      }
      if (rest[i] == '\\') ++i;
    }
    unended_ += rest.front();
    return false;
  }

 private:
  std::string unended_;  // where one does not end, no later one of its kind does: the line is read to its end once
};

/// Takes "name:", "'name' =>", ":name =>" or "name =".
bool take_key(Cursor& at, Quotes& quotes, std::string_view& key) {
  const Cursor begin = at;
  at.skip_blanks();
  if (!quotes.take(at, key)) {
    at.take(':');
    const char* const first = at.position();
    while (is_key_letter(at.peek())) at.take(at.peek());
    key = {first, static_cast<std::size_t>(at.position() - first)};
  }
  at.skip_blanks();
  if (!key.empty() && (at.take("=>") || at.take(':') || at.take('='))) return true;
  at = begin;
  return false;
}

bool has_key(std::string_view text) {
  Cursor at(text);
  Quotes quotes;
  std::string_view key;
  return take_key(at, quotes, key);
}

bool is_json_number(std::string_view text) {
  Decimal number;
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool has_zeros = text.size() > 1 && text[0] == '0' && text[1] != '.';
  return !text.empty() && is_digit(text.front()) && is_digit(text.back()) && !has_zeros && !contains(text, ",") &&
         parse_decimal(text, 0, number) == text.size();
}

/// Turns a printed object into JSON.
class Printed {
 public:
  explicit Printed(std::string_view text) : at_(text) {}

  bool read() {
    if (!value()) return false;
    do at_.skip_blanks();
    while (at_.take(',') || at_.take(';'));
    return at_.at_end() && out_.starts_with('{');
  }
  std::string take() { return std::move(out_); }

 private:
  bool value() {
    at_.skip_blanks();
    if (is_opening(at_.peek())) return list();
    std::string_view text;
    if (quotes_.take(at_, text)) {
      write_text(text);
      return true;
    }
    text = bare();
    if (text.empty()) return false;
    if (is_opening(at_.peek()) && is_letter(text.front())) return list();  // the name of a class
    if (text.ends_with('n') && is_json_number(text.substr(0, text.size() - 1)))
      text.remove_suffix(1);  // JavaScript's 5n
    if (is_json_number(text)) {
      out_ += text;
    } else if (is_digit(text.front())) {
      write_text(text);
    } else {
      out_ += "null";
    }
    return true;
  }

  /// Up to a comma, a bracket or the next key: "12", "496.01 MB", "undefined".
  std::string_view bare() {
    const char* const first = at_.position();
    while (!at_.at_end() && at_.peek() != ',' && !is_opening(at_.peek()) && !is_closing(at_.peek())) {
      Cursor ahead = at_;
      std::string_view key;
      if (is_blank(at_.peek()) && take_key(ahead, quotes_, key)) break;
      if (!at_.skip_blanks()) at_.take(at_.peek());
    }
    return trim({first, static_cast<std::size_t>(at_.position() - first)});
  }

  bool list() {
    if (++depth_ > kMostBrackets) return false;
    const char end = closing_of(at_.peek());
    at_.take(at_.peek());
    Cursor ahead = at_;
    std::string_view key;
    const bool has_keys = take_key(ahead, quotes_, key);
    out_ += has_keys ? '{' : '[';
    for (bool is_first = true;; is_first = false) {
      do at_.skip_blanks();
      while (at_.take(','));
      if (at_.take(end)) break;
      if (!is_first) out_ += ',';
      if (has_keys && !take_key(at_, quotes_, key)) return false;
      if (has_keys) {
        write_text(key);
        out_ += ':';
      }
      if (!value()) return false;
    }
    out_ += has_keys ? '}' : ']';
    --depth_;
    return true;
  }

  void write_text(std::string_view text) {
    out_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out_ += '\\';
      out_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    out_ += '"';
  }

  Cursor at_;
  Quotes quotes_;
  std::string out_;
  std::size_t depth_ = 0;
};

/// Whether a line may stand within an object: a member, an item of a list, or brackets.
bool is_part(std::string_view text) {
  const char first = text.empty() ? ' ' : text.front();
  return is_opening(first) || is_closing(first) || is_quote(first) || is_digit(first) || has_key(text);
}

/// "rss: 5" or "rss=5", not the time "10:05".
bool holds_value(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if ((text[i] != ':' && text[i] != '=') || !is_letter(text[i - 1])) continue;
    const std::string_view behind = trim(text.substr(i + 1));
    if (!behind.empty() && is_digit(behind.front())) return true;
  }
  return false;
}

}  // namespace

bool ObjectLines::next(LogLine& line) {
  for (;;) {
    if (!ready_.empty()) {
      current_ = std::move(ready_.front());
      ready_.pop_front();
      line = {current_.text, current_.offset, current_.terminated};
      return true;
    }
    LogLine read;
    if (!lines_.next(read.text)) {
      if (open_.empty()) return false;
      give_up();
      continue;
    }
    read.offset = lines_.line_offset();
    read.terminated = lines_.terminated();
    if (joins_ && (take(read) || (open_.empty() && split(read)))) continue;
    const bool was_open = !open_.empty();
    give_up();
    if (was_open && (take(read) || split(read))) continue;
    if (ready_.empty()) {
      line = read;
      return true;
    }
    ready_.push_back({std::string(read.text), read.offset, read.terminated});
  }
}

bool ObjectLines::take(const LogLine& line) {
  const std::string_view text = trim(line.text);
  if (open_.empty()) {
    if (text.empty() || (text.back() != '{' && text.back() != '[')) return false;
  } else {
    // A list of values holds no numbers that have a name.
    const bool begins_list = open_.size() == 1 && brackets_.back() == '[' && !has_key(text);
    if (begins_list || !is_part(text) || bytes_ + text.size() > kMostObjectBytes) return false;
  }
  if (!read_brackets(text)) return false;
  open_.push_back({std::string(open_.empty() ? std::string_view(line.text) : text), line.offset, line.terminated});
  bytes_ += text.size();
  if (!brackets_.empty()) return true;
  Line whole = std::move(open_.front());
  for (std::size_t i = 1; i < open_.size(); ++i) whole.text.append(" ").append(open_[i].text);
  whole.text.erase(whole.text.find_last_not_of(", ") + 1);
  whole.terminated = line.terminated;
  open_.clear();
  bytes_ = 0;
  ++objects_;
  ready_.push_back(std::move(whole));
  return true;
}

/// Of "[{...}, {...}]" each object by itself. False where the line is something else.
bool ObjectLines::split(const LogLine& line) {
  const std::string_view text = line.text;
  Cursor at(text);
  at.skip_blanks();
  if (!at.take('[')) return false;
  std::vector<Line> objects;
  std::vector<char> brackets{'['};
  Quotes quotes;
  std::string_view unused;
  for (std::size_t begin = 0; !at.at_end() && !brackets.empty();) {
    const auto place = static_cast<std::size_t>(at.position() - text.data());
    const char c = at.peek();
    const bool is_item = brackets.size() == 1;
    if (is_item && c != '{' && c != ',' && c != ']' && !is_blank(c)) return false;
    if (quotes.take(at, unused)) continue;
    at.take(c);
    if (is_opening(c) && is_item) begin = place;
    if (!follow(c, brackets)) return false;
    if (is_closing(c) && brackets.size() == 1)
      objects.push_back({std::string(text.substr(begin, place + 1 - begin)), line.offset + begin, true});
  }
  if (objects.empty() || !brackets.empty() || !trim(at.rest()).empty()) return false;
  objects_ += objects.size();
  std::move(objects.begin(), objects.end(), std::back_inserter(ready_));
  return true;
}

/// False where one closes that is not open, and where too many are.
bool ObjectLines::read_brackets(std::string_view text) {
  std::vector<char> brackets = brackets_;
  Quotes quotes;
  std::string_view unused;
  for (Cursor at(text); !at.at_end();) {
    const char c = at.peek();
    if (quotes.take(at, unused)) continue;
    at.take(c);
    if (!follow(c, brackets)) return false;
  }
  brackets_ = std::move(brackets);
  return true;
}

void ObjectLines::give_up() {
  if (open_.size() > 1) ++broken_;
  std::move(open_.begin(), open_.end(), std::back_inserter(ready_));
  open_.clear();
  brackets_.clear();
  bytes_ = 0;
}

std::optional<std::string> json_of_printed(std::string_view text) {
  text = trim(text);
  std::size_t begin = text.find('{');
  if (begin == std::string_view::npos) begin = text.find('[');
  if (begin == std::string_view::npos || !contains("}]", text.substr(text.size() - 1))) return std::nullopt;
  if (holds_value(text.substr(0, begin))) return std::nullopt;
  Printed object(text.substr(begin));
  if (!object.read()) return std::nullopt;
  return object.take();
}

}  // namespace snapdiff::formats::metric_log
