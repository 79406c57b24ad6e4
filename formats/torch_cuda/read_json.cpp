#include "formats/torch_cuda/read_json.hpp"

#include <bit>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/pickle_bytes.hpp"
#include "formats/pickle/utf8.hpp"
#include "formats/torch_cuda/records.hpp"

namespace snapdiff::formats::torch_cuda {
namespace {

using pickle::kNoKey;
using pickle::make_value;

constexpr std::size_t kMostDepth = 64;
constexpr std::size_t kShortText = 64;
constexpr std::size_t kLongestText = std::size_t{1} << 20;
constexpr std::size_t kLongestNumber = 400;
constexpr std::size_t kShortTotal = std::size_t{8} << 20;

/// Reads JSON (RFC 8259) token by token and hands containers to Records as pickle::Machine does.
class JsonReader {
 public:
  JsonReader(Input& in, pickle::Pools& pools, Records& records) : bytes_(in), pools_(pools), records_(records) {}

  void run() {
    char c = next_token();
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (c == kByteOrderMark[0] && holds(kByteOrderMark)) {
      p_ += kByteOrderMark.size();
      c = next_token();
    }
    if (c != '{' && c != '[') fail_malformed("not JSON: expected { or [", offset());
    value();
    while (!levels_.empty()) step();
    while (bytes_.end() != p_ || bytes_.more(p_, 1)) {
      const char behind = *p_;
      if (behind != ' ' && behind != '\n' && behind != '\r' && behind != '\t' && behind != '\0') {
        records_.builder().notes().add(Severity::warning, "bytes after the end of the JSON value, ignored", offset());
        break;
      }
      ++p_;
    }
  }

 private:
  struct Level {
    Role role = kNowhere;
    Kind kind = Kind::dict;
    std::uint32_t key = kNoKey;
    bool empty = true;
  };

  std::uint64_t offset() const { return bytes_.offset_of(p_); }

  /// The byte at p_, 0 behind the end.
  char peek() {
    if (p_ == bytes_.end() && !bytes_.more(p_, 1)) return '\0';
    return *p_;
  }
  /// Whether these bytes come next.
  bool holds(std::string_view bytes) {
    if (static_cast<std::size_t>(bytes_.end() - p_) < bytes.size() && !bytes_.more(p_, bytes.size())) return false;
    return std::string_view(p_, bytes.size()) == bytes;
  }
  char next_token() {
    for (;;) {
      const char c = peek();
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
      ++p_;
    }
  }
  [[noreturn]] void unexpected(std::string_view expected) {
    const char c = peek();
    if (p_ == bytes_.end()) fail_malformed("truncated JSON: input ends, expected " + std::string(expected), offset());
    std::string found(1, c >= 0x20 && c < 0x7f ? c : '?');
    fail_malformed("malformed JSON: found '" + found + "', expected " + std::string(expected), offset());
  }
  void expect(char wanted, std::string_view name) {
    if (next_token() != wanted || p_ == bytes_.end()) unexpected(name);
    ++p_;
  }

  /// The next member, item or end of the innermost container.
  void step() {
    Level& level = levels_.back();
    const char end = level.kind == Kind::dict ? '}' : ']';
    if (next_token() == end) {
      ++p_;
      end_container();
      return;
    }
    if (!level.empty) {
      expect(',', level.kind == Kind::dict ? ", or }" : ", or ]");
      next_token();
    }
    level.empty = false;
    if (level.kind == Kind::dict) {
      if (peek() != '"') unexpected("a key");
      const Value key = text(kNowhere, kNoKey);
      levels_.back().key = key.kind == Kind::text ? static_cast<std::uint32_t>(key.bits) : kNoKey;
      expect(':', ":");
      next_token();
    }
    value();
  }

  void value() {
    const char c = peek();
    if (c == '{' || c == '[') {
      ++p_;
      begin_container(c == '{' ? Kind::dict : Kind::list);
    } else if (c == '"') {
      const Level& level = levels_.back();
      deliver(text(level.role, level.kind == Kind::dict ? level.key : kNoKey));
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      deliver(number());
    } else if (c == 't') {
      literal("true");
      deliver(make_value(Kind::boolean, 1));
    } else if (c == 'f') {
      literal("false");
      deliver(make_value(Kind::boolean, 0));
    } else if (c == 'n') {
      literal("null");
      deliver(make_value(Kind::none));
    } else {
      unexpected("a value");
    }
  }

  void literal(std::string_view word) {
    for (const char c : word) {
      if (peek() != c || p_ == bytes_.end()) unexpected(word);
      ++p_;
    }
  }

  void begin_container(Kind kind) {
    if (levels_.size() == kMostDepth) fail_malformed("nested too deeply: expected at most 64 levels", offset());
    Level level;
    level.kind = kind;
    records_.at(offset());
    if (levels_.empty()) {
      level.role = records_.root_role(kind);
    } else if (const Level& parent = levels_.back(); parent.kind == Kind::list || parent.key != kNoKey) {
      level.role = child_place(parent.role, parent.kind == Kind::list ? kNoKey : parent.key, kind);
    }
    if (level.role != kNowhere) records_.open(level.role);
    levels_.push_back(level);
  }

  void end_container() {
    const Level level = levels_.back();
    levels_.pop_back();
    records_.at(offset());
    Value made = make_value(level.kind);
    if (level.role != kNowhere) made = records_.close(level.role);
    made.flags = pickle::kOwn;
    if (!levels_.empty()) deliver(made);
  }

  void deliver(const Value& value) {
    const Level& parent = levels_.back();
    if (parent.role == kNowhere) return;
    records_.at(offset());
    if (parent.kind == Kind::list) {
      records_.item(parent.role, value);
    } else {
      records_.field(parent.role, parent.key, value);
    }
  }

  Value number() {
    scratch_.clear();
    bool real = false;
    for (;;) {
      const char c = peek();
      if (p_ == bytes_.end()) break;
      if (c == '.' || c == 'e' || c == 'E') real = true;
      if (!(c >= '0' && c <= '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E') break;
      if (scratch_.size() == kLongestNumber) return skip_number();
      scratch_ += c;
      ++p_;
    }
    const char* const begin = scratch_.data();
    const char* const end = begin + scratch_.size();
    if (!real) {
      std::int64_t whole = 0;
      if (const auto parsed = std::from_chars(begin, end, whole); parsed.ec == std::errc{} && parsed.ptr == end)
        return make_value(Kind::integer, static_cast<std::uint64_t>(whole));
      std::uint64_t big = 0;
      if (const auto parsed = std::from_chars(begin, end, big); parsed.ec == std::errc{} && parsed.ptr == end)
        return make_value(Kind::big, big);
      if (scratch_.find_first_not_of("0123456789", scratch_[0] == '-' ? 1 : 0) == std::string::npos && scratch_ != "-")
        return make_value(Kind::huge);
      fail_malformed("malformed JSON: number " + scratch_, offset());
    }
    double number = 0;
    const auto parsed = std::from_chars(begin, end, number);
    if (parsed.ptr != end || (parsed.ec != std::errc{} && parsed.ec != std::errc::result_out_of_range))
      fail_malformed("malformed JSON: number " + scratch_, offset());
    return make_value(Kind::real, std::bit_cast<std::uint64_t>(number));
  }

  Value skip_number() {
    for (char c = peek(); c >= '0' && c <= '9'; c = peek()) ++p_;
    return make_value(Kind::huge);
  }

  unsigned hex4() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++p_) {
      const char c = peek();
      const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                             : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                             : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                    : 16U;
      if (digit == 16) unexpected("four hexadecimal digits");
      code = code * 16 + digit;
    }
    return code;
  }

  static void append_utf8(std::string& out, unsigned code) {
    const auto byte = [&out](unsigned b) { out += static_cast<char>(b); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xc0 | code >> 6);
      byte(0x80 | (code & 63));
    } else if (code < 0x10000) {
      byte(0xe0 | code >> 12);
      byte(0x80 | (code >> 6 & 63));
      byte(0x80 | (code & 63));
    } else {
      byte(0xf0 | code >> 18);
      byte(0x80 | (code >> 12 & 63));
      byte(0x80 | (code >> 6 & 63));
      byte(0x80 | (code & 63));
    }
  }

  void escape() {
    const char c = peek();
    if (p_ == bytes_.end()) unexpected("an escape");
    ++p_;
    switch (c) {
      case 'n': scratch_ += '\n'; return;
      case 't': scratch_ += '\t'; return;
      case 'r': scratch_ += '\r'; return;
      case 'b': scratch_ += '\b'; return;
      case 'f': scratch_ += '\f'; return;
      case '"':
      case '\\':
      case '/': scratch_ += c; return;
      case 'u': break;
      default: --p_; unexpected("an escape");
    }
    unsigned code = hex4();
    if (code >= 0xd800 && code < 0xdc00 && peek() == '\\') {
      ++p_;
      if (peek() == 'u') {
        ++p_;
        const unsigned low = hex4();
        if (low >= 0xdc00 && low < 0xe000) {
          append_utf8(scratch_, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
          return;
        }
        append_utf8(scratch_, code);
        code = low;
      } else {
        append_utf8(scratch_, code);
        escape();
        return;
      }
    }
    append_utf8(scratch_, code);
  }

  Value text(Role role, std::uint32_t key) {
    const std::uint64_t start = offset();
    ++p_;
    scratch_.clear();
    const bool wanted = role != kNowhere && key != kNoKey && Records::wants_text(role, key);
    const std::size_t most = wanted ? kLongestText : kShortText;
    bool kept = true;
    for (;;) {
      const char c = peek();
      if (p_ == bytes_.end()) fail_malformed("truncated JSON: text without an end", start);
      ++p_;
      if (c == '"') break;
      if (c == '\\') {
        escape();
      } else {
        scratch_ += c;
      }
      if (scratch_.size() > most) {
        if (wanted) fail(ErrorCode::limit, "text too long: expected at most 1048576 bytes", start);
        kept = false;
        scratch_.clear();
      }
    }
    if (!kept || (!wanted && short_total_ > kShortTotal)) return make_value(Kind::lost_text);
    if (!pickle::is_utf8(scratch_)) {
      scratch_ = pickle::mended_utf8(scratch_);
      records_.bad_text();
    }
    const std::size_t before = pools_.texts.size();
    const std::uint32_t row = pools_.texts.intern(scratch_);
    if (!wanted && pools_.texts.size() != before) short_total_ += scratch_.size() + 32;
    return make_value(Kind::text, row);
  }

  pickle::PickleBytes bytes_;
  pickle::Pools& pools_;
  Records& records_;
  const char* p_ = nullptr;
  std::vector<Level> levels_;
  std::string scratch_;
  std::size_t short_total_ = 0;
};

}  // namespace

Result<Snapshot> read_json(Input& in) {
  pickle::Pools pools;
  Records records(pools);
  return run_reader([&] {
    JsonReader(in, pools, records).run();
    return records.finish("JSON");
  });
}

}  // namespace snapdiff::formats::torch_cuda
