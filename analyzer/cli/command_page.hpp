#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace snapdiff::cli {

/// What a command says of itself: for its help, its manual page and the completions of shells.
struct CommandPage {
  struct Option {
    std::vector<std::string> names;    ///< "-n", "--rows"
    std::string value;                 ///< what its value is called; "" for a flag
    std::string help;                  ///< one line or several
    std::vector<std::string> choices;  ///< words that are offered for it
    std::string group;                 ///< heading under which the help lists it; "" = first, without one
  };
  std::string purpose;  ///< a sentence
  std::string usage;    ///< goes on after "usage: snapdiff "; lines after the first one explain it
  std::vector<std::string> examples;
  std::vector<Option> options;
};

/// One screen: purpose, usage, options, examples.
std::string help_text(const CommandPage& page);

/// A manual page: `name` is that of the command. `version`: "snapdiff 0.1.0".
std::string manual_page(const CommandPage& page, const std::string& name, const std::string& version);
/// What the page of the program says of a command.
std::string manual_entry(const CommandPage& page, const std::string& name);
/// Lines of a terminal as they are, in a manual page.
std::string manual_text(std::string_view text);

}  // namespace snapdiff::cli
