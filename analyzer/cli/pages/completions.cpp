#include "analyzer/cli/pages/completions.hpp"

#include <string_view>

namespace snapdiff::cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view before = "") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + std::string(before) + word;
  return text;
}

std::string names_of(const std::vector<NamedPage>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const NamedPage& command : commands) names.push_back(command.name);
  return joined(names);
}

bool is_path(const CommandPage::Option& option) {
  return option.value == "FILE" || option.value == "DIR" || option.value == "PATH";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// In single quotes of a shell; `escaped` get a backslash before them.
std::string quoted(std::string_view text, std::string_view escaped, std::string_view quote) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
      continue;
    }
    if (escaped.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + "'";
}

}  // namespace

std::string bash_completions(const std::vector<NamedPage>& commands) {
  std::string text =
      "# bash completion for snapdiff, generated from its help\n"
      "_snapdiff() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local commands='" +
      names_of(commands) +
      "' command='' choices='' options='' candidate\n"
      "  for candidate in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    [[ \" $commands \" == *\" $candidate \"* ]] && { command=$candidate; break; }\n"
      "  done\n"
      "  case \"${command:-" +
      commands.front().name + "} $previous\" in\n";
  for (const auto& [name, page] : commands) {
    for (const CommandPage::Option& option : page.options) {
      if (option.choices.empty()) continue;
      for (const std::string& option_name : option.names)
        text += "    '" + name + " " + option_name + "') choices='" + joined(option.choices) + "' ;;\n";
    }
  }
  text += "  esac\n  case \"${command:-" + commands.front().name + "}\" in\n";
  for (const auto& [name, page] : commands) {
    text += "    " + name + ") options='";
    for (const CommandPage::Option& option : page.options)
      text += (text.back() == '\'' ? "" : " ") + joined(option.names);
    text += "' ;;\n";
  }
  return text +
         "  esac\n"
         "  if [[ -n $choices ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$word\")\n"
         "  elif [[ $word == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
         "  elif [[ -z $command ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\"; compgen -f -- \"$word\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _snapdiff snapdiff\n";
}

std::string zsh_completions(const std::vector<NamedPage>& commands) {
  const auto quote = [](std::string_view text) { return quoted(text, "[]:\\", "'\\''"); };
  std::string text =
      "#compdef snapdiff\n# Generated from the help of snapdiff.\nlocal -a commands operands\ncommands=(\n";
  for (const auto& [name, page] : commands) {
    // Between a name and what it does is a colon.
    std::string line = "  " + quote(name);
    line.back() = ':';
    text += line + quote(first_line(page.purpose)).substr(1) + "\n";
  }
  text +=
      ")\nlocal command='' word\nfor word in ${words[2,CURRENT-1]}; do\n"
      "  (( ${commands[(I)$word:*]} )) && { command=$word; break }\ndone\n"
      "operands=('*:file:_files')\n"
      "[[ -z $command ]] && operands=('*:command or file:{ _describe command commands; _files }')\n"
      "case ${command:-" +
      commands.front().name + "} in\n";
  for (const auto& [name, page] : commands) {
    text += "  " + name + ")\n    _arguments";
    for (const CommandPage::Option& option : page.options) {
      for (const std::string& option_name : option.names) {
        std::string spec = quote("*" + option_name);
        spec.back() = '[';
        text += " \\\n      " + spec + quote(first_line(option.help)).substr(1);
        text.back() = ']';
        if (!option.value.empty()) {
          text += ":" + option.value + ":";
          if (!option.choices.empty()) text += "(" + joined(option.choices) + ")";
          if (is_path(option)) text += "_files";
        }
        text += "'";
      }
    }
    text += " \\\n      $operands ;;\n";
  }
  return text + "esac\n";
}

std::string fish_completions(const std::vector<NamedPage>& commands) {
  const auto quote = [](std::string_view text) { return quoted(text, "\\", "\\'"); };
  const std::string names = names_of(commands);
  std::string text = "# fish completion for snapdiff, generated from its help\n";
  for (const auto& [name, page] : commands) {
    text += "complete -c snapdiff -n 'not __fish_seen_subcommand_from " + names + "' -a " + name + " -d " +
            quote(first_line(page.purpose)) + "\n";
  }
  for (const auto& [name, page] : commands) {
    // Without a command the first one is meant.
    const bool is_first = &page == &commands.front().page;
    const std::string others = names.substr(commands.front().name.size() + 1);
    const std::string when =
        is_first ? "'not __fish_seen_subcommand_from " + others + "'" : "'__fish_seen_subcommand_from " + name + "'";
    for (const CommandPage::Option& option : page.options) {
      text += "complete -c snapdiff -n " + when;
      for (const std::string& option_name : option.names)
        text += option_name.starts_with("--") ? " -l " + option_name.substr(2) : " -s " + option_name.substr(1);
      if (!option.value.empty()) text += is_path(option) ? " -r -F" : " -x";
      if (!option.choices.empty()) text += " -a '" + joined(option.choices) + "'";
      text += " -d " + quote(first_line(option.help)) + "\n";
    }
  }
  return text;
}

}  // namespace snapdiff::cli
