#include "analyzer/symbols/root_path.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace snapdiff::symbols {
namespace {

constexpr int kMostLinks = 40;  // as Linux has it

/// Puts the parts of `path` in front of those that are left, which are in reverse.
void push_parts(std::string_view path, std::vector<std::string>& left) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash != 0) parts.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  std::reverse(parts.begin(), parts.end());
  left.insert(left.end(), parts.begin(), parts.end());
}

}  // namespace

std::string path_below(const std::string& root, std::string_view path) {
  std::vector<std::string> left, done;
  push_parts(path, left);
  const auto joined = [&] {
    std::string out = root;
    for (const std::string& part : done) out += "/" + part;
    return out;
  };
  for (int links = 0; !left.empty();) {
    const std::string part = std::move(left.back());
    left.pop_back();
    if (part == ".") continue;
    if (part == "..") {
      if (!done.empty()) done.pop_back();
      continue;
    }
    done.push_back(part);
    std::error_code failure;
    const std::filesystem::path target = std::filesystem::read_symlink(joined(), failure);
    if (failure) continue;
    if (++links > kMostLinks) return {};
    done.pop_back();
    if (target.is_absolute()) done.clear();
    push_parts(target.native(), left);
  }
  return joined();
}

}  // namespace snapdiff::symbols
