#include "formats/json/json_walk.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/input/read_failure.hpp"
#include "formats/text/in_quotes.hpp"

namespace snapdiff::formats::json {

namespace {

constexpr std::size_t kMostDepth = 64;
constexpr std::size_t kMostToken = std::size_t{64} << 20;
constexpr std::size_t kChunk = std::size_t{64} << 10;

/// The bytes of an Input one by one. What the parser has taken is consumed.
class Bytes {
 public:
  explicit Bytes(Input& in) : in_(in) {}
  ~Bytes() { in_.consume(at_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  bool ended() {
    if (at_ < view_.size()) return false;
    in_.consume(std::exchange(at_, 0));
    view_ = {};
    view_ = value_or_throw(in_.peek(kChunk));
    return view_.empty();
  }
  char front() const { return view_[at_]; }
  void next() {
    ++at_;
    if (++since_event_ > kMostToken) {
      fail(ErrorCode::limit, "JSON text too long: expected at most 67108864 bytes", offset());
    }
  }
  void event() { since_event_ = 0; }
  std::uint64_t offset() const { return in_.offset() + at_; }

 private:
  Input& in_;
  std::string_view view_;
  std::size_t at_ = 0;
  std::size_t since_event_ = 0;
};

/// Bytes for nlohmann's parser; one without bytes is the end.
class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit ByteIterator(Bytes* bytes) : bytes_(bytes) {}
  char operator*() const { return bytes_->front(); }
  ByteIterator& operator++() {
    bytes_->next();
    return *this;
  }
  ByteIterator operator++(int) {
    ByteIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const ByteIterator& a, const ByteIterator& b) { return a.ended() == b.ended(); }
  friend bool operator!=(const ByteIterator& a, const ByteIterator& b) { return !(a == b); }

 private:
  bool ended() const { return bytes_ == nullptr || bytes_->ended(); }
  Bytes* bytes_;
};

}  // namespace

/// The parser's events with the path added.
class Events {
 public:
  Events(Bytes& bytes, Walk& walk) : bytes_(bytes), walk_(walk) {}

  bool null() {
    return value([] {});
  }
  bool boolean(bool) {
    return value([] {});
  }
  bool number_integer(std::int64_t number) {
    return value([&] { walk_.number(number); });
  }
  bool number_unsigned(std::uint64_t number) {
    return value([&] {
      if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        walk_.number(static_cast<std::int64_t>(number));
      } else {
        walk_.real(static_cast<double>(number));
      }
    });
  }
  bool number_float(double number, const std::string&) {
    return value([&] { walk_.real(number); });
  }
  bool string(std::string& text) {
    return value([&] { walk_.text(text); });
  }
  bool binary(nlohmann::json::binary_t&) {
    return value([] {});
  }
  bool start_object(std::size_t) { return open(false); }
  bool key(std::string& name) {
    event();
    walk_.path_.back().key = name;
    return true;
  }
  bool end_object() { return close(false); }
  bool start_array(std::size_t) { return open(true); }
  bool end_array() { return close(true); }

  bool parse_error(std::size_t, const std::string& token, const nlohmann::detail::exception&) {
    const std::uint64_t at = bytes_.offset();
    if (bytes_.ended()) fail(ErrorCode::malformed, "truncated JSON: the input ends inside a value", at);
    fail(ErrorCode::malformed, "malformed JSON: found " + text::in_quotes(token) + ", expected JSON (RFC 8259)", at);
  }

 private:
  void event() {
    bytes_.event();
    walk_.offset_ = bytes_.offset();
  }
  template <class Call>
  bool value(Call call) {
    event();
    call();
    if (!walk_.path_.empty()) ++walk_.path_.back().index;
    return true;
  }
  bool open(bool array) {
    event();
    if (walk_.path_.size() == kMostDepth) {
      fail(ErrorCode::limit, "JSON nested too deeply: expected at most 64 levels", bytes_.offset());
    }
    walk_.opened(array);
    walk_.path_.push_back({});
    return true;
  }
  bool close(bool array) {
    event();
    walk_.path_.pop_back();
    walk_.closed(array);
    if (!walk_.path_.empty()) ++walk_.path_.back().index;
    return true;
  }

  Bytes& bytes_;
  Walk& walk_;
};

bool Walk::at(std::initializer_list<std::string_view> path) const {
  return path.size() == path_.size() &&
         std::equal(path.begin(), path.end(), path_.begin(),
                    [](std::string_view wanted, const Level& level) { return wanted == "*" || wanted == level.key; });
}

bool read_value(Input& in, Walk& walk) {
  Bytes bytes(in);
  while (!bytes.ended()) {
    const char c = bytes.front();
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') break;
    bytes.next();
    bytes.event();
  }
  if (bytes.ended()) return false;
  Events events(bytes, walk);
  nlohmann::json::sax_parse(ByteIterator(&bytes), ByteIterator(nullptr), &events, nlohmann::json::input_format_t::json,
                            false);
  return true;
}

}  // namespace snapdiff::formats::json
