#include <chrono>
#include <cstdio>
#include <map>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/naming.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "formats/registry.hpp"

namespace snapdiff::cli {
namespace {

Result<std::map<std::string, std::string>> parse_labels(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> labels;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Error{ErrorCode::usage, "--label " + text + ": expected KEY=VALUE"};
    }
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

struct Counts {
  std::size_t added = 0;
  std::size_t present = 0;
  std::size_t refused = 0;
  std::uint64_t bytes = 0;
};

std::vector<LoadedSnapshot> devices_of(const std::vector<LoadedSnapshot>& snapshots, bool per_device) {
  if (!per_device) return snapshots;
  std::vector<LoadedSnapshot> parts;
  for (const LoadedSnapshot& item : snapshots) {
    for (Snapshot& part : cuda::by_device(*item.ref.snapshot)) {
      parts.push_back(item);
      parts.back().ref.snapshot = std::make_shared<const Snapshot>(std::move(part));
    }
  }
  return parts;
}

std::string device_suffix(const LoadedSnapshot& item, bool per_device) {
  const auto& labels = item.ref.snapshot->facts.labels;
  const auto device = labels.find("device");
  if (!per_device || device == labels.end()) return {};
  return device->second == "host" ? "/host" : "/cuda:" + device->second;
}

}  // namespace

int run_import(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  Options options;
  std::string series;
  std::vector<std::string> label_texts;
  auto app = make_command_app("Read snapshots into the store.",
                              "import [options] FILE...\n\n"
                              "  FILE is a file, a directory of snapshots, or - (stdin)",
                              {"snapdiff import heaps/ --series web", "snapdiff import a.heap --label release=1.4"});
  add_options(*app, options, kTakesOperands | kReadsFiles | kTakesSymbols);
  app->add_option("--series", series, "series to add to (from the file names)")->type_name("NAME");
  app->add_option("--label", label_texts, "a label for each snapshot; repeatable")
      ->type_name("K=V")
      ->allow_extra_args(false);
  bool per_device = false;
  app->add_flag("--per-device", per_device, "CUDA: a series for each device (NAME/cuda:0, ...)");
  if (const auto code = parse_arguments(*app, options, arguments)) return *code;
  if (options.operands.empty()) return fail({ErrorCode::usage, "import needs at least one file, see --help"});
  const auto labels = parse_labels(label_texts);
  if (!labels) return fail(labels.error());

  const Terminal terminal = look_at_terminal(options.no_color);
  const Result<std::vector<Operand>> operands = parse_operands(options.operands);
  if (!operands) return fail(operands.error());
  for (const Operand& operand : *operands) {
    if (!operand.is_path())
      return fail({ErrorCode::usage, "import takes files: '" + operand.text + "' is in the store already"});
  }

  // Each operand is read and stored before the next, so that a refused file costs only itself and
  // memory stays bounded by one operand. The store is opened once something is there to store.
  std::optional<store::Store> store;
  Counts counts;
  int code = kExitDone;
  Options reading = options;  // addresses are named once for all files, in the store
  reading.symbols.clear();
  reading.sysroot.clear();
  reading.debuginfod = false;
  for (const Operand& operand : *operands) {
    Result<Loaded> loaded = load_operands({operand}, reading, terminal, true);
    if (!loaded) {
      say_error(loaded.error());
      ++counts.refused;
      code = kExitBadInput;
      continue;
    }
    if (!store) {
      Result<store::Store> opened = store::Store::open(choose_store(options).path, store::Access::create);
      if (!opened) return fail(opened.error());
      store.emplace(*std::move(opened));
    }
    const int partial_code = tell_notes(*loaded, options);
    if (partial_code != kExitDone) {
      say_error({ErrorCode::malformed, "a part of the input is lost, refused by --strict", std::nullopt, operand.text});
      ++counts.refused;
      code = partial_code;
      continue;
    }
    for (const LoadedSnapshot& item : devices_of(loaded->snapshots, per_device)) {
      const std::string name = (series.empty() ? default_series({item}) : series) + device_suffix(item, per_device);
      Result<store::Imported> imported = [&] {
        if (labels->empty()) return store->add(*item.ref.snapshot, name);
        Snapshot labelled = *item.ref.snapshot;
        labelled.facts.labels.insert(labels->begin(), labels->end());
        return store->add(labelled, name);
      }();
      if (!imported) return fail(imported.error());
      ++(imported->was_present ? counts.present : counts.added);
      counts.bytes += item.ref.snapshot->facts.source.size_bytes;
    }
  }
  if (counts.added + counts.present == 0) return code;
  if (wants_names(options)) {
    const Result<StoreNames> names = name_store(*store, options, false, terminal);
    if (!names) return fail(names.error());
    say("naming  " + naming_summary(names->report));
    for (const Note& note : names->report.notes.all()) say_note(note);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::string line = "import  " + report::count_text(static_cast<std::int64_t>(counts.added)) +
                     (counts.added == 1 ? " snapshot" : " snapshots");
  if (counts.present > 0) line += ", " + std::to_string(counts.present) + " stored before";
  if (counts.refused > 0) line += ", " + std::to_string(counts.refused) + " refused (see above)";
  char time[32];
  std::snprintf(time, sizeof time, " in %.1f s", seconds);
  say(line + ", " + report::bytes_text(static_cast<std::int64_t>(counts.bytes)) + time);
  return code;
}

}  // namespace snapdiff::cli
