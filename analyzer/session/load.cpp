#include "analyzer/session/load.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/session/facts_text.hpp"
#include "analyzer/session/left_out.hpp"
#include "analyzer/session/naming.hpp"
#include "analyzer/session/read_files.hpp"
#include "formats/input/archive.hpp"
#include "formats/registry.hpp"

namespace snapdiff::session {
namespace {

namespace fs = std::filesystem;

std::vector<Job> list_directory(const std::string& path, std::size_t operand) {
  std::vector<Job> jobs;
  if (formats::is_archive(path)) {
    const auto archive = value_or_throw(formats::Archive::open(path));
    for (const formats::ArchiveMember& member : archive->members())
      jobs.push_back({path + "/" + member.name, "", true, operand});
    return jobs;
  }
  std::error_code failure;
  for (fs::directory_iterator entry(path, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    const std::string name = entry->path().filename().string();
    if (name.empty() || name[0] == '.') continue;
    jobs.push_back({entry->path().string(), "", true, operand});
  }
  if (failure) fail({ErrorCode::io, "cannot list: " + failure.message(), std::nullopt, path});
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.path < b.path; });
  return jobs;
}

// The snapshots of one file that its point chooses, as indexes. Without one: those with columns, where some have
// none (massif writes totals between its trees), or those with counters where these are asked for.
std::vector<std::size_t> choose_points(const std::vector<Snapshot>& snapshots, const Job& job, bool expand) {
  const std::size_t count = snapshots.size();
  std::vector<std::size_t> chosen;
  if (job.point.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      if (job.counters ? !snapshots[i].facts.counters.empty() : !snapshots[i].samples.columns.empty())
        chosen.push_back(i);
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
    std::int64_t best_total = -1;
    for (std::size_t i = 0; i < count; ++i) {
      const Column* const column = main_column(snapshots[i]);
      const std::int64_t total = column == nullptr ? -1 : total_of(*column);
      if (total <= best_total) continue;
      best = i;
      best_total = total;
    }
    chosen.push_back(best);
  } else {
    const bool digits = job.point.find_first_not_of("0123456789") == std::string::npos && job.point.size() < 10;
    const std::size_t number = digits ? static_cast<std::size_t>(std::stoul(job.point)) : 0;
    if (number == 0 || number > count) {
      fail({ErrorCode::usage,
            "no point '" + job.point + "': expected first, last, peak or 1 to " + std::to_string(count), std::nullopt,
            job.path});
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

/// A shell lists heap.10 before heap.2. Files that were given as names sort, of which none says when it was taken and
/// each has another number in its name, are in the order of their numbers. Two may be compared backwards.
void undo_shell_order(const std::vector<Operand>& operands, Loaded& loaded) {
  std::vector<LoadedSnapshot>& all = loaded.snapshots;
  if (operands.size() < 3 || all.size() != operands.size()) return;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto* const path = std::get_if<PathOperand>(&operands[i].what);
    const SnapshotFacts& facts = all[i].ref.snapshot->facts;
    if (path == nullptr || path->is_directory || !path->point.empty() || facts.taken_at_ns || !facts.sequence) return;
    if (i > 0 && operands[i].text < operands[i - 1].text) return;
    numbers.push_back(*facts.sequence);
  }
  if (std::is_sorted(numbers.begin(), numbers.end())) return;
  std::sort(numbers.begin(), numbers.end());
  if (std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end()) return;
  loaded.order_note = sort_directory(all);
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

// The point that a stored operand names, "" for the snapshot itself.
std::string point_of(const Operand& operand) {
  if (const auto* stored = std::get_if<StoredOperand>(&operand.what)) return stored->point;
  if (const auto* series = std::get_if<SeriesOperand>(&operand.what)) return series->point;
  return {};
}

std::vector<LoadedSnapshot> moments_at(const Snapshot& snapshot, const std::string& ref, const std::string& point) {
  Result<std::vector<LoadedSnapshot>> moments = moments_of(snapshot, ref, point);
  if (!moments) fail(std::move(moments).error().about(ref));
  return *std::move(moments);
}

// A stored snapshot, or moments of its trace.
std::vector<LoadedSnapshot> at_point(const LoadedSnapshot& item, const std::string& point) {
  if (point.empty()) return {item};
  if (!cuda::busiest_trace(*item.ref.snapshot))
    fail({ErrorCode::usage, "no trace in this snapshot: expected a CUDA snapshot with history for @" + point,
          std::nullopt, item.ref.ref});
  std::vector<LoadedSnapshot> moments = moments_at(*item.ref.snapshot, item.ref.ref, point);
  for (LoadedSnapshot& moment : moments) {
    moment.name = item.name + moment.ref.ref.substr(item.ref.ref.size());
    moment.ref.series = item.ref.series;
  }
  return moments;
}

/// What the operands ask for: files to read and snapshots of the store, by operand.
struct Plan {
  std::vector<Job> jobs;
  std::vector<std::vector<LoadedSnapshot>> stored;
  std::string order_note;  // of what is stored
};

/// The snapshots that stored operands mean, `ids_of` by operand.
void load_from_store(store::Store& store, const std::vector<Operand>& operands,
                     const std::vector<std::vector<SnapshotId>>& ids_of, const Watch& watch, store::Parts parts,
                     Plan& plan) {
  std::vector<SnapshotId> all;
  for (const std::vector<SnapshotId>& ids : ids_of) all.insert(all.end(), ids.begin(), ids.end());
  const bool moments =
      std::any_of(operands.begin(), operands.end(), [](const Operand& o) { return !point_of(o).empty(); });
  Loaded loaded = value_or_throw(load_stored(store, all, watch, moments ? store::Parts::allocator : parts));
  plan.order_note = loaded.order_note;
  std::size_t next = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t s = 0; s < ids_of[i].size(); ++s) {
      std::vector<LoadedSnapshot> found = at_point(loaded.snapshots[next++], point_of(operands[i]));
      std::move(found.begin(), found.end(), std::back_inserter(plan.stored[i]));
    }
  }
}

Plan plan_for(const std::vector<Operand>& operands, const Request& request, bool expand, store::Parts parts) {
  Plan plan;
  plan.stored.resize(operands.size());
  std::vector<std::vector<SnapshotId>> ids_of(operands.size());
  std::optional<store::Store> store;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (const auto* path = std::get_if<PathOperand>(&operands[i].what)) {
      if (!path->is_directory) {
        plan.jobs.push_back({path->path, path->point, false, i});
        continue;
      }
      std::vector<Job> found = list_directory(path->path, i);
      plan.jobs.insert(plan.jobs.end(), found.begin(), found.end());
      continue;
    }
    if (!store) store.emplace(value_or_throw(open_store_for(operands[i], choose_store(request.store))));
    std::vector<SnapshotId> ids = value_or_throw(resolve_stored(*store, operands[i]));
    // A series is like a file that holds several snapshots: among others it stands for its last one.
    if (!expand && is_whole_series(operands[i])) ids.erase(ids.begin(), ids.end() - 1);
    ids_of[i] = std::move(ids);
  }
  for (Job& job : plan.jobs) job.counters = request.counters;
  if (store) load_from_store(*store, operands, ids_of, request.watch, parts, plan);
  return plan;
}

/// Snapshots of one file that was read, at the points that its job asks for.
std::vector<LoadedSnapshot> take_chosen(std::vector<Snapshot>& read, const Job& job, bool expand, bool lacks_rows) {
  std::vector<LoadedSnapshot> found;
  if (read.size() == 1 && !job.point.empty() && cuda::busiest_trace(read.front()))
    return moments_at(read.front(), job.path, job.point);
  if (!job.point.empty() && formats::reads_moments(read.front().facts.format)) {
    for (Snapshot& moment : read) {
      LoadedSnapshot item;
      const std::string number = std::to_string(std::max(moment.facts.position, 1U) - 1);
      item.ref.ref = job.path + "@" + (read.size() == 1 ? job.point : number);
      item.ref.snapshot = std::make_shared<const Snapshot>(std::move(moment));
      found.push_back(std::move(item));
    }
    return found;
  }
  const std::vector<std::size_t> chosen = choose_points(read, job, expand || job.optional);
  for (const std::size_t index : chosen) {
    LoadedSnapshot item;
    item.ref.ref = read.size() > 1 ? job.path + "@" + std::to_string(index + 1) : job.path;
    item.ref.snapshot = std::make_shared<const Snapshot>(std::move(read[index]));
    item.lacks_rows = lacks_rows;
    found.push_back(std::move(item));
  }
  return found;
}

/// A file among several that is damaged costs only itself: the answer is of the others, and says so. Not where it was
/// asked for a certain moment, nor where the request is strict, nor where less than two files are left to compare.
bool may_be_left_out(const std::vector<Job>& jobs, const ReadResults& results, bool strict) {
  std::size_t good = 0;
  for (const auto& result : results) good += result->snapshots ? 1U : 0U;
  return !strict && jobs.size() > 2 && good >= 2;
}

bool is_damage(const Error& error) { return error.code == ErrorCode::malformed || error.code == ErrorCode::limit; }

/// The snapshots of one path operand; `next` is its first job and is moved after its last one.
std::vector<LoadedSnapshot> take_path(const PathOperand& path, std::size_t operand, const Plan& plan,
                                      ReadResults& results, std::size_t& next, bool leave_out, bool expand,
                                      Loaded& loaded) {
  std::vector<LoadedSnapshot> found;
  std::size_t skipped = 0;
  const std::size_t left_out_before = loaded.left_out.size();
  for (; next < plan.jobs.size() && plan.jobs[next].operand == operand; ++next) {
    const Job& job = plan.jobs[next];
    std::optional<ReadFile>& result = results[next];
    if (!result->snapshots && job.optional && result->snapshots.error().code == ErrorCode::unsupported) {
      ++skipped;
      continue;
    }
    if (!result->snapshots) {
      Error error = std::move(result->snapshots).error().about(job.path);
      if (!leave_out || !is_damage(error)) fail(std::move(error));
      const std::string behind = !found.empty()             ? found.back().ref.ref
                                 : loaded.snapshots.empty() ? std::string()
                                                            : loaded.snapshots.back().ref.ref;
      loaded.left_out.push_back({job.path, error.text(), behind, ""});
      continue;
    }
    std::vector<LoadedSnapshot> chosen = take_chosen(*result->snapshots, job, expand, result->lacks_rows);
    std::move(chosen.begin(), chosen.end(), std::back_inserter(found));
  }
  if (!path.is_directory) return found;
  if (found.empty()) {
    fail({ErrorCode::unsupported,
          "directory holds no heap snapshot: found " + std::to_string(skipped) +
              " other files, expected at least one snapshot",
          std::nullopt, path.path});
  }
  loaded.order_note = sort_directory(found);
  place_in_folder(std::span(loaded.left_out).subspan(left_out_before), found);
  if (skipped > 0) {
    loaded.notes.add(Severity::info, "files in " + path.path + " that are no heap snapshots were skipped", std::nullopt,
                     skipped);
  }
  return found;
}

}  // namespace

Result<Loaded> load_operands(const std::vector<Operand>& operands, const Request& request, bool expand,
                             store::Parts parts, std::size_t most_row_bytes) {
  return guarded([&]() -> Loaded {
    Plan plan = plan_for(operands, request, expand, parts);
    ReadResults results = read_all(plan.jobs, request, most_row_bytes);
    const bool leave_out = may_be_left_out(plan.jobs, results, request.strict);

    Loaded loaded;
    std::size_t next_job = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!plan.stored[i].empty()) loaded.order_note = plan.order_note;
      std::move(plan.stored[i].begin(), plan.stored[i].end(), std::back_inserter(loaded.snapshots));
      const auto* path = std::get_if<PathOperand>(&operands[i].what);
      if (path == nullptr) continue;
      std::vector<LoadedSnapshot> found = take_path(*path, i, plan, results, next_job, leave_out, expand, loaded);
      for (LeftOut& one : loaded.left_out) {
        if (one.behind.empty() && one.ahead.empty() && !found.empty()) one.ahead = found.front().ref.ref;
      }
      std::move(found.begin(), found.end(), std::back_inserter(loaded.snapshots));
    }
    undo_shell_order(operands, loaded);
    if (loaded.order_note.empty()) loaded.order_note = "in the order given";
    // Nobody gave an order for a directory, which may hold several series.
    const auto* const only = operands.size() == 1 ? std::get_if<PathOperand>(&operands.front().what) : nullptr;
    if (only == nullptr || !only->is_directory) note_disagreeing_times(loaded);
    value_or_throw(name_addresses(loaded, request));
    return loaded;
  });
}

}  // namespace snapdiff::session
