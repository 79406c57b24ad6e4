#include <chrono>
#include <cstdio>
#include <utility>

#include "analyzer/base/words.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/session/importing.hpp"
#include "analyzer/session/list_text.hpp"

namespace snapdiff::cli {
namespace {

/// Each operand must be a path. Throws io, usage.
std::vector<session::Operand> files_of(const Options& options) {
  std::vector<session::Operand> operands = value_or_throw(session::parse_operands(options.operands));
  for (const session::Operand& operand : operands) {
    if (session::is_whole_series(operand))
      fail({ErrorCode::io, "no such file or directory" + session::near_file(operand.text), std::nullopt, operand.text});
    if (!operand.is_path())
      fail({ErrorCode::usage, "import takes files: '" + operand.text + "' is in the store already"});
  }
  return operands;
}

// Names the series that were touched, if there are several.
void tell_series(const std::vector<store::SeriesInfo>& touched) {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> names;
  names.reserve(touched.size());
  for (const store::SeriesInfo& series : touched)
    names.push_back(escape_for_terminal(series.name) + " (" + std::to_string(series.snapshots.size()) + ")");
  if (touched.size() > 1)
    say("series  " + std::to_string(touched.size()) + " series: " + session::list_and_more(names, kMostNamed));
}

void tell_summary(const session::Import::Counts& counts, std::size_t refused, double seconds) {
  std::string summary = "import  " + counted(counts.added, "snapshot");
  if (counts.present > 0) summary += ", " + std::to_string(counts.present) + " stored before";
  if (refused > 0) summary += ", " + std::to_string(refused) + " refused (see above)";
  char time[32];
  std::snprintf(time, sizeof time, " in %.1f s", seconds);
  say(summary + ", " + bytes_text(static_cast<std::int64_t>(counts.bytes)) + time);
}

/// Names addresses and says what became of them and of the series.
void tell_outcome(session::Import& import, const session::Request& request) {
  const std::optional<session::StoreNames> names = value_or_throw(import.name());
  if (names) say_note(session::naming_note(names->report, request));
  const std::vector<store::SeriesInfo> touched = value_or_throw(import.touched());
  if (!touched.empty()) tell_series(touched);
}

}  // namespace

int run_import(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  Options options;
  std::vector<std::string> label_texts;
  CommandLine line("Read snapshots into the store.",
                   "import [options] FILE...\n\n"
                   "  FILE is a file, a directory of snapshots, or - (stdin)",
                   {"snapdiff import heaps/ --series web", "snapdiff import a.heap --label release=1.4"});
  add_options(line, options, kTakesOperands | kReadsFiles | kTakesSymbols);
  session::ImportOptions wanted;
  line.text("--series", "NAME", wanted.series, "series to add to (from the file names)");
  line.texts("--label", "K=V", label_texts, "a label for each snapshot; repeatable");
  line.flag("--per-device", wanted.per_device, "CUDA: a series for each device (NAME/cuda:0, ...)");
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) fail({ErrorCode::usage, "import needs at least one file, see --help"});
  for (const auto& [key, value] : label_pairs(label_texts)) wanted.labels[key] = value;

  const std::vector<session::Operand> operands = files_of(options);

  const Terminal terminal = look_at_terminal(options.no_color);
  const session::Request request = request_of(options, terminal);
  session::Import import(request, std::move(wanted));
  std::size_t refused = 0;
  int code = kExitDone;
  for (const session::Operand& operand : operands) {
    Result<Loaded> loaded = import.read(operand);
    if (!loaded) {
      say_error(loaded.error());
      ++refused;
      code = kExitBadInput;
      continue;
    }
    value_or_throw(import.open());
    if (const int partial_code = tell_notes(*loaded, options); partial_code != kExitDone) {
      say_error({ErrorCode::malformed, "a part of the input is lost, refused by --strict", std::nullopt, operand.text});
      ++refused;
      code = partial_code;
      continue;
    }
    value_or_throw(session::in_stage(request.watch, "storing", [&] { return import.store(*loaded); }));
  }
  if (import.counts().added + import.counts().present == 0) return code;
  tell_outcome(import, request);
  tell_summary(import.counts(), refused,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return code;
}

}  // namespace snapdiff::cli
