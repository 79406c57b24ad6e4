#include "analyzer/base/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace snapdiff {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

std::string program_file(std::string_view program) {
  const auto runs = [](const std::string& file) {
    std::error_code failure;
    return ::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, failure);
  };
  if (program.find('/') != std::string_view::npos) return runs(std::string(program)) ? std::string(program) : "";
  const std::string_view path = environment("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string file = std::string(path.substr(begin, end - begin)).append("/").append(program);
    if (end > begin && runs(file)) return file;
    begin = end + 1;
  }
  return {};
}

}  // namespace snapdiff
