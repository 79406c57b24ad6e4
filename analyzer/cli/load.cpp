#include "analyzer/cli/load.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "analyzer/cli/naming.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/shared_dictionary.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "formats/registry.hpp"
#include "snapdiff/nearest.hpp"

namespace snapdiff::cli {
namespace {

namespace fs = std::filesystem;

// One file to read; `optional` files (found in a directory) may be something else than a snapshot.
struct Job {
  std::string path;
  std::string point;
  bool optional = false;
  std::size_t operand = 0;
};

Result<std::vector<Job>> list_directory(const std::string& path, std::size_t operand) {
  std::vector<Job> jobs;
  std::error_code failure;
  for (fs::directory_iterator entry(path, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    const std::string name = entry->path().filename().string();
    if (name.empty() || name[0] == '.') continue;
    jobs.push_back({entry->path().string(), "", true, operand});
  }
  if (failure) return Error{ErrorCode::io, "cannot list: " + failure.message(), std::nullopt, path};
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.path < b.path; });
  return jobs;
}

/// From this many files on they share a dictionary.
constexpr std::size_t kSharedFrom = 8;

// Gives the snapshots of a long series one dictionary, in the order of the files, whichever is read first.
class Sharing {
 public:
  explicit Sharing(std::size_t files) : read_(files, false) {}

  void finished(std::size_t file, std::vector<std::optional<Result<std::vector<Snapshot>>>>& results) {
    if (read_.size() < kSharedFrom) return;
    const std::lock_guard<std::mutex> hold(mutex_);
    read_[file] = true;
    for (; next_ < read_.size() && read_[next_]; ++next_) {
      Result<std::vector<Snapshot>>& result = *results[next_];
      if (result && result->size() == 1) dictionary_.take(result->front());
    }
  }

 private:
  std::mutex mutex_;
  std::vector<bool> read_;
  std::size_t next_ = 0;
  SharedDictionary dictionary_;
};

// Reads all jobs with as many threads as there are cores; results in the order of the jobs.
std::vector<std::optional<Result<std::vector<Snapshot>>>> read_all(const std::vector<Job>& jobs,
                                                                   const formats::ReadOptions& options,
                                                                   const Options& command_options, bool show_progress) {
  std::vector<std::uint64_t> sizes;
  for (const Job& job : jobs) {
    std::error_code failure;
    const auto size = job.path == "-" ? 0 : fs::file_size(job.path, failure);
    sizes.push_back(failure ? 0 : size);
  }
  Progress progress(show_progress, sizes);
  std::vector<std::optional<Result<std::vector<Snapshot>>>> results(jobs.size());
  std::atomic<std::size_t> next{0};
  Sharing sharing(jobs.size());
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      formats::ReadOptions file_options = options;
      file_options.point = jobs[i].point;
      if (show_progress) {
        file_options.progress = [&progress, i](std::uint64_t done, std::uint64_t) { progress.update(i, done); };
      }
      results[i].emplace(formats::read_file(jobs[i].path, file_options));
      if (*results[i]) demangle_names(**results[i], command_options);
      sharing.finished(i, results);
      progress.finished(i);
    }
  };
  const std::size_t threads = std::min<std::size_t>(jobs.size(), std::max(1U, std::thread::hardware_concurrency()));
  {
    std::vector<std::jthread> pool;
    for (std::size_t t = 1; t < threads; ++t) pool.emplace_back(work);
    work();
  }
  return results;
}

bool has_loss(const Snapshot& snapshot) {
  return snapshot.facts.partial || std::any_of(snapshot.facts.notes.all().begin(), snapshot.facts.notes.all().end(),
                                               [](const Note& note) { return note.severity == Severity::data_loss; });
}

// Total of what a snapshot is about; nothing where it has counters only.
std::optional<double> bytes_in_use(const Snapshot& snapshot) {
  const Column* column = snapshot.column("inuse_space");
  if (column == nullptr) column = snapshot.column(snapshot.facts.default_metric);
  if (column == nullptr) return std::nullopt;
  double total = 0;
  for (const std::int64_t value : column->value) total += static_cast<double>(value);
  return total;
}

// The snapshots of one file that its point chooses, as indexes. Without one: those with columns, where some have
// none (massif writes totals between its trees).
Result<std::vector<std::size_t>> choose_points(const std::vector<Snapshot>& snapshots, const Job& job, bool expand) {
  const std::size_t count = snapshots.size();
  std::vector<std::size_t> chosen;
  if (job.point.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!snapshots[i].samples.columns.empty()) chosen.push_back(i);
    }
    if (chosen.empty()) {
      for (std::size_t i = 0; i < count; ++i) chosen.push_back(i);
    }
    if (!expand) chosen.erase(chosen.begin(), chosen.end() - 1);
  } else if (job.point == "first") {
    chosen.push_back(0);
  } else if (job.point == "last") {
    chosen.push_back(count - 1);
  } else if (job.point == "peak") {
    std::size_t best = 0;
    double best_total = -1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<double> total = bytes_in_use(snapshots[i]);
      if (total.value_or(-1) > best_total) {
        best = i;
        best_total = *total;
      }
    }
    chosen.push_back(best);
  } else {
    const bool digits = job.point.find_first_not_of("0123456789") == std::string::npos && job.point.size() < 10;
    const std::size_t number = digits ? static_cast<std::size_t>(std::stoul(job.point)) : 0;
    if (number == 0 || number > count) {
      return Error{ErrorCode::usage,
                   "no point '" + job.point + "': expected first, last, peak or 1 to " + std::to_string(count),
                   std::nullopt, job.path};
    }
    chosen.push_back(number - 1);
  }
  return chosen;
}

// Snapshots of a directory in the order of product.md: time, number in the name, then name.
std::string sort_directory(std::vector<LoadedSnapshot>& snapshots) {
  const auto facts = [](const LoadedSnapshot& s) -> const SnapshotFacts& { return s.ref.snapshot->facts; };
  const auto all = [&](auto has) { return std::all_of(snapshots.begin(), snapshots.end(), has); };
  if (all([&](const LoadedSnapshot& s) { return facts(s).taken_at_ns.has_value(); })) {
    std::stable_sort(snapshots.begin(), snapshots.end(), [&](const LoadedSnapshot& a, const LoadedSnapshot& b) {
      return facts(a).taken_at_ns < facts(b).taken_at_ns;
    });
    return describe(store::Order::time, true);
  }
  if (all([&](const LoadedSnapshot& s) { return facts(s).sequence.has_value(); })) {
    std::stable_sort(snapshots.begin(), snapshots.end(), [&](const LoadedSnapshot& a, const LoadedSnapshot& b) {
      return facts(a).sequence < facts(b).sequence;
    });
    return describe(store::Order::sequence, false);
  }
  return "ordered by file name; neither times nor numbers in all of them";
}

void note_disagreeing_times(Loaded& loaded) {
  std::int64_t newest = 0;
  for (const LoadedSnapshot& s : loaded.snapshots) {
    const auto taken = s.ref.snapshot->facts.taken_at_ns;
    if (!taken) return;
    if (*taken < newest) {
      loaded.notes.add(Severity::warning, "the order given disagrees with the times inside the files: " + s.ref.ref +
                                              " was taken before the one in front of it");
      return;
    }
    newest = *taken;
  }
}

}  // namespace

Result<std::vector<LoadedSnapshot>> moments_of(const Snapshot& snapshot, const std::string& path,
                                               const std::string& wanted) {
  cuda::TraceRef trace = *cuda::busiest_trace(snapshot);
  std::string point = wanted;
  const std::size_t colon = point.find(':');
  if (colon != std::string::npos && colon > 0 && colon < 6 && point.find_first_not_of("0123456789") == colon) {
    trace.device = static_cast<std::uint32_t>(std::stoul(point.substr(0, colon)));
    point.erase(0, colon + 1);
  }
  if (point == "last") point = "end";
  const Result<std::vector<std::uint64_t>> moments = cuda::points(snapshot, trace, point);
  if (!moments) return moments.error();
  std::vector<LoadedSnapshot> found;
  for (const std::uint64_t events : *moments) {
    Result<Snapshot> live = cuda::snapshot_at(snapshot, trace, events);
    if (!live) return std::move(live).error();
    // Another moment of the same bytes is another snapshot for the store.
    live->facts.position = static_cast<std::uint32_t>(std::min<std::uint64_t>(events, 0xfffffffeU) + 1);
    LoadedSnapshot item;
    item.ref.ref = path + "@" + (moments->size() == 1 ? wanted : std::to_string(events));
    item.ref.snapshot = std::make_shared<const Snapshot>(*std::move(live));
    if (point == "oom") {
      Result<std::optional<OutOfMemory>> failure = cuda::out_of_memory(snapshot, trace);
      if (!failure) return std::move(failure).error();
      if (*failure) item.failure = std::make_shared<const OutOfMemory>(**std::move(failure));
    }
    found.push_back(std::move(item));
  }
  return found;
}

StoreChoice choose_store(const Options& options) {
  if (!options.db.empty()) return {options.db, true};
  if (const char* path = std::getenv("SNAPDIFF_DB"); path != nullptr && *path != '\0') return {path, true};
  return {"snapdiff.db", false};
}

Result<store::Store> open_store(const StoreChoice& choice, store::Access access) {
  std::error_code ignored;
  if (!choice.in_memory() && access != store::Access::create && !fs::exists(choice.path, ignored)) {
    return Error{ErrorCode::io, "no store here: 'snapdiff A B' or 'snapdiff import FILE' makes one", std::nullopt,
                 choice.path};
  }
  return store::Store::open(choice.path, access);
}

std::vector<SnapshotRef> Loaded::refs() const {
  std::vector<SnapshotRef> out;
  for (const LoadedSnapshot& s : snapshots) out.push_back(s.ref);
  return out;
}

bool Loaded::partial() const {
  return std::any_of(snapshots.begin(), snapshots.end(),
                     [](const LoadedSnapshot& s) { return has_loss(*s.ref.snapshot); });
}

Result<std::vector<SnapshotId>> resolve_stored(store::Store& store, const Operand& operand) {
  Result<std::vector<store::SeriesInfo>> listed = store.list();
  if (!listed) return std::move(listed).error();
  const auto missing = [&](const std::string& why) {
    return Error{ErrorCode::usage, "no snapshot '" + operand.text + "' in the store: " + why, std::nullopt,
                 store.path()};
  };
  std::vector<SnapshotId> all;
  for (const auto& series : *listed) {
    for (const auto& snapshot : series.snapshots) all.push_back(snapshot.id);
  }
  if (all.empty()) return missing("it is empty");
  std::vector<SnapshotId> ids;
  if (const auto* stored = std::get_if<StoredOperand>(&operand.what)) {
    if (stored->word.empty()) {
      const auto id = static_cast<SnapshotId>(stored->id);
      if (std::find(all.begin(), all.end(), id) == all.end()) return missing("'snapdiff list' shows what there is");
      return std::vector{id};
    }
    const auto& newest = listed->back().snapshots;
    if (stored->word == "prev" && newest.size() < 2) return missing("the newest series has one snapshot");
    return std::vector{stored->word == "first"  ? newest.front().id
                       : stored->word == "last" ? newest.back().id
                                                : newest[newest.size() - 2].id};
  }
  if (const auto* range = std::get_if<RangeOperand>(&operand.what)) {
    std::sort(all.begin(), all.end());
    for (const SnapshotId id : all) {
      if (static_cast<std::int64_t>(id) >= range->from && static_cast<std::int64_t>(id) <= range->to) ids.push_back(id);
    }
    if (ids.empty()) return missing("'snapdiff list' shows what there is");
  } else if (const auto* in_series = std::get_if<SeriesOperand>(&operand.what)) {
    const auto series = std::find_if(listed->begin(), listed->end(),
                                     [&](const auto& candidate) { return candidate.name == in_series->series; });
    if (series == listed->end()) {
      std::vector<std::string> names;
      for (const auto& candidate : *listed) names.push_back(candidate.name);
      return missing("no such series" + did_you_mean(in_series->series, names));
    }
    const auto count = static_cast<std::int64_t>(series->snapshots.size());
    const std::int64_t position = in_series->position > 0 ? in_series->position : count + 1 + in_series->position;
    if (position < 1 || position > count) return missing("the series has " + std::to_string(count));
    ids.push_back(series->snapshots[static_cast<std::size_t>(position - 1)].id);
  } else if (const auto* label = std::get_if<LabelOperand>(&operand.what)) {
    for (const auto& series : *listed) {
      for (const auto& snapshot : series.snapshots) {
        const auto found = snapshot.facts.labels.find(label->key);
        if (found != snapshot.facts.labels.end() && found->second == label->value) ids.push_back(snapshot.id);
      }
    }
    if (ids.empty()) return missing("no snapshot has that label");
  }
  return ids;
}

Result<Loaded> load_stored(store::Store& store, const std::vector<SnapshotId>& ids, store::Parts parts) {
  Result<std::vector<Snapshot>> snapshots =
      in_stage(isatty(STDERR_FILENO) == 1, "reading the store", [&] { return store.load(ids, parts); });
  if (!snapshots) return std::move(snapshots).error();
  Result<std::vector<store::SeriesInfo>> listed = store.list();
  if (!listed) return std::move(listed).error();
  std::map<SnapshotId, const store::SeriesInfo*> series_of;
  for (const auto& series : *listed) {
    for (const auto& info : series.snapshots) series_of[info.id] = &series;
  }
  Loaded loaded;
  bool have_times = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    LoadedSnapshot item;
    have_times = have_times && (*snapshots)[i].facts.taken_at_ns.has_value();
    item.ref.snapshot = std::make_shared<const Snapshot>(std::move((*snapshots)[i]));
    item.ref.ref = "@" + std::to_string(static_cast<std::int64_t>(ids[i]));
    const auto series = series_of.find(ids[i]);
    if (series != series_of.end()) item.ref.series = series->second->name;
    item.stored = ids[i];
    item.name = std::string(base_name(item.ref.snapshot->facts.source.name));
    loaded.snapshots.push_back(std::move(item));
  }
  if (!ids.empty()) {
    if (const auto series = series_of.find(ids.front()); series != series_of.end()) {
      loaded.order_note = describe(series->second->order, have_times);
    }
  }
  return loaded;
}

namespace {

// The point that a stored operand names, "" for the snapshot itself.
std::string point_of(const Operand& operand) {
  if (const auto* stored = std::get_if<StoredOperand>(&operand.what)) return stored->point;
  if (const auto* series = std::get_if<SeriesOperand>(&operand.what)) return series->point;
  return {};
}

// A stored snapshot, or moments of its trace.
Result<std::vector<LoadedSnapshot>> at_point(const LoadedSnapshot& item, const std::string& point) {
  if (point.empty()) return std::vector{item};
  if (!cuda::busiest_trace(*item.ref.snapshot))
    return Error{ErrorCode::usage, "no trace in this snapshot: expected a CUDA snapshot with history for @" + point,
                 std::nullopt, item.ref.ref};
  Result<std::vector<LoadedSnapshot>> moments = moments_of(*item.ref.snapshot, item.ref.ref, point);
  if (!moments) return std::move(moments).error().about(item.ref.ref);
  for (LoadedSnapshot& moment : *moments) {
    moment.name = item.name + moment.ref.ref.substr(item.ref.ref.size());
    moment.ref.series = item.ref.series;
  }
  return moments;
}

}  // namespace

Result<Loaded> load_operands(const std::vector<Operand>& operands, const Options& options, const Terminal& terminal,
                             bool expand, store::Parts parts) {
  std::vector<Job> jobs;
  std::vector<SnapshotId> stored_ids;
  std::vector<std::vector<SnapshotId>> ids_of(operands.size());
  std::optional<store::Store> store;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (const auto* path = std::get_if<PathOperand>(&operands[i].what)) {
      if (!path->is_directory) {
        jobs.push_back({path->path, path->point, false, i});
        continue;
      }
      Result<std::vector<Job>> found = list_directory(path->path, i);
      if (!found) return std::move(found).error();
      jobs.insert(jobs.end(), found->begin(), found->end());
      continue;
    }
    if (!store) {
      Result<store::Store> opened = open_store(choose_store(options), store::Access::read);
      if (!opened) return std::move(opened).error();
      store.emplace(*std::move(opened));
    }
    Result<std::vector<SnapshotId>> ids = resolve_stored(*store, operands[i]);
    if (!ids) return std::move(ids).error();
    ids_of[i] = *ids;
    stored_ids.insert(stored_ids.end(), ids->begin(), ids->end());
  }

  Loaded from_store;
  if (store) {
    const bool moments =
        std::any_of(operands.begin(), operands.end(), [](const Operand& o) { return !point_of(o).empty(); });
    Result<Loaded> loaded = load_stored(*store, stored_ids, moments ? store::Parts::allocator : parts);
    if (!loaded) return std::move(loaded).error();
    from_store = *std::move(loaded);
  }

  formats::ReadOptions read_options;
  read_options.format = options.input_format;
  read_options.strict = options.strict;
  read_options.patterns = options.patterns;
  read_options.group_by = options.group_by;
  read_options.decimal_units = options.units == "si";
  if (options.max_input) read_options.max_input_bytes = static_cast<std::uint64_t>(*options.max_input);
  auto results = read_all(jobs, read_options, options, terminal.stderr_is_terminal);

  Loaded loaded;
  std::size_t next_job = 0;
  std::size_t next_stored = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t s = 0; s < ids_of[i].size(); ++s) {
      Result<std::vector<LoadedSnapshot>> found = at_point(from_store.snapshots[next_stored++], point_of(operands[i]));
      if (!found) return std::move(found).error();
      std::move(found->begin(), found->end(), std::back_inserter(loaded.snapshots));
      loaded.order_note = from_store.order_note;
    }
    const auto* path = std::get_if<PathOperand>(&operands[i].what);
    if (path == nullptr) continue;
    std::vector<LoadedSnapshot> found;
    std::size_t skipped = 0;
    for (; next_job < jobs.size() && jobs[next_job].operand == i; ++next_job) {
      const Job& job = jobs[next_job];
      Result<std::vector<Snapshot>>& result = *results[next_job];
      if (!result) {
        const bool foreign = result.error().code == ErrorCode::unsupported;
        if (!job.optional || !foreign) return std::move(result).error().about(job.path);
        ++skipped;
        continue;
      }
      if (result->size() == 1 && !job.point.empty() && cuda::busiest_trace(result->front())) {
        Result<std::vector<LoadedSnapshot>> live = moments_of(result->front(), job.path, job.point);
        if (!live) return std::move(live).error().about(job.path);
        for (LoadedSnapshot& item : *live) found.push_back(std::move(item));
        continue;
      }
      if (!job.point.empty() && formats::reads_moments(result->front().facts.format)) {
        for (Snapshot& moment : *result) {
          LoadedSnapshot item;
          const std::string number = std::to_string(std::max(moment.facts.position, 1U) - 1);
          item.ref.ref = job.path + "@" + (result->size() == 1 ? job.point : number);
          item.ref.snapshot = std::make_shared<const Snapshot>(std::move(moment));
          found.push_back(std::move(item));
        }
        continue;
      }
      const Result<std::vector<std::size_t>> chosen = choose_points(*result, job, expand || job.optional);
      if (!chosen) return chosen.error();
      for (const std::size_t index : *chosen) {
        LoadedSnapshot item;
        item.ref.ref = result->size() > 1 ? job.path + "@" + std::to_string(index + 1) : job.path;
        item.ref.snapshot = std::make_shared<const Snapshot>(std::move((*result)[index]));
        found.push_back(std::move(item));
      }
    }
    if (path->is_directory) {
      if (found.empty()) {
        return Error{ErrorCode::unsupported,
                     "directory holds no heap snapshot: found " + std::to_string(skipped) +
                         " other files, expected at least one snapshot",
                     std::nullopt, path->path};
      }
      loaded.order_note = sort_directory(found);
      if (skipped > 0) {
        loaded.notes.add(Severity::info, "files in " + path->path + " that are no heap snapshots were skipped",
                         std::nullopt, skipped);
      }
    }
    for (LoadedSnapshot& item : found) loaded.snapshots.push_back(std::move(item));
  }
  if (loaded.order_note.empty()) loaded.order_note = "in the order given";
  // Nobody gave an order for a directory, which may hold several series.
  const auto* const only = operands.size() == 1 ? std::get_if<PathOperand>(&operands.front().what) : nullptr;
  if (only == nullptr || !only->is_directory) note_disagreeing_times(loaded);
  if (Status named = name_addresses(loaded, options, terminal); !named) return std::move(named).error();
  return loaded;
}

std::string default_series(const std::vector<LoadedSnapshot>& snapshots) {
  for (const LoadedSnapshot& s : snapshots) {
    if (s.stored) continue;
    std::string stem = formats::series_stem(s.ref.snapshot->facts.source.name);
    return stem.empty() ? "stdin" : stem;
  }
  return "default";
}

std::string describe(store::Order order, bool have_times) {
  switch (order) {
    case store::Order::time: return "ordered by the time inside the files";
    case store::Order::sequence:
      return have_times ? "ordered by the number in the file name"
                        : "ordered by the number in the file name; the files hold no times";
    case store::Order::import:
      return have_times ? "in the order of import" : "in the order of import; the files hold no times";
  }
  return {};
}

}  // namespace snapdiff::cli
