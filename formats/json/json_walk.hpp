#pragma once

#include "formats/input/format.hpp"
#include "formats/input/utf8.hpp"
#include "formats/json/json_scanner.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::json {

constexpr std::size_t kMostDepth = 64;

inline void check_utf8(std::string_view text, std::uint64_t offset) {
  if (!is_utf8(text)) fail_malformed("malformed JSON: text that is not UTF-8", offset);
}

/// What a reader does with the parts of a JSON text, as they come; nothing is kept but the path to the
/// part. Views are valid during the call. Members may throw Failure.
class Walk {
 public:
  virtual ~Walk() = default;

  /// Reads the next value; false when only blanks are left. Throws Failure as the scanner does, malformed for a
  /// text that is not UTF-8 or has control characters, and limit for more than 64 levels.
  bool read(JsonScanner& json) {
    json.refuse_control_characters();
    json.skip_byte_order_mark();
    if (json.at_end()) return false;
    value(json);
    return true;
  }

  /// A container begins; the path leads to it.
  virtual void opened(bool /*array*/) {}
  virtual void number(std::int64_t /*value*/) {}
  /// Numbers with a fraction or an exponent, and whole ones beyond 64 bits.
  virtual void real(double /*value*/) {}
  virtual void text(std::string_view /*value*/) {}

  /// Where the reader stands: after the part that came last.
  std::uint64_t offset() const { return offset_; }
  [[noreturn]] void malformed(std::string message) const { fail_malformed(std::move(message), offset_); }
  /// How many keys and indices lead to the part.
  std::size_t depth() const { return path_.size(); }
  /// The key at `level`, "" in an array.
  std::string_view key(std::size_t level) const { return path_[level].key; }
  /// The position at `level`, in an object as well.
  std::size_t index(std::size_t level) const { return path_[level].index; }
  /// Whether the path is `path`; "*" stands for any one key or position.
  bool at(std::initializer_list<std::string_view> path) const {
    return path.size() == path_.size() &&
           std::equal(path.begin(), path.end(), path_.begin(),
                      [](std::string_view wanted, const Level& level) { return wanted == "*" || wanted == level.key; });
  }

 private:
  struct Level {
    std::string key;
    std::size_t index = 0;
  };
  void value(JsonScanner& json) {
    switch (json.kind()) {
      case Kind::object: return container(json, false);
      case Kind::array: return container(json, true);
      case Kind::text: {
        const std::uint64_t start = json.offset();
        json.text(text_);
        check_utf8(text_, start);
        offset_ = json.offset();
        return text(text_);
      }
      case Kind::number: {
        const std::string_view number = json.number_text();
        offset_ = json.offset();
        return number_as_written(number);
      }
      case Kind::boolean: json.boolean(); break;
      case Kind::null: json.null(); break;
    }
    offset_ = json.offset();
  }

  void container(JsonScanner& json, bool array) {
    json.check_depth(path_.size(), kMostDepth);
    offset_ = json.offset() + 1;
    opened(array);
    path_.push_back({});
    if (array) {
      json.each_item([&](std::size_t index) {
        path_.back().index = index;
        value(json);
      });
    } else {
      std::size_t index = 0;
      json.each_member(
          [&](std::string_view key) {
            check_utf8(key, json.key_offset());
            path_.back().key = key;
            path_.back().index = index++;
            value(json);
          },
          JsonScanner::kLongestText);
    }
    path_.pop_back();
    offset_ = json.offset();
  }

  void number_as_written(std::string_view written) {
    std::int64_t whole = 0;
    if (text::parse_whole(written, whole)) return number(whole);
    double fraction = 0;
    if (std::from_chars(written.data(), written.data() + written.size(), fraction).ec != std::errc{})
      fail_malformed("malformed JSON: number " + text::in_quotes(written) + " is beyond any double", offset_);
    real(fraction);
  }

  std::vector<Level> path_;
  std::string text_;
  std::uint64_t offset_ = 0;
};

/// Reads the first JSON value of `in` into `walk`.
inline bool read_value(Input& in, Walk& walk) {
  JsonScanner json(in);
  return walk.read(json);
}

/// decode() of a format that is one JSON value, of which `Reader`, a Walk, finish()es a snapshot.
template <class Reader>
void decode_value(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  Reader walk;
  read_value(in, walk);
  give(out, walk.finish());
}

}  // namespace snapdiff::formats::json
