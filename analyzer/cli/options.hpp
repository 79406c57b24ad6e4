#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/cli/command_line.hpp"
#include "analyzer/cli/terminal.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/session/request.hpp"
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
  std::optional<std::int64_t> memory;     ///< bytes of columns that are kept in memory
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
  bool open = false;
  std::string series;
  std::vector<std::string> headers;                ///< of addresses
  std::optional<std::chrono::milliseconds> every;  ///< between two snapshots of an address
  std::optional<std::size_t> count;                ///< how many
  std::int64_t timeout_seconds = 60;
  std::string into;          ///< folder for what is fetched
  bool needs_hashes = true;  ///< of files: set by the command, where its answer says or keeps none
};

/// Which groups of options a command takes.
enum OptionGroup : unsigned {
  kTakesOperands = 1,
  kTakesView = 2,      ///< --metric, --by, --sort, filters
  kTakesRows = 4,      ///< -n, --min-bytes, --cum
  kTakesForm = 8,      ///< --as
  kReadsFiles = 16,    ///< --format, --max-input, --memory, --strict, --pattern, --group-by, --units
  kTakesSymbols = 32,  ///< --symbols, --sysroot, --debuginfod, --demangle
  kTakesFrames = 64,   ///< --hide, --show, --frames alone
  kTakesCount = 128,   ///< -n alone
  kTakesSeries = 256,  ///< --series
  kAsksFleet = 512,    ///< --by takes what instances have, too
  kFetches = 1024,     ///< operands may be addresses (addresses.hpp)
};

void add_options(CommandLine& line, Options& options, unsigned groups);

/// "64KiB", "10MB", "4096": binary units, case ignored, from 0 to 9.2e18 bytes. Errors: usage.
Result<std::int64_t> parse_size(const std::string& text);

/// How operands are opened, and the terminal shown what goes on.
session::Request request_of(const Options& options, const Terminal& terminal);

/// "K=V" texts. Throws usage.
std::vector<std::pair<std::string, std::string>> label_pairs(const std::vector<std::string>& texts);

/// The engine's options. Throws usage (unknown --by or --sort, bad size).
DiffOptions diff_options(const Options& options);

report::Form form_of(const Options& options);

}  // namespace snapdiff::cli
