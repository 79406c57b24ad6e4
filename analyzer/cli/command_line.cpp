#include "analyzer/cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <utility>

#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/cli/terminal.hpp"
#include "snapdiff/nearest.hpp"

namespace snapdiff::cli {
namespace {

std::vector<std::string> split_names(const std::string& names) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    out.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// "-n" of "-n,--rows".
std::string first_name(const std::string& names) { return names.substr(0, names.find(',')); }

Status one_of(const std::vector<std::string>& words, const std::string& text) {
  if (std::find(words.begin(), words.end(), text) != words.end()) return ok();
  std::string message = "'" + text + "' is unknown, expected ";
  for (std::size_t i = 0; i < words.size(); ++i)
    message += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return Error{ErrorCode::usage, message + did_you_mean(text, words)};
}

}  // namespace

Option& Option::choices(std::vector<std::string> words) {
  choices_ = std::move(words);
  return check([this](const std::string& text) { return one_of(choices_, text); });
}

Option& Option::suggestions(std::vector<std::string> words) {
  choices_ = std::move(words);
  return *this;
}

Option& Option::check(std::function<Status(const std::string&)> accepts) {
  checks_.push_back(std::move(accepts));
  return *this;
}

Option& Option::excludes(std::string_view name) {
  excluded_.emplace_back(name);
  return *this;
}

Option& Option::needs(std::string_view name) {
  needed_.emplace_back(name);
  return *this;
}

Option& Option::required() {
  is_required_ = true;
  return *this;
}

Option& Option::called(std::string_view value) {
  value_ = value;
  return *this;
}

CommandLine::CommandLine(std::string purpose, std::string usage, std::vector<std::string> examples)
    : purpose_(std::move(purpose)), usage_(std::move(usage)), examples_(std::move(examples)) {}

Option& CommandLine::declare(std::string_view names, std::string_view value, std::string_view help,
                             std::function<Status(const std::string&)> take) {
  Option& option = options_.emplace_back();
  option.names_ = names;
  option.value_ = value;
  option.help_ = help;
  option.take_ = std::move(take);
  return option;
}

Option& CommandLine::flag(std::string_view names, bool& out, std::string_view help) {
  return declare(names, "", help, [&out](const std::string&) {
    out = true;
    return ok();
  });
}

Option& CommandLine::text(std::string_view names, std::string_view value, std::string& out, std::string_view help) {
  return declare(names, value, help, [&out](const std::string& text) {
    out = text;
    return ok();
  });
}

Option& CommandLine::texts(std::string_view names, std::string_view value, std::vector<std::string>& out,
                           std::string_view help) {
  Option& option = declare(names, value, help, [&out](const std::string& text) {
    out.push_back(text);
    return ok();
  });
  option.is_repeatable_ = true;
  return option;
}

Option& CommandLine::size(std::string_view names, std::optional<std::int64_t>& out, std::int64_t least,
                          std::string_view help) {
  return declare(names, "SIZE", help, [&out, least](const std::string& text) -> Status {
    const Result<std::int64_t> size = parse_size(text);
    if (!size) return size.error();
    if (*size < least) return Error{ErrorCode::usage, "found " + text + ", expected at least " + std::to_string(least)};
    out = *size;
    return ok();
  });
}

Result<std::int64_t> CommandLine::parse_count(const std::string& text, CountRange range) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, value);
  if (failure == std::errc{} && at == end && value >= range.least && value <= range.most) return value;
  return Error{ErrorCode::usage, "found '" + text + "', expected a whole number from " + std::to_string(range.least) +
                                     " to " + std::to_string(range.most)};
}

CommandPage CommandLine::page() const {
  CommandPage page{purpose_, usage_, examples_, {{{"-h", "--help"}, "", "this help", {}}}};
  for (const Option& option : options_)
    page.options.push_back({split_names(option.names_), option.value_, option.help_, option.choices_});
  return page;
}

bool CommandLine::is_given(std::string_view name) const {
  return std::find(given_.begin(), given_.end(), name) != given_.end();
}

/// The same options as CLI11 has them, for one parse.
struct CommandParser {
  explicit CommandParser(const CommandLine& line) {
    app.set_help_flag("-h,--help");
    for (const Option& option : line.options_) {
      CLI::Option* made = option.value_.empty() ? app.add_flag(option.names_)
                          : option.is_repeatable_
                              ? app.add_option(option.names_, values.emplace_back())->allow_extra_args(false)
                              : app.add_option(option.names_, texts.emplace_back());
      made->type_name(option.value_)->required(option.is_required_);
      for (const std::string& other : option.excluded_) made->excludes(app.get_option(other));
      for (const std::string& other : option.needed_) made->needs(app.get_option(other));
    }
    if (line.operands_ != nullptr) app.add_option("operands", operands);
  }

  // What was given goes to where it belongs, in the order of declaration.
  Status hand_out(CommandLine& line) const {
    for (const Option& option : line.options_) {
      const CLI::Option* given = app.get_option(first_name(option.names_));
      if (given->count() == 0) continue;
      for (const std::string& name : split_names(option.names_)) line.given_.push_back(name);
      if (option.value_.empty()) {
        if (Status taken = option.take_(""); !taken) return taken;
        continue;
      }
      for (const std::string& text : given->results()) {
        Status taken = ok();
        for (const auto& check : option.checks_) taken = taken ? check(text) : taken;
        if (taken) taken = option.take_(text);
        if (!taken) return Error{ErrorCode::usage, first_name(option.names_) + ": " + taken.error().message};
      }
    }
    return ok();
  }

  // The first word that the command does not take: an option that it does not have, else one word too many.
  Error unexpected_word() const {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      for (const std::string& name : option->get_snames()) known.push_back("-" + name);
    }
    const std::vector<std::string> words = app.remaining();
    const auto option = std::find_if(words.begin(), words.end(),
                                     [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
    if (option == words.end())
      return {ErrorCode::usage, "'" + (words.empty() ? std::string() : words.front()) + "': one word too many"};
    const std::string name = option->substr(0, option->find('='));
    return {ErrorCode::usage, "unknown option " + name + did_you_mean(name, known)};
  }

  CLI::App app;
  std::deque<std::string> texts;
  std::deque<std::vector<std::string>> values;
  std::vector<std::string> operands;
};

std::optional<int> CommandLine::parse(const Arguments& arguments) {
  if (arguments.page != nullptr) {
    *arguments.page = page();
    return kExitDone;
  }
  const auto refuse = [](const Error& error) {
    say_error(error, "see --help");
    return kExitBadInput;
  };
  // CLI11 gives what follows "--" to a parent; here it must reach the operands.
  const auto dashes = std::find(arguments.words.begin(), arguments.words.end(), "--");
  std::vector<std::string> words(arguments.words.begin(), dashes);
  std::reverse(words.begin(), words.end());
  CommandParser parser(*this);
  try {
    parser.app.parse(words);
  } catch (const CLI::CallForHelp&) {
    value_or_throw(print_data(help_text(page())));
    return kExitDone;
  } catch (const CLI::ExtrasError&) {
    return refuse(parser.unexpected_word());
  } catch (const CLI::ParseError& failure) {
    std::string message = failure.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    return refuse({ErrorCode::usage, message});
  }
  if (const Status taken = parser.hand_out(*this); !taken) return refuse(taken.error());
  if (operands_ != nullptr) {
    operands_->insert(operands_->end(), parser.operands.begin(), parser.operands.end());
    if (dashes != arguments.words.end()) operands_->insert(operands_->end(), dashes + 1, arguments.words.end());
  } else if (dashes != arguments.words.end() && dashes + 1 != arguments.words.end()) {
    return refuse({ErrorCode::usage, "'" + dashes[1] + "': one word too many"});
  }
  return std::nullopt;
}

}  // namespace snapdiff::cli
