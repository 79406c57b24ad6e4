#include "formats/input/window_input.hpp"
#include "formats/json/json_scanner.hpp"
#include "formats/metric_log/log_session.hpp"
#include "formats/metric_log/metric_text.hpp"
#include "formats/metric_log/printed_object.hpp"
#include "formats/metric_log/vocabulary.hpp"
#include "formats/text/time_stamp.hpp"

/// Lines that are JSON objects, as programs log them. Every number about memory is read; the members beside it that
/// name a thing (pid, device, pod) are its labels.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kMostLevels = 32;      // of nesting; deeper lines are read as plain ones
constexpr std::size_t kMostReadings = 4096;  // of one line
constexpr std::size_t kMostLabelBytes = 128;

using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr std::array<std::string_view, 26> kLabels = {
    "pid",  "name",     "command",   "cmd",     "process", "device", "gpu",    "index", "id",
    "host", "hostname", "pod",       "service", "worker",  "rank",   "node",   "job",   "type",
    "pool", "area",     "container", "app",     "thread",  "role",   "module", "label"};
constexpr std::array<std::string_view, 6> kTimes = {"ts", "time", "timestamp", "@timestamp", "datetime", "date"};

bool is_label(std::string_view key) { return std::find(kLabels.begin(), kLabels.end(), key) != kLabels.end(); }

/// Seconds, milliseconds, microseconds or nanoseconds since 1970, by their size: each unit covers the years 2001 to
/// 2286 and meets no other there.
std::optional<std::int64_t> time_of(std::string_view number) {
  Decimal decimal;
  if (parse_decimal(number, 0, decimal) != number.size() || number.empty()) return std::nullopt;
  std::optional<Quantity> whole = scale(decimal, 1);
  if (!whole || whole->value < 1'000'000'000) return std::nullopt;
  std::uint64_t ns = 1'000'000'000;
  for (std::int64_t limit = 10'000'000'000; ns > 1 && whole->value >= limit; limit *= 1000) ns /= 1000;
  const std::optional<Quantity> scaled = scale(decimal, ns);
  return scaled ? std::optional(scaled->value) : std::nullopt;
}

struct Found {
  std::string words;   ///< of the key
  std::string parent;  ///< the key of the object that holds it
  std::string name;
  Quantity quantity;
  std::string unit;
  bool is_firm = false;
  bool has_unit = false;
  bool cumulative = false;
  /// The counter that it is beside a firm one, and one without a unit where it has none itself. Alone it says too
  /// little.
  std::string_view with_others;
  Labels tags;
};

/// Reads one line; false where it is not one JSON object.
class JsonLine {
 public:
  JsonLine(std::string_view text, bool decimal_units) : text_(text), decimal_units_(decimal_units) {}

  bool read() {
    MemoryInput in(text_, {});
    json::JsonScanner json(in);
    try {
      object(json, {});
      return json.at_end();
    } catch (const Failure&) {
      return false;
    }
  }
  std::vector<Found>& found() { return found_; }
  const std::optional<std::int64_t>& time_ns() const { return time_ns_; }

 private:
  void object(json::JsonScanner& json, const std::string& key) {
    json.check_depth(level_++, kMostLevels);
    const std::size_t first = found_.size();
    Labels tags;
    json.each_member([&](std::string_view name) { value(json, std::string(name), key, &tags); },
                     json::JsonScanner::kLongestText);
    const auto begin = found_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto is_beside = [&](bool has_unit) {
      return std::any_of(begin, found_.end(),
                         [&](const Found& one) { return one.is_firm && (has_unit || !one.has_unit); });
    };
    const bool beside_any = is_beside(true), beside_bytes = is_beside(false);
    for (auto one = begin; one != found_.end(); ++one) {
      const bool speaks = one->has_unit || one->unit == "count" ? beside_any : beside_bytes;
      if (speaks && !one->with_others.empty()) one->is_firm = true, one->name = one->with_others;
      one->with_others = {};
    }
    found_.erase(std::remove_if(begin, found_.end(), [](const Found& one) { return one.name.empty(); }), found_.end());
    for (std::size_t i = first; i < found_.size(); ++i) {
      for (const auto& tag : tags) {
        const auto is_it = [&](const auto& own) { return own.first == tag.first; };
        if (std::none_of(found_[i].tags.begin(), found_[i].tags.end(), is_it)) found_[i].tags.push_back(tag);
      }
    }
    --level_;
  }

  /// `tags`: of the object that the value is a member of; null in an array.
  void value(json::JsonScanner& json, const std::string& key, const std::string& parent, Labels* tags) {
    switch (json.kind()) {
      case json::Kind::object: return object(json, tags == nullptr ? parent : key);
      case json::Kind::array:
        json.check_depth(level_++, kMostLevels);
        json.each_item([&](std::size_t) { value(json, key, parent, nullptr); });
        --level_;
        return;
      case json::Kind::text: {
        std::string text;
        json.text(text);
        if (tags != nullptr) member(key, parent, text, true, *tags);
        return;
      }
      case json::Kind::number: {
        const std::string_view number = json.number_text();
        if (tags != nullptr) member(key, parent, number, false, *tags);
        return;
      }
      case json::Kind::boolean: json.boolean(); return;
      case json::Kind::null: json.null(); return;
    }
  }

  void member(const std::string& key, const std::string& parent, std::string_view text, bool is_text, Labels& tags) {
    if (level_ == 1 && std::find(kTimes.begin(), kTimes.end(), key) != kTimes.end()) {
      if (!is_text) time_ns_ = time_of(text);
      if (const std::optional<TimeStamp> time = is_text ? find_time(text) : std::nullopt) time_ns_ = time->ns;
      return;
    }
    if (is_label(key) && (is_text || text.find_first_of(".eE") == std::string_view::npos)) {
      const bool is_new = std::none_of(tags.begin(), tags.end(), [&](const auto& own) { return own.first == key; });
      if (is_new && text.size() <= kMostLabelBytes && !text.empty()) tags.emplace_back(key, text);
      return;
    }
    Decimal number;
    const std::size_t end = parse_decimal(text, 0, number);
    if (end == 0 || found_.size() == kMostReadings) return;
    if (key.starts_with('/') && key.find(':') != std::string::npos) return go_metric(key, number);
    Found one;
    one.parent = parent;
    one.words = words_of(key);
    std::uint64_t unit = is_text ? size_unit(trim(text.substr(end)), decimal_units_) : 0;
    if (is_text && unit == 0) return;
    if (find_word(one.words) == nullptr) one.words = split_words(key);
    if (unit == 0) unit = take_unit_word(one.words, decimal_units_);
    const std::string whole = parent.empty() ? one.words : split_words(parent) + " " + one.words;
    if (is_other_measure(one.words)) return;
    const Word* const word = find_word(whole);
    const bool fits = word != nullptr && (unit != 0 || !word->needs_unit) && !(word->is_count && number.has_point);
    one.is_firm = fits && (word->alone || (unit != 0 && !word->needs_step));
    if (fits && !one.is_firm && word->needs_step) one.with_others = word->counter;
    const bool says_enough = one.is_firm || unit != 0 || (has_memory_word(whole) && !number.has_point);
    if (says_enough) one.name = one.is_firm ? std::string(word->counter) : name_of_words(one.words);
    if (one.name.empty() && one.with_others.empty()) return;
    const bool is_known = one.is_firm || !one.with_others.empty();
    const bool in_bytes = unit != 0 || (is_known && !number.has_point);
    one.cumulative = counts_up(whole);
    one.unit = is_known && word->is_count ? "count" : in_bytes ? "bytes" : "";
    const std::optional<Quantity> quantity = scale(number, unit == 0 ? 1 : unit);
    if (!quantity) return;
    one.quantity = *quantity;
    one.has_unit = unit != 0;
    found_.push_back(std::move(one));
  }

  /// A name of Go's runtime/metrics says its unit: "/gc/heap/live:bytes".
  void go_metric(const std::string& key, const Decimal& number) {
    const std::string_view unit = std::string_view(key).substr(key.rfind(':') + 1);
    const bool in_bytes = unit == "bytes";
    const bool is_bound = key == "/gc/gomemlimit:bytes" || key == "/gc/heap/goal:bytes";
    if ((!in_bytes && unit != "objects" && unit != "goroutines") || is_bound) return;
    const std::optional<Quantity> quantity = scale(number, 1);
    if (!quantity) return;
    Found& one = found_.emplace_back();
    one.name = key;
    one.quantity = *quantity;
    one.unit = in_bytes ? "bytes" : "count";
    one.is_firm = one.has_unit = true;
    one.cumulative = key.find("/allocs") != std::string::npos || key.find("/frees") != std::string::npos;
  }

  /// "heapSize" is two words, as "heap_size" is.
  static std::string split_words(std::string_view key) {
    std::string spaced;
    for (std::size_t i = 0; i < key.size(); ++i) {
      const bool begins = i > 0 && key[i] >= 'A' && key[i] <= 'Z' && key[i - 1] >= 'a' && key[i - 1] <= 'z';
      if (begins) spaced += ' ';
      spaced += key[i];
    }
    return words_of(spaced);
  }

  std::string_view text_;
  bool decimal_units_;
  std::size_t level_ = 0;
  std::vector<Found> found_;
  std::optional<std::int64_t> time_ns_;
};

/// Lines that are an object of JSON; or end with one that a language prints in its own way.
class JsonLines final : public Matcher {
 public:
  explicit JsonLines(bool printed) : printed_(printed) {}

  bool take(const LogLine& line, Session& session) override {
    std::string_view text = trim(line.text);
    std::optional<std::string> translated;
    if (printed_) {
      translated = json_of_printed(text);
      if (!translated) return false;
      text = *translated;
    }
    if (!text.starts_with("{\"") || !text.ends_with("}")) return false;
    JsonLine json(text, session.decimal_units());
    if (!json.read() || json.found().empty()) return false;
    LineFacts facts = session.facts_of(line);
    if (json.time_ns()) facts.time_ns = json.time_ns();
    std::vector<Reading> readings;
    std::map<std::string, std::size_t> met;
    for (Found& one : json.found()) {
      std::string name = named(one);
      if (met.contains(name) && !one.parent.empty()) name = with_tag(name, "of", one.parent.substr(0, kMostLabelBytes));
      if (const std::size_t n = ++met[name]; n > 1) name = with_tag(name, "n", std::to_string(n));
      if (one.is_firm) session.evidence().reading(name, text, 0, facts);
      session.weak_evidence().reading(name, text, 0, facts);
      readings.push_back({std::move(name), one.unit, one.quantity, one.cumulative, !one.is_firm});
    }
    session.recorder().record(kPlain, facts, readings);
    return true;
  }

 private:
  bool printed_;

  static std::string named(const Found& one) {
    std::string name = one.name;
    for (const auto& [key, value] : one.tags) name = with_tag(name, key, value);
    return name;
  }
};

}  // namespace

std::unique_ptr<Matcher> make_json_line_matcher() { return std::make_unique<JsonLines>(false); }

std::unique_ptr<Matcher> make_printed_object_matcher() { return std::make_unique<JsonLines>(true); }

}  // namespace snapdiff::formats::metric_log
