#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/utf8.hpp"
#include "formats/json/json_scanner.hpp"
#include "formats/torch_cuda/records.hpp"

namespace snapdiff::formats {
namespace {

using namespace torch_cuda;

using pickle::kNoKey;
using pickle::make_value;

constexpr std::size_t kMostDepth = 64;
constexpr std::size_t kShortText = 64;
constexpr std::size_t kLongestText = std::size_t{1} << 20;
constexpr std::size_t kShortTotal = std::size_t{8} << 20;

/// Hands the containers of JSON to Records as pickle::Machine does those of a pickle.
class JsonReader {
 public:
  JsonReader(Input& in, pickle::Pools& pools, Records& records) : json_(in), pools_(pools), records_(records) {}

  void run() {
    json_.skip_byte_order_mark();
    const char c = json_.token();
    if (c != '{' && c != '[') fail_malformed("not JSON: expected { or [", json_.offset());
    container(nullptr);
    if (json_.has_rest())
      records_.builder().notes().add(Severity::warning, "bytes after the end of the JSON value, ignored",
                                     json_.offset());
  }

 private:
  struct Level {
    Role role = kNowhere;
    Kind kind = Kind::dict;
    std::uint32_t key = kNoKey;
    std::size_t depth = 0;
  };

  void value(const Level& in) {
    switch (json_.kind()) {
      case json::Kind::object:
      case json::Kind::array: return deliver(in, container(&in));
      case json::Kind::text: return deliver(in, text(in));
      case json::Kind::number: return deliver(in, number());
      case json::Kind::boolean: return deliver(in, make_value(Kind::boolean, json_.boolean() ? 1 : 0));
      case json::Kind::null: json_.null(); return deliver(in, make_value(Kind::none));
    }
  }

  Value container(const Level* parent) {
    Level level;
    level.kind = json_.kind() == json::Kind::object ? Kind::dict : Kind::list;
    level.depth = parent == nullptr ? 0 : parent->depth + 1;
    json_.check_depth(level.depth, kMostDepth);
    records_.at(json_.offset() + 1);
    if (parent == nullptr) {
      level.role = records_.root_role(level.kind);
    } else if (parent->kind == Kind::list || parent->key != kNoKey) {
      level.role = child_place(parent->role, parent->kind == Kind::list ? kNoKey : parent->key, level.kind);
    }
    if (level.role != kNowhere) records_.open(level.role);
    if (level.kind == Kind::list) {
      json_.each_item([&](std::size_t) { value(level); });
    } else {
      json_.each_member(
          [&](std::string_view key) {
            level.key = key.size() > kShortText ? kNoKey : row_of(key, false).value_or(kNoKey);
            value(level);
          },
          kShortText + 4);  // a cut key has more than kShortText bytes left
    }
    records_.at(json_.offset());
    Value made = make_value(level.kind);
    if (level.role != kNowhere) made = records_.close(level.role);
    made.flags = pickle::kOwn;
    return made;
  }

  void deliver(const Level& in, const Value& value) {
    if (in.role == kNowhere) return;
    records_.at(json_.offset());
    if (in.kind == Kind::list) {
      records_.item(in.role, value);
    } else {
      records_.field(in.role, in.key, value);
    }
  }

  Value number() {
    const std::string_view text = json_.number_text();
    std::int64_t whole = 0;
    if (text::parse_whole(text, whole)) return make_value(Kind::integer, static_cast<std::uint64_t>(whole));
    if (text.find_first_of(".eE") == std::string_view::npos) {
      std::uint64_t big = 0;
      return text::parse_whole(text, big) ? make_value(Kind::big, big) : make_value(Kind::huge);
    }
    double real = 0;
    text::parse_whole(text, real);
    return make_value(Kind::real, std::bit_cast<std::uint64_t>(real));
  }

  /// A text under the key of `in`.
  Value text(const Level& in) {
    const std::uint64_t start = json_.offset();
    const bool wanted =
        in.kind == Kind::dict && in.role != kNowhere && in.key != kNoKey && Records::wants_text(in.role, in.key);
    const bool cut = json_.text(text_, wanted ? kLongestText : kShortText);
    if (cut && wanted) fail(ErrorCode::limit, "text too long: expected at most 1048576 bytes", start);
    const std::optional<std::uint32_t> row = cut ? std::nullopt : row_of(text_, wanted);
    return row ? make_value(Kind::text, *row) : make_value(Kind::lost_text);
  }

  /// Keeps `text`, unless there are too many that may not be wanted.
  std::optional<std::uint32_t> row_of(std::string_view text, bool wanted) {
    if (!wanted && short_total_ > kShortTotal) return std::nullopt;
    std::string repaired;
    if (!is_utf8(text)) {
      repaired = repaired_utf8(text);
      text = repaired;
      records_.bad_text();
    }
    const std::size_t before = pools_.texts.size();
    const std::uint32_t row = pools_.texts.intern(text);
    if (!wanted && pools_.texts.size() != before) short_total_ += text.size() + 32;
    return row;
  }

  json::JsonScanner json_;
  pickle::Pools& pools_;
  Records& records_;
  std::string text_;
  std::size_t short_total_ = 0;
};

/// The dictionary of a snapshot as JSON text, read as it streams by.
void decode_json(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  pickle::Pools pools;
  Records records(pools);
  JsonReader(in, pools, records).run();
  give(out, records.finish("JSON"));
}

Match sniff_json(std::string_view head) {
  const auto has = [head](std::string_view key) { return contains(head, "\"" + std::string(key) + "\""); };
  if (text::begins_with(head, {"["})) return certain_if(has("total_size") && has("segment_type"));
  return certain_if(text::begins_with(head, {"{"}) &&
                    (has("device_traces") || (has("segments") && (has("total_size") || has("action") ||
                                                                  has("segment_type") || has("allocator_settings")))));
}

}  // namespace

constexpr Format kTorchJson{
    .info = {"torch-json", "the dictionary of a CUDA snapshot as JSON", "*.json", "as torch-cuda"},
    .sniff = sniff_json,
    .decode = decode_json};

}  // namespace snapdiff::formats
