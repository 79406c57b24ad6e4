#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/naming.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/read_files.hpp"
#include "analyzer/cli/series_identity.hpp"
#include "analyzer/cli/shared_times.hpp"
#include "analyzer/cli/store_in_turn.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "formats/registry.hpp"

namespace snapdiff::cli {
namespace {

using Labels = std::map<std::string, std::string>;

/// Of rows that are held at a time: those of a folder of 60 snapshots of 40 000 stacks.
constexpr std::size_t kMostRowBytes = std::size_t{64} << 20;
/// Files that are read once more at a time.
constexpr std::size_t kReadAgain = 8;

struct ImportRequest {
  std::string series;
  Labels labels;
  bool per_device = false;
  const Options* naming = nullptr;  ///< of the symbols
  const Terminal* terminal = nullptr;
};

Result<Labels> parse_labels(const std::vector<std::string>& texts) {
  Labels labels;
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

struct StoredSoFar {
  Counts counts;
  std::set<std::string> touched;                          ///< series
  std::set<std::pair<std::string, std::string>> sources;  ///< of the operand: names and hashes
  bool any_timed = false, any_untimed = false;
  std::optional<BuildsApart> builds_apart;  ///< where addresses are named
};

std::vector<LoadedSnapshot> devices_of(std::span<const LoadedSnapshot> snapshots, bool per_device) {
  if (!per_device) return {snapshots.begin(), snapshots.end()};
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

/// Names the series of some snapshots, in their order, and stores them.
Status store_some(std::span<const LoadedSnapshot> snapshots, const ImportRequest& wanted, store::Store& store,
                  SeriesNames& series_names, StoredSoFar& so_far) {
  std::vector<LoadedSnapshot> items = devices_of(snapshots, wanted.per_device);
  if (so_far.builds_apart) {
    if (Status apart = so_far.builds_apart->separate(items, *wanted.naming, *wanted.terminal); !apart) return apart;
  }
  std::vector<std::pair<const Snapshot*, std::string>> named;
  for (LoadedSnapshot& item : items) {
    if (!wanted.labels.empty()) {
      Snapshot labelled = *item.ref.snapshot;
      labelled.facts.labels.insert(wanted.labels.begin(), wanted.labels.end());
      item.ref.snapshot = std::make_shared<const Snapshot>(std::move(labelled));
    }
    const std::string suffix = device_suffix(item, wanted.per_device);
    Result<std::string> name =
        wanted.series.empty() ? series_names.name_for(item, suffix) : Result<std::string>(wanted.series + suffix);
    if (!name) return std::move(name).error();
    so_far.touched.insert(*name);
    named.emplace_back(item.ref.snapshot.get(), *std::move(name));
    (item.ref.snapshot->facts.taken_at_ns ? so_far.any_timed : so_far.any_untimed) = true;
    const SourceFacts& source = item.ref.snapshot->facts.source;
    if (so_far.sources.emplace(source.name, source.sha256).second) so_far.counts.bytes += source.size_bytes;
  }
  Result<std::vector<store::Imported>> imported = store_in_turn(store, named);
  if (!imported) return std::move(imported).error();
  for (const store::Imported& one : *imported) ++(one.was_present ? so_far.counts.present : so_far.counts.added);
  return ok();
}

/// What one operand gave. Where rows have to be read once more, a few files at a time.
Status store_all(Loaded& loaded, const Options& reading, const ImportRequest& wanted, store::Store& store,
                 SeriesNames& series_names, StoredSoFar& so_far) {
  std::vector<LoadedSnapshot>& all = loaded.snapshots;
  so_far.sources.clear();
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    std::size_t lacking = 0;
    for (; end < all.size() && lacking < kReadAgain; ++end) lacking += all[end].lacks_rows ? 1U : 0U;
    const std::span<LoadedSnapshot> some = std::span(all).subspan(begin, end - begin);
    if (Status read = read_rows(some, reading); !read) return read;
    if (Status stored = store_some(some, wanted, store, series_names, so_far); !stored) return stored;
    for (LoadedSnapshot& item : some) item.ref.snapshot.reset();
  }
  return ok();
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
  std::vector<std::string> label_texts;
  CommandLine line("Read snapshots into the store.",
                   "import [options] FILE...\n\n"
                   "  FILE is a file, a directory of snapshots, or - (stdin)",
                   {"snapdiff import heaps/ --series web", "snapdiff import a.heap --label release=1.4"});
  add_options(line, options, kTakesOperands | kReadsFiles | kTakesSymbols);
  ImportRequest wanted;
  line.text("--series", "NAME", wanted.series, "series to add to (from the file names)");
  line.texts("--label", "K=V", label_texts, "a label for each snapshot; repeatable");
  line.flag("--per-device", wanted.per_device, "CUDA: a series for each device (NAME/cuda:0, ...)");
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) return fail({ErrorCode::usage, "import needs at least one file, see --help"});
  Result<Labels> labels = parse_labels(label_texts);
  if (!labels) return fail(labels.error());
  wanted.labels = *std::move(labels);

  const Terminal terminal = look_at_terminal(options.no_color);
  wanted.naming = &options;
  wanted.terminal = &terminal;
  const Result<std::vector<Operand>> operands = parse_operands(options.operands);
  if (!operands) return fail(operands.error());
  for (const Operand& operand : *operands) {
    if (is_whole_series(operand)) {
      return fail({ErrorCode::io, "no such file or directory" + near_file(operand.text), std::nullopt, operand.text});
    }
    if (!operand.is_path())
      return fail({ErrorCode::usage, "import takes files: '" + operand.text + "' is in the store already"});
  }

  // Each operand is read and stored before the next, so that a refused file costs only itself. Of a folder of many
  // files the rows of some are read once more when it is their turn, so that memory stays bounded. The store is opened
  // once something is there to store.
  std::optional<store::Store> store;
  std::optional<SeriesNames> series_names;
  StoredSoFar stored_so_far;
  int code = kExitDone;
  Options reading = options;  // addresses are named once for all files, in the store
  reading.symbols.clear();
  reading.sysroot.clear();
  reading.debuginfod = false;
  for (const Operand& operand : *operands) {
    Result<Loaded> loaded = load_operands({operand}, reading, terminal, true, store::Parts::rows, kMostRowBytes);
    if (!loaded) {
      say_error(loaded.error());
      ++stored_so_far.counts.refused;
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
        stored_so_far.builds_apart.emplace(*known);
      }
      series_names.emplace(*store);
    }
    const int partial_code = tell_notes(*loaded, options);
    if (partial_code != kExitDone) {
      say_error({ErrorCode::malformed, "a part of the input is lost, refused by --strict", std::nullopt, operand.text});
      ++stored_so_far.counts.refused;
      code = partial_code;
      continue;
    }
    const Status stored = in_stage(terminal.stderr_is_terminal, "storing", [&] {
      return store_all(*loaded, reading, wanted, *store, *series_names, stored_so_far);
    });
    if (!stored) return fail(stored.error());
  }
  const Counts& counts = stored_so_far.counts;
  if (counts.added + counts.present == 0) return code;
  if (wants_names(options)) {
    const Result<StoreNames> names = name_store(*store, options, false, terminal);
    if (!names) return fail(names.error());
    say_note(naming_note(names->report, options));
  }
  if (stored_so_far.touched.size() > 1 || (stored_so_far.any_timed && stored_so_far.any_untimed)) {
    if (Status told = tell_series(*store, stored_so_far.touched); !told) return fail(told.error());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::string summary = "import  " + report::count_text(static_cast<std::int64_t>(counts.added)) +
                        (counts.added == 1 ? " snapshot" : " snapshots");
  if (counts.present > 0) summary += ", " + std::to_string(counts.present) + " stored before";
  if (counts.refused > 0) summary += ", " + std::to_string(counts.refused) + " refused (see above)";
  char time[32];
  std::snprintf(time, sizeof time, " in %.1f s", seconds);
  say(summary + ", " + report::bytes_text(static_cast<std::int64_t>(counts.bytes)) + time);
  return code;
}

}  // namespace snapdiff::cli
