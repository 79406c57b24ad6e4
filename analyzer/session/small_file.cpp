#include "analyzer/session/small_file.hpp"

#include <filesystem>
#include <fstream>

#include "snapdiff/toml_bounds.hpp"

namespace snapdiff::session {

Result<std::string> read_small_file(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored))
    return Error{ErrorCode::io, "cannot read it", std::nullopt, path};
  std::string text(kMaxTomlBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return Error{ErrorCode::io, "cannot read it", std::nullopt, path};
  if (text.size() > kMaxTomlBytes)
    return Error{ErrorCode::limit, "too large: expected at most 1 MiB", std::nullopt, path};
  return text;
}

}  // namespace snapdiff::session
