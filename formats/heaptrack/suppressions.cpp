#include "formats/heaptrack/suppressions.hpp"

#include <algorithm>

namespace snapdiff::formats::heaptrack {
namespace {

constexpr std::string_view kLeak = "leak:";
constexpr std::size_t kLongestPattern = 4096;

}  // namespace

bool Suppressions::add(std::string_view line) {
  if (line.substr(0, kLeak.size()) != kLeak || patterns_.size() == kMost) return false;
  const std::string_view pattern = line.substr(kLeak.size());
  if (pattern.empty() || pattern.size() > kLongestPattern) return false;
  if (std::find(patterns_.begin(), patterns_.end(), pattern) == patterns_.end()) patterns_.emplace_back(pattern);
  return true;
}

std::string_view Suppressions::match(std::string_view name) const {
  if (name.empty()) return {};
  for (const std::string& pattern : patterns_) {
    if (fits(pattern, name)) return pattern;
  }
  return {};
}

/// Each part between stars is taken where it is found first; only a part tied to the end is looked for there.
bool fits(std::string_view pattern, std::string_view name) {
  bool tied = !pattern.empty() && pattern.front() == '^';
  if (tied) pattern.remove_prefix(1);
  const bool to_end = !pattern.empty() && pattern.back() == '$';
  if (to_end) pattern.remove_suffix(1);
  for (;;) {
    const std::size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    if (star == std::string_view::npos && to_end) {
      if (name.size() < part.size() || name.substr(name.size() - part.size()) != part) return false;
      return !tied || name.size() == part.size();
    }
    const std::size_t at = name.find(part);
    if (at == std::string_view::npos || (tied && at != 0)) return false;
    if (star == std::string_view::npos) return true;
    name.remove_prefix(at + part.size());
    pattern.remove_prefix(star + 1);
    tied = false;
  }
}

}  // namespace snapdiff::formats::heaptrack
