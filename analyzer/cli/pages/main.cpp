// snapdiff_pages TEMPLATE FOLDER: writes the manual pages and the completions of shells into FOLDER, from what the
// commands say of themselves. TEMPLATE is the page of the program, where @COMMANDS@ and @VERDICTS@ stand for their
// descriptions.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/pages/completions.hpp"
#include "analyzer/document/terms.hpp"

namespace {

namespace fs = std::filesystem;
using namespace snapdiff::cli;

void write(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return;
  std::cerr << "cannot write " << path << "\n";
  std::exit(1);
}

void replace(std::string& text, std::string_view marker, const std::string& by) {
  const std::size_t at = text.find(marker);
  if (at == std::string::npos) {
    std::cerr << "the template has no " << marker << "\n";
    std::exit(1);
  }
  text.replace(at, marker.size(), by);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: snapdiff_pages TEMPLATE FOLDER\n";
    return 2;
  }
  const fs::path folder = argv[2];
  const std::string version = "snapdiff " SNAPDIFF_VERSION;
  std::ifstream template_file(argv[1], std::ios::binary);
  std::string overview_page(std::istreambuf_iterator<char>(template_file), {});
  std::vector<NamedPage> pages;
  std::string listed;
  for (const Command& command : commands()) {
    pages.push_back({std::string(command.name), page_of(command)});
    const NamedPage& one = pages.back();
    listed += manual_entry(one.page, one.name);
    write(folder / ("snapdiff-" + one.name + ".1"), manual_page(one.page, one.name, version));
  }
  replace(overview_page, "@VERSION@", version);
  replace(overview_page, "@COMMANDS@\n", listed);
  replace(overview_page, "@VERDICTS@\n", manual_text(snapdiff::document::verdict_help()));
  write(folder / "snapdiff.1", overview_page);
  write(folder / "snapdiff.bash", bash_completions(pages));
  write(folder / "_snapdiff", zsh_completions(pages));
  write(folder / "snapdiff.fish", fish_completions(pages));
  return 0;
}
