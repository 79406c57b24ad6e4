#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/command_page.hpp"

/// Completions of shells, generated from what the commands say of themselves. A word that is no command's name is an
/// operand of the first command, as for the program.
namespace snapdiff::cli {

struct NamedPage {
  std::string name;
  CommandPage page;
};

/// Each is a whole file. Commands before the first operand, options and their words after the command, files elsewhere.
std::string bash_completions(const std::vector<NamedPage>& commands);
std::string zsh_completions(const std::vector<NamedPage>& commands);
std::string fish_completions(const std::vector<NamedPage>& commands);

}  // namespace snapdiff::cli
