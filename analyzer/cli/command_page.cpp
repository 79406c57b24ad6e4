#include "analyzer/cli/command_page.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace snapdiff::cli {
namespace {

constexpr std::size_t kHelpColumn = 27;

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

// The second and later lines begin below the first.
std::string indented(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out.append(kHelpColumn, ' ');
  }
  return out;
}

std::string help_line(const CommandPage::Option& option) {
  std::string names = "  " + joined(option.names, ", ");
  if (!option.value.empty()) names += " " + option.value;
  if (names.size() + 1 < kHelpColumn) {
    names.resize(kHelpColumn, ' ');
  } else {
    names += "\n" + std::string(kHelpColumn, ' ');
  }
  return names + indented(option.help) + "\n";
}

// Text of a roff source: a line may begin with a dot or a quote, a dash is a minus sign in what is typed.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Lines of the usage are indented below it.
std::string flush_left(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || (!out.empty() && out.back() != '\n')) out += c;
  }
  return out;
}

// Without the full stop and with a small letter at the beginning, as whatis(1) lists it.
std::string whatis(const std::string& purpose) {
  std::string text = one_line(purpose);
  if (const std::size_t stop = text.find(". "); stop != std::string::npos) text.resize(stop);
  if (text.ends_with('.')) text.pop_back();
  const bool is_word = text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
  if (is_word && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

}  // namespace

std::string help_text(const CommandPage& page) {
  std::string help = page.purpose + "\n\nusage: snapdiff " + page.usage + "\n\n";
  constexpr std::size_t kGroupedFrom = 12;  // fewer options are found without headings
  std::string_view group;
  for (const CommandPage::Option& option : page.options) {
    if (option.group != group && page.options.size() >= kGroupedFrom) help += "\n" + option.group + "\n";
    group = option.group;
    help += help_line(option);
  }
  if (!page.examples.empty()) help += "\nexamples:\n";
  for (const std::string& example : page.examples) help += "  " + example + "\n";
  return help;
}

std::string manual_text(std::string_view text) { return ".nf\n" + roff(text) + ".fi\n"; }

std::string manual_entry(const CommandPage& page, const std::string& name) {
  const std::string usage = page.usage.substr(0, page.usage.find('\n'));
  return ".TP\n.BR snapdiff\\-" + name + " (1)\n" + roff(usage) + "\n.br\n" + roff(one_line(page.purpose)) + "\n";
}

std::string manual_page(const CommandPage& page, const std::string& name, const std::string& version) {
  std::string text = ".TH SNAPDIFF\\-" + capitals(name) + " 1 \"\" \"" + version + "\" \"User Commands\"\n.SH NAME\n";
  text += "snapdiff\\-" + name + " \\- " + roff(whatis(page.purpose)) + "\n.SH SYNOPSIS\n";
  const std::size_t line_end = std::min(page.usage.find('\n'), page.usage.size());
  text += ".B snapdiff\n" + roff(page.usage.substr(0, line_end)) + "\n.SH DESCRIPTION\n" + roff(one_line(page.purpose));
  const std::string explained = flush_left(page.usage.substr(line_end));
  if (const std::size_t begin = explained.find_first_not_of('\n'); begin != std::string::npos)
    text += "\n.PP\n.nf\n" + roff(explained.substr(begin)) + "\n.fi";
  text += "\n.SH OPTIONS\n";
  for (const CommandPage::Option& option : page.options) {
    text += ".TP\n.B " + roff(joined(option.names, ", "));
    if (!option.value.empty()) text += " \\fI" + roff(option.value) + "\\fR";
    text += "\n" + roff(one_line(option.help)) + "\n";
  }
  if (!page.examples.empty()) text += ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : page.examples) text += roff(example) + "\n";
  if (!page.examples.empty()) text += ".fi\n";
  return text + ".SH SEE ALSO\n.BR snapdiff (1)\n";
}

}  // namespace snapdiff::cli
