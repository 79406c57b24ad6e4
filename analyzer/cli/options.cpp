#include "analyzer/cli/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/terminal.hpp"
#include "snapdiff/nearest.hpp"
#include "snapdiff/size_text.hpp"

namespace snapdiff::cli {
namespace {

// One line of purpose, usage, options with defaults, examples: under 80 columns, one screen.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(std::string usage, std::vector<std::string> examples)
      : usage_(std::move(usage)), examples_(std::move(examples)) {
    column_width(28);
  }
  std::string make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode /*mode*/) const override {
    std::string help = app->get_description() + "\n\nusage: snapdiff " + usage_ + "\n\n";
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) continue;
      help += line(option);
    }
    if (!examples_.empty()) help += "\nexamples:\n";
    for (const std::string& example : examples_) help += "  " + example + "\n";
    return help;
  }

 private:
  static std::string line(const CLI::Option* option) {
    std::string names = "  " + option->get_name(false, true);
    for (std::size_t comma = names.find(','); comma != std::string::npos; comma = names.find(',', comma + 2)) {
      names.replace(comma, 1, ", ");
    }
    if (option->get_items_expected_max() > 0) names += " " + option->get_type_name();
    constexpr std::size_t kColumn = 27;
    if (names.size() + 1 < kColumn) {
      names.resize(kColumn, ' ');
    } else {
      names += "\n" + std::string(kColumn, ' ');
    }
    return names + option->get_description() + "\n";
  }

  std::string usage_;
  std::vector<std::string> examples_;
};

constexpr std::array kValueOptions = {"--db",      "--as",        "--format",    "--max-input", "--metric",
                                      "--by",      "--sort",      "-n",          "--rows",      "--min-bytes",
                                      "--focus",   "--ignore",    "--hide",      "--show",      "--allocator-frames",
                                      "-o",        "--output",    "--series",    "--label",     "--keep",
                                      "--paper",   "--max-nodes", "--recursion", "--own",       "--library",
                                      "--frames",  "--symbols",   "--limit",     "--budget",    "--budgets",
                                      "--allow",   "--accept",    "--until",     "--reason",    "--junit",
                                      "--sarif",   "--sysroot",   "--demangle",  "--loops",     "--floor",
                                      "--pattern", "--group-by",  "--units",     "--hints",     "--redact-key",
                                      "--match"};

}  // namespace

bool takes_value(const std::string& option) {
  return std::find(kValueOptions.begin(), kValueOptions.end(), option) != kValueOptions.end();
}

std::unique_ptr<CLI::App> make_command_app(const std::string& purpose, const std::string& usage,
                                           const std::vector<std::string>& examples) {
  auto app = std::make_unique<CLI::App>(purpose);
  app->formatter(std::make_shared<HelpFormatter>(usage, examples));
  app->set_help_flag("-h,--help", "this help");
  return app;
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
    std::string message = "'" + text + "' is unknown, expected ";
    for (std::size_t i = 0; i < words.size(); ++i)
      message += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return message + did_you_mean(text, words);
  };
  return CLI::Validator(check, "");
}

namespace {

// "-n" of "-n,--rows".
std::string first_name(const std::string& names) { return names.substr(0, names.find(',')); }

}  // namespace

std::int64_t parse_count(const std::string& names, const std::string& text, CountRange range) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || at != end || value < range.least || value > range.most) {
    throw CLI::ValidationError(first_name(names), "found '" + text + "', expected a whole number from " +
                                                      std::to_string(range.least) + " to " +
                                                      std::to_string(range.most));
  }
  return value;
}

CLI::Option* add_size(CLI::App& app, const std::string& names, std::optional<std::int64_t>& out, std::int64_t least,
                      const std::string& help) {
  const auto take = [&out, names, least](const std::string& text) {
    const Result<std::int64_t> size = parse_size(text);
    if (!size) throw CLI::ValidationError(first_name(names), size.error().message);
    if (*size < least)
      throw CLI::ValidationError(first_name(names), "found " + text + ", expected at least " + std::to_string(least));
    out = *size;
  };
  return app.add_option_function<std::string>(names, take, help)->type_name("SIZE");
}

namespace {

void add_hide_and_show(CLI::App& app, Options& options) {
  app.add_option("--hide", options.hide, "drop matching frames from stacks")->type_name("RE");
  app.add_option("--show", options.show, "keep only matching frames of stacks")->type_name("RE");
}

void add_frame_sets(CLI::App& app, Options& options) {
  app.add_option("--frames", options.frames, "python|native|all of CUDA snapshots (all but noise)")
      ->type_name("X")
      ->check(one_of({"usual", "python", "native", "all"}));
}

}  // namespace

void add_options(CLI::App& app, Options& options, unsigned groups) {
  if ((groups & kTakesOperands) != 0) app.add_option("operands", options.operands)->type_name("OPERAND");
  if ((groups & kTakesSeries) != 0) {
    app.add_option("--series", options.series,
                   "this series of the store, or of a folder that holds\n"
                   "                           several; files that are stored go to it")
        ->type_name("NAME");
  }
  if ((groups & kTakesView) != 0) {
    app.add_option("--metric", options.metric, "what to count (in-use bytes)")->type_name("NAME");
    app.add_option("--by", options.by,
                   "stack, function, file, line, module, type, role (CUDA),\n"
                   "                           label:KEY (stack)")
        ->type_name("KIND");
    app.add_option("--sort", options.sort, "change, growth, after, objects, name (change)")
        ->type_name("KEY")
        ->check(one_of({"change", "growth", "after", "objects", "name"}));
    app.add_option("--focus", options.focus, "only stacks with a matching frame")->type_name("RE");
    app.add_option("--ignore", options.ignore, "no stacks with a matching frame")->type_name("RE");
    add_hide_and_show(app, options);
    app.add_option("--allocator-frames", options.allocator_frames, "hide|show malloc, operator new at the leaf (hide)")
        ->type_name("X")
        ->check(one_of({"hide", "show"}));
    add_frame_sets(app, options);
    app.add_option("--own", options.own, "frames that match are your own code, whatever the rules say")
        ->type_name("RE");
    app.add_option("--library", options.library, "frames that match are library code; culprits are named above them")
        ->type_name("RE");
    app.add_option("--recursion", options.recursion, "fold|show how deep a recursion went (fold)")
        ->type_name("X")
        ->check(one_of({"fold", "show"}));
    app.add_option("--match", options.match, "builds|strict: across builds, or as recorded only (builds)")
        ->type_name("X")
        ->check(one_of({"builds", "strict"}));
  }
  if ((groups & kTakesFrames) != 0) {
    add_hide_and_show(app, options);
    add_frame_sets(app, options);
  }
  if ((groups & (kTakesRows | kTakesCount)) != 0)
    add_count(app, "-n,--rows", options.rows, {0, 1'000'000'000}, "rows shown; 0 = all (text 20, others all)");
  if ((groups & kTakesRows) != 0) {
    add_size(app, "--min-bytes", options.min_bytes, 0, "smaller rows go to [N others] (0)");
    app.add_flag("--cum", options.cumulative, "with --by: order by what a frame calls, too");
  }
  if ((groups & kTakesForm) != 0) {
    app.add_option("--as", options.as, "text, json, jsonl, csv, md (text)")
        ->type_name("FORM")
        ->check(one_of({"text", "json", "jsonl", "csv", "md"}));
  }
  if ((groups & kReadsFiles) != 0) {
    app.add_option("--format", options.input_format, "input format, see 'snapdiff formats' (detect)")
        ->type_name("NAME");
    add_size(app, "--max-input", options.max_input, 1, "refuse more decompressed bytes (64GiB)");
    app.add_flag("--strict", options.strict, "exit 2 when a part of an input is lost");
    app.add_option("--pattern", options.patterns,
                   "lines of a log: groups value, name, unit, time,\n"
                   "                           iteration; repeatable")
        ->type_name("RE")
        ->allow_extra_args(false);
    app.add_option("--group-by", options.group_by, "its group, e.g. a thread, tells a log's series apart")
        ->type_name("RE");
    app.add_option("--units", options.units, "binary|si: KB, MB, GB of a log (binary)")
        ->type_name("X")
        ->check(one_of({"binary", "si"}));
  }
  if ((groups & kTakesSymbols) != 0) {
    app.add_option("--symbols", options.symbols,
                   "name raw addresses from this binary or debug file,\n"
                   "                           or those in this folder; repeatable")
        ->type_name("PATH")
        ->allow_extra_args(false);
    app.add_option("--sysroot", options.sysroot, "name them from recorded paths below this folder")->type_name("DIR");
    app.add_flag("--debuginfod", options.debuginfod,
                 "name them with debug files that the servers in\n"
                 "                           DEBUGINFOD_URLS have; the only use of a network");
    app.add_option("--demangle", options.demangle, "none|simple|full (full)")
        ->type_name("X")
        ->check(one_of({"none", "simple", "full"}));
  }
  app.add_option("--db", options.db,
                 "store (SNAPDIFF_DB, else snapdiff.db; :memory:\n"
                 "                           leaves nothing)")
      ->type_name("PATH");
  app.add_flag("--no-color", options.no_color, "no colour, also on a terminal");
}

namespace {

// The first word that the command does not take: an option that it does not have, else one word too many.
Error unexpected_word(const CLI::App& app) {
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

}  // namespace

std::optional<int> parse_arguments(CLI::App& app, Options& options, std::vector<std::string> arguments) {
  // CLI11 gives what follows "--" to the parent app; here it must reach the operands.
  std::vector<std::string> after_dashes;
  if (const auto dashes = std::find(arguments.begin(), arguments.end(), "--"); dashes != arguments.end()) {
    after_dashes.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return print_data(app.help()) ? kExitDone : kExitBadInput;
  } catch (const CLI::ExtrasError&) {
    say_error(unexpected_word(app), "see --help");
    return kExitBadInput;
  } catch (const CLI::ParseError& failure) {
    std::string message = failure.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    say_error(Error{ErrorCode::usage, message}, "see --help");
    return kExitBadInput;
  }
  options.operands.insert(options.operands.end(), after_dashes.begin(), after_dashes.end());
  return std::nullopt;
}

Result<std::int64_t> parse_size(const std::string& text) {
  if (const std::optional<double> bytes = parse_bytes(text); bytes && *bytes >= 0)
    return static_cast<std::int64_t>(*bytes);
  return Error{ErrorCode::usage, "'" + text + "' is not a size: expected e.g. 4096, 64KiB or 2GiB"};
}

Result<DiffOptions> diff_options(const Options& options) {
  DiffOptions out;
  out.metric = options.metric;
  if (options.by.rfind("label:", 0) == 0 && options.by.size() > 6) {
    out.by = GroupBy::label;
    out.label_key = options.by.substr(6);
  } else if (options.by == "role") {
    out.by = GroupBy::label;
    out.label_key = options.by;
  } else {
    static constexpr std::array kKinds = {GroupBy::stack, GroupBy::function, GroupBy::file,
                                          GroupBy::line,  GroupBy::module,   GroupBy::type};
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](GroupBy by) { return to_text(by) == options.by; });
    if (kind == kKinds.end()) {
      std::vector<std::string> names;
      for (const GroupBy by : kKinds) names.emplace_back(to_text(by));
      return Error{ErrorCode::usage, "--by " + options.by +
                                         ": expected stack, function, file, line, module, type, role or label:KEY" +
                                         did_you_mean(options.by, names)};
    }
    out.by = *kind;
  }
  static constexpr std::array<std::pair<std::string_view, SortKey>, 5> kSorts = {{{"change", SortKey::change},
                                                                                  {"growth", SortKey::growth},
                                                                                  {"after", SortKey::after},
                                                                                  {"objects", SortKey::objects},
                                                                                  {"name", SortKey::name}}};
  for (const auto& [name, key] : kSorts) {
    if (options.sort == name) out.sort = key;
  }
  out.focus = options.focus;
  out.ignore = options.ignore;
  out.hide = options.hide;
  out.show = options.show;
  out.own = options.own;
  out.library = options.library;
  out.hide_allocator_frames = options.allocator_frames == "hide";
  out.fold_recursion = options.recursion == "fold";
  out.match_strictly = options.match == "strict";
  for (const FrameSet set : {FrameSet::usual, FrameSet::python, FrameSet::native, FrameSet::all}) {
    if (options.frames == to_text(set)) out.frames = set;
  }
  return out;
}

std::string options_to_json(const DiffOptions& options, std::optional<SnapshotId> newest) {
  nlohmann::ordered_json json = {{"metric", options.metric},
                                 {"by", static_cast<int>(options.by)},
                                 {"label_key", options.label_key},
                                 {"sort", static_cast<int>(options.sort)},
                                 {"focus", options.focus},
                                 {"ignore", options.ignore},
                                 {"hide", options.hide},
                                 {"show", options.show},
                                 {"own", options.own},
                                 {"library", options.library},
                                 {"hide_allocator_frames", options.hide_allocator_frames},
                                 {"frames", static_cast<int>(options.frames)},
                                 {"fold_recursion", options.fold_recursion},
                                 {"match_strictly", options.match_strictly}};
  if (newest) json["newest"] = static_cast<std::int64_t>(*newest);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

DiffOptions options_from_json(const std::string& text) {
  DiffOptions options;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return options;
  const auto read_text = [&](const char* key, std::string& out) {
    if (const auto found = json.find(key); found != json.end() && found->is_string()) out = *found;
  };
  const auto read_number = [&](const char* key, int last) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? std::clamp(found->get<int>(), 0, last) : 0;
  };
  read_text("metric", options.metric);
  read_text("label_key", options.label_key);
  read_text("focus", options.focus);
  read_text("ignore", options.ignore);
  read_text("hide", options.hide);
  read_text("show", options.show);
  read_text("own", options.own);
  read_text("library", options.library);
  options.by = static_cast<GroupBy>(read_number("by", static_cast<int>(GroupBy::label)));
  options.sort = static_cast<SortKey>(read_number("sort", static_cast<int>(SortKey::name)));
  options.frames = static_cast<FrameSet>(read_number("frames", static_cast<int>(FrameSet::all)));
  const auto read_flag = [&](const char* key, bool& out) {
    if (const auto found = json.find(key); found != json.end() && found->is_boolean()) out = *found;
  };
  read_flag("hide_allocator_frames", options.hide_allocator_frames);
  read_flag("fold_recursion", options.fold_recursion);
  read_flag("match_strictly", options.match_strictly);
  return options;
}

std::optional<SnapshotId> newest_from_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find("newest");
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return SnapshotId{found->get<std::int64_t>()};
}

Result<report::Form> form_of(const Options& options) {
  if (options.as == "json") return report::Form::json;
  if (options.as == "jsonl") return report::Form::jsonl;
  if (options.as == "csv") return report::Form::csv;
  if (options.as == "md") return report::Form::markdown;
  return report::Form::text;
}

}  // namespace snapdiff::cli
