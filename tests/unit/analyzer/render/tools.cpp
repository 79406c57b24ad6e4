#include "unit/analyzer/render/tools.hpp"

#include <sys/wait.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace snapdiff::test {
namespace {

/// One folder per test program, removed at its end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "render_test.XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

bool installed(const std::string& program) {
  int status = 0;
  output_of(std::string("command -v ").append(program), status);
  return status == 0;
}

std::string temporary_file(const std::string& name, const std::string& bytes) {
  static const Folder folder;
  const std::filesystem::path path = folder.path() / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

std::string output_of(const std::string& command, int& status) {
  std::string out;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    status = -1;
    return out;
  }
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  const int code = pclose(pipe);
  status = WIFEXITED(code) ? WEXITSTATUS(code) : -1;
  return out;
}

std::string checked_text(const std::string& pdf) {
  const std::string path = temporary_file("checked.pdf", pdf);
  int status = 0;
  if (installed("qpdf")) {
    const std::string told = output_of(std::string("qpdf --check ").append(path).append(" 2>&1"), status);
    INFO(told);
    CHECK(status == 0);
  } else {
    WARN("skipped: qpdf is not installed");
  }
  if (!installed("pdftotext")) {
    WARN("skipped: pdftotext is not installed");
    return "";
  }
  return output_of(std::string("pdftotext -layout ").append(path).append(" -"), status);
}

std::vector<std::string> checked_pages(const std::string& pdf) {
  const std::string text = checked_text(pdf);
  std::vector<std::string> pages;
  for (std::size_t at = 0, end = 0; (end = text.find('\f', at)) != std::string::npos; at = end + 1)
    pages.push_back(text.substr(at, end - at));
  return pages;
}

}  // namespace snapdiff::test
