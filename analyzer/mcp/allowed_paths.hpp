#pragma once

#include <string>
#include <vector>

#include "snapdiff/result.hpp"

namespace snapdiff::mcp {

/// Folders below which paths may be read. Symbolic links of a path are followed: a link that leads out of them is
/// refused, and so is a folder that holds one.
class AllowedPaths {
 public:
  /// Errors: io, where one of the folders is not there or no folder.
  static Result<AllowedPaths> below(const std::vector<std::string>& folders);

  /// The real path of a file or folder, an "@POINT" behind it kept. Relative ones are below the first folder that has
  /// them. Errors: usage (outside, not there, neither file nor folder), about `text`.
  Result<std::string> resolve(const std::string& text) const;

  /// As they are called.
  const std::vector<std::string>& folders() const { return folders_; }

 private:
  Result<std::string> real_path(const std::string& text) const;
  bool holds(const std::string& real) const;

  std::vector<std::string> folders_;  // real paths
};

}  // namespace snapdiff::mcp
