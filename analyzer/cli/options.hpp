#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/report.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::cli {

/// Every option that more than one command takes, as parsed; the view of a diff among them.
struct Options {
  std::vector<std::string> operands;
  std::string db;  ///< "" = SNAPDIFF_DB, else snapdiff.db
  bool no_color = false;
  bool strict = false;
  std::string as = "text";
  std::string input_format;
  std::optional<std::int64_t> max_input;  ///< bytes
  std::vector<std::string> patterns;
  std::string group_by;
  std::string units = "binary";
  std::string metric;
  std::string by = "stack";
  std::string sort = "change";
  std::optional<std::size_t> rows;
  std::optional<std::int64_t> min_bytes;
  std::string focus, ignore, hide, show;
  std::string allocator_frames = "hide";
  std::string recursion = "fold";
  std::string own;      ///< RE2: the user's own code
  std::string library;  ///< RE2: library code
  std::string match = "builds";
  std::string frames = "usual";
  std::vector<std::string> symbols;
  std::string sysroot;
  std::string demangle = "full";
  bool debuginfod = false;
  bool cumulative = false;
  bool steps = false;
  bool counters = false;
  std::string output;
  std::string series;
};

/// Which groups of options a command takes.
enum OptionGroup : unsigned {
  kTakesOperands = 1,
  kTakesView = 2,      ///< --metric, --by, --sort, filters
  kTakesRows = 4,      ///< -n, --min-bytes, --cum
  kTakesForm = 8,      ///< --as
  kReadsFiles = 16,    ///< --format, --max-input, --strict, --pattern, --group-by, --units
  kTakesSymbols = 32,  ///< --symbols, --sysroot, --debuginfod, --demangle
  kTakesFrames = 64,   ///< --hide, --show, --frames alone
  kTakesCount = 128,   ///< -n alone
  kTakesSeries = 256,  ///< --series
};

/// An app for one command with its help in our form. `usage` starts after "usage: snapdiff ";
/// `examples` are whole lines.
std::unique_ptr<CLI::App> make_command_app(const std::string& purpose, const std::string& usage,
                                           const std::vector<std::string>& examples);
void add_options(CLI::App& app, Options& options, unsigned groups);

/// Parses; nullopt to go on, else the exit code (help was printed, or the error was told). Words after
/// "--" are operands whatever they look like.
std::optional<int> parse_arguments(CLI::App& app, Options& options, std::vector<std::string> arguments);

/// Takes one of these words, and names the nearest for another one; the help of the option lists them itself.
CLI::Validator one_of(const std::vector<std::string>& words);

struct CountRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

template <class Number>
void assign(Number& out, std::int64_t value) {
  out = static_cast<Number>(value);
}
template <class Number>
void assign(std::optional<Number>& out, std::int64_t value) {
  out = static_cast<Number>(value);
}

/// The number, for add_count(). Throws CLI::ValidationError that names the option.
std::int64_t parse_count(const std::string& names, const std::string& text, CountRange range);

/// An option that takes a whole number of a range; any other text is refused. `names`: "-n,--rows".
template <class Number>
CLI::Option* add_count(CLI::App& app, const std::string& names, Number& out, CountRange range,
                       const std::string& help) {
  return app
      .add_option_function<std::string>(
          names, [&out, names, range](const std::string& text) { assign(out, parse_count(names, text, range)); }, help)
      ->type_name("N");
}

/// An option that takes a size of at least `least` bytes.
CLI::Option* add_size(CLI::App& app, const std::string& names, std::optional<std::int64_t>& out, std::int64_t least,
                      const std::string& help);

/// "64KiB", "10MB", "4096": binary units, case ignored, from 0 to 9.2e18 bytes. Errors: usage.
Result<std::int64_t> parse_size(const std::string& text);

/// The engine's options. Errors: usage (unknown --by or --sort, bad size).
Result<DiffOptions> diff_options(const Options& options);

/// The view as kept with the last comparison, and back.
/// `newest`: the snapshot that was imported last when it was compared.
std::string options_to_json(const DiffOptions& options, std::optional<SnapshotId> newest = {});
DiffOptions options_from_json(const std::string& json);
std::optional<SnapshotId> newest_from_json(const std::string& json);

Result<report::Form> form_of(const Options& options);

/// All options that take a value, to find the command word among the arguments.
bool takes_value(const std::string& option);

}  // namespace snapdiff::cli
