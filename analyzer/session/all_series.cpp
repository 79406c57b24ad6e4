#include "analyzer/session/all_series.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/session/facts_text.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/load.hpp"
#include "analyzer/session/series_identity.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::session {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLevels = 3;  // of folders: /heaps/SERVICE/DAY/HOST

void add_story(OverviewRow& row, const GrowthReport& report) {
  row.total = report.total;
  row.unit = report.unit;
  if (report.story == nullptr) return;
  row.verdict = report.story->verdict;
  if (report.story->culprits.empty()) return;
  const Culprit& first = report.story->culprits.front();
  row.culprit = first.text.name;
  row.place = first.text.place;
  row.share = first.text.growth + " " + first.text.share;
}

void add_trend(OverviewRow& row, const TrendReport& trend) {
  add_story(row, trend.series.overall);
  row.values.clear();
  for (const SeriesStep& step : trend.series.steps) row.values.push_back(step.total);
  if (row.verdict.empty() && trend.series.steps.size() >= kJudgedFrom) row.verdict = trend.whole.word;
  row.slope = trend.whole.slope;
  row.per_hour = trend.axis.per_hour(trend.whole.slope);
  row.step_seconds = trend.axis.step_seconds;
  if (trend.limit) row.forecast = trend.forecast;
  if (trend.left_out > 0) row.note = "since its last restart";
}

OverviewRow overview_row(const std::string& name, const std::vector<SnapshotRef>& refs, const DiffOptions& view,
                         std::optional<std::int64_t> limit) {
  OverviewRow row;
  row.name = name;
  row.snapshots = refs.size();
  const Status done = guarded([&] {
    if (diff::has_counters_only(refs)) {
      row.note = "counters alone: 'snapdiff trend' judges them";
    } else if (refs.size() > 2) {
      add_trend(row, value_or_throw(judge_series(refs, view, limit)));
    } else if (refs.size() == 2) {
      const GrowthReport report = value_or_throw(compare_two(refs[0], refs[1], view));
      add_story(row, report);
      row.values = {report.total.baseline, report.total.current};
      row.slope = static_cast<double>(report.total.growth());
    } else if (const Column* const column = main_column(*refs.front().snapshot); column != nullptr) {
      row.unit = column->type.unit;
      row.total.baseline = row.total.current = total_of(*column);
      row.values = {row.total.current};
      row.note = "one snapshot";
    }
  });
  if (!done) row.note = done.error().text();
  return row;
}

/// One folder that holds files, and what its series are called after.
struct Folder {
  std::string path, prefix;
};

/// The series in one folder; none where it holds no snapshot.
std::vector<OverviewRow> rows_of(const Folder& folder, const DiffOptions& view, const Request& request,
                                 std::optional<std::int64_t> limit) {
  const auto& [path, prefix] = folder;
  Result<Loaded> loaded = load_operands({Operand{path, PathOperand{path, "", true}}}, request, true);
  std::vector<OverviewRow> out;
  if (!loaded) {
    if (loaded.error().code == ErrorCode::unsupported) return out;
    OverviewRow& row = out.emplace_back();
    row.name = prefix.empty() ? path : prefix;
    row.note = loaded.error().text();
    return out;
  }
  const std::vector<SeriesPart> parts = parts_of(loaded->snapshots);
  for (const SeriesPart& part : parts) {
    std::vector<SnapshotRef> refs;
    for (const std::size_t index : part.snapshots) refs.push_back(loaded->snapshots[index].ref);
    const std::string name = prefix.empty() ? part.name : parts.size() == 1 ? prefix : prefix + "/" + part.name;
    out.push_back(overview_row(name, refs, view, limit));
  }
  return out;
}

/// Folders with files, this one first, and the bytes of all these.
void list_folders(const std::string& place, const std::string& prefix, std::size_t levels, std::vector<Folder>& out,
                  std::uint64_t& bytes) {
  std::vector<std::string> folders;
  std::error_code failure;
  bool has_files = false;
  for (fs::directory_iterator entry(place, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.')) continue;
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) folders.push_back(name);
    if (!entry->is_regular_file(ignored)) continue;
    has_files = true;
    const std::uint64_t size = entry->file_size(ignored);
    if (!ignored) bytes += size;
  }
  if (failure) fail({ErrorCode::io, "cannot list: " + failure.message(), std::nullopt, place});
  if (has_files) out.push_back({place, prefix});
  if (levels == 0) return;
  std::sort(folders.begin(), folders.end());
  for (const std::string& name : folders)
    list_folders((fs::path(place) / name).string(), prefix.empty() ? name : prefix + "/" + name, levels - 1, out,
                 bytes);
}

/// Small series are read and judged side by side; large ones one after the other, for each fills the memory.
void add_folders(Overview& out, const std::string& place, const DiffOptions& view, const Request& request) {
  constexpr std::uint64_t kMostSideBySide = std::uint64_t{1} << 30;
  std::vector<Folder> folders;
  std::uint64_t bytes = 0;
  list_folders(place, "", kMostLevels, folders, bytes);
  std::vector<std::vector<OverviewRow>> rows(folders.size());
  for_each_parallel(folders.size(), bytes > kMostSideBySide ? 0 : kParallelStacks,
                    [&](std::size_t i) { rows[i] = rows_of(folders[i], view, request, out.limit); });
  for (std::vector<OverviewRow>& some : rows) std::move(some.begin(), some.end(), std::back_inserter(out.rows));
}

void add_store(Overview& out, const std::string& path, const DiffOptions& view, const Request& request) {
  store::Store store =
      value_or_throw(open_store(choose_store(path.empty() ? request.store : path), store::Access::read));
  for (const std::string& name : value_or_throw(store.series_names())) {
    const std::optional<store::SeriesOrder> series = value_or_throw(store.series(name));
    if (!series || series->snapshots.empty()) continue;
    const Loaded loaded = value_or_throw(load_stored(store, series->snapshots, request.watch));
    out.rows.push_back(overview_row(name, loaded.refs(), view, out.limit));
  }
}

}  // namespace

Result<Overview> overview_of(const std::string& place, const DiffOptions& view, const Request& request,
                             std::optional<std::int64_t> limit) {
  return guarded([&]() -> Overview {
    Overview out;
    out.limit = limit;
    std::error_code failure;
    if (!place.empty() && fs::is_directory(place, failure)) {
      add_folders(out, place, view, request);
      if (out.rows.empty())
        fail({ErrorCode::usage, "no heap snapshot in this folder and in those below it", std::nullopt, place});
    } else {
      add_store(out, place, view, request);
    }
    std::stable_sort(out.rows.begin(), out.rows.end(), [](const OverviewRow& a, const OverviewRow& b) {
      const int left = document::gravity(a.verdict), right = document::gravity(b.verdict);
      return left != right ? left > right : a.total.growth() > b.total.growth();
    });
    return out;
  });
}

}  // namespace snapdiff::session
