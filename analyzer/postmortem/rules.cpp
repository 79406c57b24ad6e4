#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/postmortem/hints.hpp"
#include "analyzer/toml/toml_text.hpp"

namespace snapdiff::postmortem {
namespace {

using toml_text::mistake;
using toml_text::Value;

constexpr std::array<std::string_view, 19> kKeys = {
    "id",     "title", "usually", "suggestion", "harmless", "frames", "not_frames", "leaf",   "not_leaf", "verdicts",
    "reason", "share", "steady",  "once",       "block",    "last",   "counter",    "equals", "beyond"};
constexpr std::array<std::string_view, 11> kRowKeys = {"frames", "not_frames", "leaf", "not_leaf", "verdicts", "reason",
                                                       "share",  "steady",     "once", "block",    "last"};
constexpr std::array<std::string_view, 3> kDevices = {"fragmentation", "pinned", "private pools"};
constexpr std::array<std::string_view, 9> kWords = {"GROWING", "RISING", "SATURATING", "STEP", "SHRINKING",
                                                    "NOISY",   "FLAT",   "NEW",        "GONE"};
/// A pattern that is cheap to compile stays cheap to run on every frame.
constexpr std::int64_t kPatternMemory = std::int64_t{1} << 20;

/// Thrown inside this file alone, caught in parse_rules().
struct BadRule {
  std::uint64_t line;
  std::string what;
};

[[noreturn]] void refuse(const Value& where, const std::string& what) { throw BadRule{where.line, what}; }

std::string text_of(const Value& value, const std::string& key) {
  if (value.kind != Value::Kind::text) refuse(value, "'" + key + "': found no text, expected one in quotes");
  return value.text;
}

bool flag_of(const Value& value, const std::string& key) {
  if (value.kind != Value::Kind::flag) refuse(value, "'" + key + "': expected true or false");
  return value.flag;
}

std::shared_ptr<const RE2> pattern_of(const Value& value, const std::string& key) {
  const std::string text = text_of(value, key);
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  options.set_encoding(RE2::Options::EncodingLatin1);  // names are bytes
  auto pattern = std::make_shared<const RE2>(text, options);
  if (!pattern->ok())
    refuse(value, "'" + key + "': invalid regular expression '" + text + "': " + pattern->error() +
                      ", expected the syntax of RE2");
  return pattern;
}

std::vector<Value> list_of(const Value& value, const std::string& key) {
  if (value.kind == Value::Kind::text) return {value};
  if (value.kind != Value::Kind::list) refuse(value, "'" + key + "': expected a text or a list of texts");
  return value.items;
}

template <class Words>
std::string one_of(const Words& words) {
  std::string out;
  for (const std::string_view word : words) out.append(out.empty() ? "" : ", ").append(word);
  return out;
}

template <class Words>
bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void read_field(Rule& rule, const std::string& key, const Value& value) {
  if (has(kRowKeys, key)) rule.of_rows = true;
  if (key == "id") {
    rule.id = text_of(value, key);
    if (rule.id.empty() || rule.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
      refuse(value, "'id': found '" + rule.id + "', expected small letters, digits and -");
  } else if (key == "title") {
    rule.title = text_of(value, key);
  } else if (key == "usually") {
    rule.usually = text_of(value, key);
  } else if (key == "suggestion") {
    rule.suggestion = text_of(value, key);
  } else if (key == "harmless") {
    rule.harmless = flag_of(value, key);
  } else if (key == "frames") {
    for (const Value& item : list_of(value, key)) rule.frames.push_back(pattern_of(item, key));
  } else if (key == "not_frames") {
    for (const Value& item : list_of(value, key)) rule.not_frames.push_back(pattern_of(item, key));
  } else if (key == "leaf") {
    rule.leaf = pattern_of(value, key);
  } else if (key == "not_leaf") {
    rule.not_leaf = pattern_of(value, key);
  } else if (key == "verdicts") {
    for (const Value& item : list_of(value, key)) {
      rule.verdicts.push_back(text_of(item, key));
      if (!has(kWords, rule.verdicts.back()))
        refuse(item, "'verdicts': found '" + rule.verdicts.back() + "', expected some of " + one_of(kWords));
    }
  } else if (key == "reason") {
    rule.reason = pattern_of(value, key);
  } else if (key == "share") {
    const double share = value.kind == Value::Kind::number    ? value.number
                         : value.kind == Value::Kind::integer ? static_cast<double>(value.integer)
                                                              : -1;
    if (!(share >= 0 && share <= 1)) refuse(value, "'share': expected a number from 0 to 1");
    rule.share = share;
  } else if (key == "steady") {
    rule.steady = flag_of(value, key);
  } else if (key == "once") {
    rule.once = flag_of(value, key);
  } else if (key == "block") {
    if (value.kind != Value::Kind::integer || value.integer <= 0) refuse(value, "'block': expected a number of bytes");
    rule.block = value.integer;
  } else if (key == "last") {
    rule.last = flag_of(value, key);
  } else if (key == "counter") {
    rule.counter = pattern_of(value, key);
  } else if (key == "equals") {
    for (const Value& item : list_of(value, key)) rule.equals.push_back(text_of(item, key));
  } else if (key == "beyond") {
    rule.beyond = text_of(value, key);
  } else if (key == "device") {
    rule.device = text_of(value, key);
    if (!has(kDevices, rule.device))
      refuse(value, "'device': found '" + rule.device + "', expected one of " + one_of(kDevices));
  } else {
    refuse(value, "'" + key + "' is unknown: expected one of " + one_of(kKeys) + ", device");
  }
}

Rule read_rule(const Value& entry) {
  if (entry.kind != Value::Kind::table) refuse(entry, "expected a table: [[hint]]");
  Rule rule;
  for (const Value& field : entry.fields) read_field(rule, field.key, field);
  for (const auto& [key, text] : {std::pair<std::string_view, const std::string*>{"id", &rule.id},
                                  {"title", &rule.title},
                                  {"usually", &rule.usually}}) {
    if (text->empty()) refuse(entry, "a hint needs " + std::string(key) + " = \"...\"");
  }
  const int kinds = (rule.of_rows ? 1 : 0) + (rule.counter ? 1 : 0) + (rule.device.empty() ? 0 : 1);
  if (kinds != 1)
    refuse(entry, "hint '" + rule.id + "': found " + (kinds == 0 ? "no condition" : "conditions of several kinds") +
                      ", expected those of rows (frames, verdicts, steady, ...), counter or device");
  if (!rule.counter && (!rule.equals.empty() || !rule.beyond.empty()))
    refuse(entry, "hint '" + rule.id + "': equals and beyond go with counter");
  if (rule.of_rows && rule.frames.empty() && !rule.leaf && rule.verdicts.empty() && !rule.steady && !rule.once &&
      rule.block == 0)
    refuse(entry, "hint '" + rule.id +
                      "': every growing row would fit, expected frames, leaf, verdicts, steady, once or block");
  return rule;
}

}  // namespace

Result<Rules> built_in_rules() {
  Result<Rules> rules = parse_rules(std::string(built_in_rules_text()), "built-in hints", nullptr);
  if (!rules) return Error{ErrorCode::internal, rules.error().text()};
  return rules;
}

Result<Rules> parse_rules(const std::string& toml, const std::string& file_name, const Rules& before) {
  const Result<Value> root = toml_text::read(toml, file_name);
  if (!root) return root.error();
  try {
    std::vector<Rule> rules = before != nullptr ? *before : std::vector<Rule>{};
    std::vector<std::string> seen;
    for (const Value& value : root->fields) {
      if (value.key != "hint" || value.kind != Value::Kind::list)
        return mistake(file_name, value.line, "'" + value.key + "' is unknown: expected [[hint]] entries");
      for (const Value& entry : value.items) {
        Rule rule = read_rule(entry);
        if (has(seen, rule.id)) refuse(entry, "hint '" + rule.id + "' is there twice");
        seen.push_back(rule.id);
        const auto same =
            std::find_if(rules.begin(), rules.end(), [&](const Rule& other) { return other.id == rule.id; });
        if (same == rules.end()) {
          rules.push_back(std::move(rule));
        } else {
          *same = std::move(rule);
        }
      }
    }
    return std::make_shared<const std::vector<Rule>>(std::move(rules));
  } catch (const BadRule& bad) {
    return mistake(file_name, bad.line, bad.what);
  }
}

}  // namespace snapdiff::postmortem
