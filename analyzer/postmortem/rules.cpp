#include <algorithm>
#include <array>
#include <exception>
#include <sstream>
#include <toml.hpp>
#include <utility>

#include "analyzer/postmortem/hints.hpp"
#include "analyzer/postmortem/hints_text.hpp"
#include "snapdiff/toml_bounds.hpp"

namespace snapdiff::postmortem {
namespace {

using Table = toml::value;

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

/// The first line of what toml11 draws over several.
std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  for (const std::string_view prefix : {"[error] ", "toml::"}) {
    if (line.starts_with(prefix)) line.erase(0, prefix.size());
  }
  return line;
}

/// Thrown inside this file alone, caught in parse_rules().
struct BadRule {
  std::uint_least32_t line;
  std::string what;
};

[[noreturn]] void refuse(const Table& where, const std::string& what) { throw BadRule{where.location().line(), what}; }

std::string text_of(const Table& value, const std::string& key) {
  if (!value.is_string()) refuse(value, "'" + key + "': found no text, expected one in quotes");
  return value.as_string().str;
}

bool flag_of(const Table& value, const std::string& key) {
  if (!value.is_boolean()) refuse(value, "'" + key + "': expected true or false");
  return value.as_boolean();
}

std::shared_ptr<const RE2> pattern_of(const Table& value, const std::string& key) {
  const std::string text = text_of(value, key);
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  options.set_encoding(RE2::Options::EncodingLatin1);  // names are bytes
  auto pattern = std::make_shared<const RE2>(text, options);
  if (!pattern->ok())
    refuse(value, "'" + key + "': '" + text + "' is no regular expression: " + pattern->error() +
                      ", expected the syntax of RE2");
  return pattern;
}

std::vector<Table> list_of(const Table& value, const std::string& key) {
  if (value.is_string()) return {value};
  if (!value.is_array()) refuse(value, "'" + key + "': expected a text or a list of texts");
  const auto& items = value.as_array();
  return {items.begin(), items.end()};
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

void read_field(Rule& rule, const std::string& key, const Table& value) {
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
    for (const Table& item : list_of(value, key)) rule.frames.push_back(pattern_of(item, key));
  } else if (key == "not_frames") {
    for (const Table& item : list_of(value, key)) rule.not_frames.push_back(pattern_of(item, key));
  } else if (key == "leaf") {
    rule.leaf = pattern_of(value, key);
  } else if (key == "not_leaf") {
    rule.not_leaf = pattern_of(value, key);
  } else if (key == "verdicts") {
    for (const Table& item : list_of(value, key)) {
      rule.verdicts.push_back(text_of(item, key));
      if (!has(kWords, rule.verdicts.back()))
        refuse(item, "'verdicts': found '" + rule.verdicts.back() + "', expected some of " + one_of(kWords));
    }
  } else if (key == "reason") {
    rule.reason = pattern_of(value, key);
  } else if (key == "share") {
    const double share = value.is_floating()  ? value.as_floating()
                         : value.is_integer() ? static_cast<double>(value.as_integer())
                                              : -1;
    if (!(share >= 0 && share <= 1)) refuse(value, "'share': expected a number from 0 to 1");
    rule.share = share;
  } else if (key == "steady") {
    rule.steady = flag_of(value, key);
  } else if (key == "once") {
    rule.once = flag_of(value, key);
  } else if (key == "block") {
    if (!value.is_integer() || value.as_integer() <= 0) refuse(value, "'block': expected a number of bytes");
    rule.block = value.as_integer();
  } else if (key == "last") {
    rule.last = flag_of(value, key);
  } else if (key == "counter") {
    rule.counter = pattern_of(value, key);
  } else if (key == "equals") {
    for (const Table& item : list_of(value, key)) rule.equals.push_back(text_of(item, key));
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

Rule read_rule(const Table& entry) {
  if (!entry.is_table()) refuse(entry, "expected a table: [[hint]]");
  Rule rule;
  // In the order of the text, so that the first mistake is told; toml11 keeps fields by hash.
  std::vector<std::pair<std::string, const Table*>> fields;
  for (const auto& [key, value] : entry.as_table()) fields.emplace_back(key, &value);
  std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) {
    const auto place = [](const auto& field) {
      return std::pair(field.second->location().line(), field.second->location().column());
    };
    return place(a) < place(b);
  });
  for (const auto& [key, value] : fields) read_field(rule, key, *value);
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

Rules::Rules() : list_(std::make_shared<const List>()) {}

std::string_view built_in_rules_text() { return kHintsText; }

Result<Rules> built_in_rules() {
  Result<Rules> rules = parse_rules(std::string(built_in_rules_text()), "built-in hints", Rules());
  if (!rules) return Error{ErrorCode::internal, rules.error().text()};
  return rules;
}

Result<Rules> parse_rules(const std::string& toml, const std::string& file_name, const Rules& before) {
  const auto about = [&](std::uint_least32_t line, const std::string& what) {
    return Error{ErrorCode::usage, "line " + std::to_string(line) + ": " + what, std::nullopt, file_name};
  };
  if (Status bounded = check_toml_bounds(toml, file_name); !bounded) return std::move(bounded).error();
  try {
    std::istringstream stream(toml);
    const Table root = toml::parse(stream, file_name);
    auto list = std::make_shared<Rules::List>(before.list());
    std::vector<std::string> seen;
    for (const auto& [key, value] : root.as_table()) {
      if (key != "hint" || !value.is_array())
        return about(value.location().line(), "'" + key + "' is unknown: expected [[hint]] entries");
      for (const Table& entry : value.as_array()) {
        Rule rule = read_rule(entry);
        if (has(seen, rule.id)) refuse(entry, "hint '" + rule.id + "' is there twice");
        seen.push_back(rule.id);
        const auto same = std::find_if(list->rules.begin(), list->rules.end(),
                                       [&](const Rule& other) { return other.id == rule.id; });
        if (same == list->rules.end()) {
          list->rules.push_back(std::move(rule));
        } else {
          *same = std::move(rule);
        }
      }
    }
    return Rules(std::move(list));
  } catch (const BadRule& bad) {
    return about(bad.line, bad.what);
  } catch (const toml::exception& failure) {
    return about(failure.location().line(), first_line(failure.what()));
  } catch (const std::exception& failure) {
    return Error{ErrorCode::usage, first_line(failure.what()), std::nullopt, file_name};
  }
}

}  // namespace snapdiff::postmortem
