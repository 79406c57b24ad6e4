#include "formats/json/json_walk.hpp"

#include "formats/input/utf8.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::json {

namespace {

constexpr std::size_t kMostDepth = 64;

void check_utf8(std::string_view text, std::uint64_t offset) {
  if (!is_utf8(text)) fail_malformed("malformed JSON: text that is not UTF-8", offset);
}

}  // namespace

bool Walk::at(std::initializer_list<std::string_view> path) const {
  return path.size() == path_.size() &&
         std::equal(path.begin(), path.end(), path_.begin(),
                    [](std::string_view wanted, const Level& level) { return wanted == "*" || wanted == level.key; });
}

bool Walk::read(JsonScanner& json) {
  json.refuse_control_characters();
  json.skip_byte_order_mark();
  if (json.at_end()) return false;
  value(json);
  return true;
}

void Walk::value(JsonScanner& json) {
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

void Walk::container(JsonScanner& json, bool array) {
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

void Walk::number_as_written(std::string_view written) {
  std::int64_t whole = 0;
  if (text::parse_whole(written, whole)) return number(whole);
  double fraction = 0;
  if (std::from_chars(written.data(), written.data() + written.size(), fraction).ec != std::errc{})
    fail_malformed("malformed JSON: number " + text::in_quotes(written) + " is beyond any double", offset_);
  real(fraction);
}

bool read_value(Input& in, Walk& walk) {
  JsonScanner json(in);
  return walk.read(json);
}

}  // namespace snapdiff::formats::json
