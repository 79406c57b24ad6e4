#include "formats/metric_log/metric_text.hpp"

#include <map>

namespace snapdiff::formats::metric_log {

std::size_t find_ignoring_case(std::string_view text, std::string_view word, std::size_t from) {
  if (word.empty() || text.size() < word.size()) return std::string_view::npos;
  const std::size_t last = text.size() - word.size();
  for (std::size_t i = from; i <= last; ++i) {
    std::size_t k = 0;
    while (k < word.size() && lower(text[i + k]) == word[k]) ++k;
    if (k == word.size()) return i;
  }
  return std::string_view::npos;
}

std::string with_tag(std::string_view name, std::string_view key, std::string_view value) {
  std::string tag = std::string(key) + "=" + std::string(value);
  const std::size_t open = name.find('{');
  if (open == std::string_view::npos || name.back() != '}') return std::string(name) + "{" + tag + "}";
  // Keys are short words; a value may hold commas, so a tag ends where the next one begins.
  std::map<std::string, std::string> tags;
  std::string_view rest = name.substr(open + 1, name.size() - open - 2);
  while (!rest.empty()) {
    std::size_t end = rest.size();
    for (std::size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',', comma + 1)) {
      std::size_t k = comma + 1;
      while (k < rest.size() && is_word(rest[k])) ++k;
      if (k > comma + 1 && k < rest.size() && rest[k] == '=') {
        end = comma;
        break;
      }
    }
    const std::string_view one = rest.substr(0, end);
    tags.emplace(one.substr(0, one.find('=')), one);
    rest.remove_prefix(end == rest.size() ? end : end + 1);
  }
  tags[std::string(key)] = std::move(tag);
  std::string out(name.substr(0, open));
  char separator = '{';
  for (const auto& [unused, text] : tags) {
    out += separator;
    out += text;
    separator = ',';
  }
  return out + "}";
}

std::string with_tags(std::string_view name,
                      std::initializer_list<std::pair<std::string_view, std::string_view>> tags) {
  std::string out(name);
  for (const auto& [key, value] : tags) out = with_tag(out, key, value);
  return out;
}

}  // namespace snapdiff::formats::metric_log
