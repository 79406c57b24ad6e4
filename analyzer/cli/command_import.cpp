#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/naming.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/series_identity.hpp"
#include "analyzer/cli/shared_times.hpp"
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

/// A log's: many, and each of a few bytes.
bool is_small(const Snapshot& snapshot) { return snapshot.samples.size() == 0 && snapshot.allocator == nullptr; }

/// Stores them, those that are small and stand together in one transaction.
Result<std::vector<store::Imported>> store_in_turn(
    store::Store& store, const std::vector<std::pair<const Snapshot*, std::string>>& snapshots) {
  std::vector<store::Imported> all;
  for (std::size_t i = 0; i < snapshots.size();) {
    const std::string& series = snapshots[i].second;
    std::vector<const Snapshot*> together{snapshots[i].first};
    const bool small = is_small(*together.front());
    for (++i; small && i < snapshots.size() && snapshots[i].second == series && is_small(*snapshots[i].first); ++i)
      together.push_back(snapshots[i].first);
    if (together.size() == 1) {
      const Result<store::Imported> imported = store.add(*together.front(), series);
      if (!imported) return imported.error();
      all.push_back(*imported);
      continue;
    }
    const Result<std::vector<store::Imported>> imported = store.add_all(together, series);
    if (!imported) return imported.error();
    all.insert(all.end(), imported->begin(), imported->end());
  }
  return all;
}

std::string device_suffix(const LoadedSnapshot& item, bool per_device) {
  const auto& labels = item.ref.snapshot->facts.labels;
  const auto device = labels.find("device");
  if (!per_device || device == labels.end()) return {};
  return device->second == "host" ? "/host" : "/cuda:" + device->second;
}

// What is in the series that were touched, where they are several, and where snapshots without a time stand among
// those with.
Status tell_series(store::Store& store, const std::set<std::string>& touched) {
  Result<std::vector<store::SeriesInfo>> listed = store.list();
  if (!listed) return std::move(listed).error();
  std::erase_if(*listed, [&](const store::SeriesInfo& series) { return touched.count(series.name) == 0; });
  constexpr std::size_t kMostNamed = 8;
  std::string line = std::to_string(listed->size()) + " series: ";
  for (std::size_t i = 0; i < std::min(listed->size(), kMostNamed); ++i) {
    const store::SeriesInfo& series = (*listed)[i];
    line +=
        (i > 0 ? ", " : "") + escape_for_terminal(series.name) + " (" + std::to_string(series.snapshots.size()) + ")";
  }
  if (listed->size() > kMostNamed) line += ", ...";
  if (touched.size() > 1) say("series  " + line);
  for (const std::string& times : axis_lines(*listed, shared_axis(*listed))) say("times   " + times);
  return ok();
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
    if (is_whole_series(operand)) {
      return fail({ErrorCode::io, "no such file or directory" + near_file(operand.text), std::nullopt, operand.text});
    }
    if (!operand.is_path())
      return fail({ErrorCode::usage, "import takes files: '" + operand.text + "' is in the store already"});
  }

  // Each operand is read and stored before the next, so that a refused file costs only itself and
  // memory stays bounded by one operand. The store is opened once something is there to store.
  std::optional<store::Store> store;
  std::optional<SeriesNames> series_names;
  std::optional<BuildsApart> builds_apart;
  Counts counts;
  std::set<std::string> touched;
  bool any_timed = false, any_untimed = false;
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
      if (wants_names(options)) {
        const Result<std::vector<Snapshot>> known = store->addresses();
        if (!known) return fail(known.error());
        builds_apart.emplace(*known);
      }
      series_names.emplace(*store);
    }
    const int partial_code = tell_notes(*loaded, options);
    if (partial_code != kExitDone) {
      say_error({ErrorCode::malformed, "a part of the input is lost, refused by --strict", std::nullopt, operand.text});
      ++counts.refused;
      code = partial_code;
      continue;
    }
    if (builds_apart) {
      if (Status apart = builds_apart->separate(loaded->snapshots, options, terminal); !apart)
        return fail(apart.error());
    }
    std::vector<LoadedSnapshot> items = devices_of(loaded->snapshots, per_device);
    std::vector<std::pair<const Snapshot*, std::string>> named;
    std::set<std::pair<std::string_view, std::string_view>> sources;
    for (LoadedSnapshot& item : items) {
      if (!labels->empty()) {
        Snapshot labelled = *item.ref.snapshot;
        labelled.facts.labels.insert(labels->begin(), labels->end());
        item.ref.snapshot = std::make_shared<const Snapshot>(std::move(labelled));
      }
      const std::string suffix = device_suffix(item, per_device);
      const Result<std::string> name =
          series.empty() ? series_names->name_for(item, suffix) : Result<std::string>(series + suffix);
      if (!name) return fail(name.error());
      named.emplace_back(item.ref.snapshot.get(), *name);
      touched.insert(named.back().second);
      (item.ref.snapshot->facts.taken_at_ns ? any_timed : any_untimed) = true;
      const SourceFacts& source = item.ref.snapshot->facts.source;
      if (sources.emplace(source.name, source.sha256).second) counts.bytes += source.size_bytes;
    }
    const Result<std::vector<store::Imported>> imported =
        in_stage(terminal.stderr_is_terminal, "storing", [&] { return store_in_turn(*store, named); });
    if (!imported) return fail(imported.error());
    for (const store::Imported& one : *imported) ++(one.was_present ? counts.present : counts.added);
  }
  if (counts.added + counts.present == 0) return code;
  if (wants_names(options)) {
    const Result<StoreNames> names = name_store(*store, options, false, terminal);
    if (!names) return fail(names.error());
    say_note(naming_note(names->report, options));
  }
  if (touched.size() > 1 || (any_timed && any_untimed)) {
    if (Status told = tell_series(*store, touched); !told) return fail(told.error());
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
