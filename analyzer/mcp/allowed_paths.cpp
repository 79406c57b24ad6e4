#include "analyzer/mcp/allowed_paths.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/session/operands.hpp"

namespace snapdiff::mcp {
namespace {

namespace fs = std::filesystem;

Error refused(const std::string& text, std::string why) {
  return {ErrorCode::usage, std::move(why), std::nullopt, text};
}
Error lacks(const std::string& text, std::string why) { return {ErrorCode::io, std::move(why), std::nullopt, text}; }

}  // namespace

Result<AllowedPaths> AllowedPaths::below(const std::vector<std::string>& folders) {
  AllowedPaths paths;
  for (const std::string& folder : folders) {
    std::error_code failure;
    const fs::path real = fs::canonical(folder, failure);
    if (failure || !fs::is_directory(real, failure))
      return Error{ErrorCode::io, "no such folder", std::nullopt, folder};
    paths.folders_.push_back(real.string());
  }
  return paths;
}

bool AllowedPaths::holds(const std::string& real) const {
  return std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) {
    return real == folder || folder == "/" || real.starts_with(folder + "/");
  });
}

Result<std::string> AllowedPaths::real_path(const std::string& text) const {
  if (text.empty() || text.find('\0') != std::string::npos) return refused(text, "an empty path");
  std::vector<fs::path> places;
  if (text.front() == '/') {
    places.emplace_back(text);
  } else {
    for (const std::string& folder : folders_) places.push_back(fs::path(folder) / text);
  }
  for (const fs::path& place : places) {
    std::error_code failure;
    const std::string real = fs::canonical(place, failure).string();
    if (failure) continue;
    if (!holds(real)) return refused(text, "outside the folders that this server may read");
    return real;
  }
  // The answer does not say whether a file outside is there.
  std::error_code failure;
  const fs::path lacking = fs::weakly_canonical(places.front(), failure);
  if (failure || !holds(lacking.parent_path().string()))
    return refused(text, "outside the folders that this server may read");
  return lacks(text, "no such file or folder" + session::near_file(lacking.string()));
}

Result<std::string> AllowedPaths::resolve(const std::string& text) const {
  Result<std::string> real = real_path(text);
  std::string point;
  if (const std::size_t at = text.rfind('@'); !real && at != std::string::npos && at > 0) {
    Result<std::string> file = real_path(text.substr(0, at));
    if (file) point = text.substr(at);
    if (file || file.error().code == ErrorCode::usage) real = std::move(file);
  }
  if (!real) return real;
  std::error_code failure;
  const fs::file_status status = fs::status(*real, failure);
  if (fs::is_regular_file(status)) return *real + point;
  if (!fs::is_directory(status)) return refused(text, "neither a file nor a folder");
  for (fs::directory_iterator entry(*real, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    if (!entry->is_symlink(ignored) || !entry->is_regular_file(ignored)) continue;
    const std::string target = fs::canonical(entry->path(), ignored).string();
    if (!holds(target))
      return refused(entry->path().string(), "a link that leads outside the folders that this server may read");
  }
  return *real + point;
}

}  // namespace snapdiff::mcp
