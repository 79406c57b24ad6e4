#include "analyzer/cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "analyzer/base/nearest.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/cli/terminal.hpp"

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

// Forms of output: "--json" is short for "--as json", "--pdf" for "-o snapdiff.pdf". Text forms come first.
constexpr std::array<std::string_view, 8> kSpellings = {"json", "jsonl", "csv", "md", "pdf", "html", "svg", "png"};
constexpr std::ptrdiff_t kTextSpellings = 4;

// The names that options of other programs have here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kMeant = {{
    {"-v", "--version prints the version, 'snapdiff info FILE' what was read and dropped"},
    {"--verbose", "'snapdiff info FILE' prints what was read and dropped"},
    {"-V", "--version prints the version"},
    {"--limit", "-n 5 shows 5 rows; 'snapdiff trend FILES --limit 24GiB' says when the total reaches it"},
    {"--top", "-n 5 shows 5 rows"},
    {"--json", "this command has no JSON"},
    {"--pdf", "'snapdiff render --pdf FILES -o x.pdf' draws it"},
    {"--html", "'snapdiff render --html FILES -o x.html' makes the page"},
    {"--svg", "'snapdiff render --svg FILES -o x.svg' draws it"},
    {"--png", "'snapdiff render --png FILES -o x.png' draws it"},
    {"-o", "'> FILE' behind the command writes its output to a file"},
    {"--output", "'> FILE' behind the command writes its output to a file"},
}};

std::string meant_by(std::string_view name) {
  for (const auto& [option, text] : kMeant) {
    if (option == name) return std::string(text);
  }
  return {};
}

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
  option.group_ = group_;
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

Option& CommandLine::duration(std::string_view names, std::optional<std::chrono::milliseconds>& out,
                              std::string_view help) {
  return declare(names, "TIME", help, [&out](const std::string& text) -> Status {
    constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kUnits = {
        {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, failure] = std::from_chars(text.data(), end, value);
    const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(), [&, at = at](const auto& one) {
      return one.first == std::string_view(at, static_cast<std::size_t>(end - at));
    });
    const double time = unit == kUnits.end() ? 0 : value * static_cast<double>(unit->second);
    constexpr double kLongest = 31.0 * 24 * 3'600'000;
    if (failure != std::errc{} || !(time >= 1 && time <= kLongest))
      return Error{ErrorCode::usage, "found '" + text + "', expected a time like 500ms, 30s, 5m or 2h"};
    out = std::chrono::milliseconds(static_cast<std::int64_t>(time));
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
  CommandPage page{purpose_, usage_, examples_, {{{"-h", "--help"}, "", "this help", {}, "output"}}};
  for (const Option& option : options_)
    page.options.push_back({split_names(option.names_), option.value_, option.help_, option.choices_, option.group_});
  const auto place = [](const CommandPage::Option& option) {
    constexpr std::array<std::string_view, 6> kGroups = {"", "input", "filter", "symbols", "store", "output"};
    return std::find(kGroups.begin(), kGroups.end(), option.group) - kGroups.begin();
  };
  std::stable_sort(page.options.begin(), page.options.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return page;
}

bool CommandLine::has(std::string_view name) const {
  return std::any_of(options_.begin(), options_.end(), [&](const Option& option) {
    const std::vector<std::string> names = split_names(option.names_);
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

// Short spellings: --json of --as json; --pdf of -o snapdiff.pdf, or nothing beside -o x.pdf.
std::vector<std::string> CommandLine::spelled_out(std::vector<std::string> words) const {
  std::string output;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if ((words[i] == "-o" || words[i] == "--output") && i + 1 < words.size()) output = words[i + 1];
    if (words[i].starts_with("--output=")) output = words[i];
  }
  std::vector<std::string> out;
  for (std::string& word : words) {
    const std::string form = word.starts_with("--") && !has(word) ? word.substr(2) : "";
    const auto place = std::find(kSpellings.begin(), kSpellings.end(), form) - kSpellings.begin();
    const bool is_text = place < kTextSpellings, is_picture = !is_text && place < std::ssize(kSpellings);
    if (is_text && has("--as")) word = "--as=" + form;
    if (is_picture && has("--output") && has("--open")) {
      if (output.ends_with("." + form)) continue;
      if (output.empty()) word = "--output=snapdiff." + form;
    }
    out.push_back(std::move(word));
  }
  return out;
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
  Error unexpected_word(const CommandLine& line) const {
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
    const std::string unknown = "unknown option " + name;
    for (const std::string_view form : kSpellings) {
      if (const std::string spelled = "--" + std::string(form); line.spelled_out({spelled}).front() != spelled)
        known.push_back(spelled);
    }
    const std::string near = meant_by(name).empty() ? did_you_mean(name, known) : std::string();
    if (!near.empty()) return {ErrorCode::usage, unknown + near};
    std::vector<std::string> elsewhere;
    for (const auto& [other, text] : kMeant) elsewhere.emplace_back(other);
    const std::string meant = meant_by(nearest_word(name, elsewhere));
    return {ErrorCode::usage, meant.empty() ? unknown : unknown + ": " + meant};
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
  std::vector<std::string> words = spelled_out({arguments.words.begin(), dashes});
  std::reverse(words.begin(), words.end());
  CommandParser parser(*this);
  try {
    parser.app.parse(words);
  } catch (const CLI::CallForHelp&) {
    value_or_throw(print_data(help_text(page())));
    return kExitDone;
  } catch (const CLI::ExtrasError&) {
    return refuse(parser.unexpected_word(*this));
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
