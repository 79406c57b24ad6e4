#include "analyzer/session/series_choice.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/session/list_text.hpp"
#include "analyzer/session/series_identity.hpp"

namespace snapdiff::session {
namespace {

constexpr std::size_t kMostNamed = 8;

std::string list_of(const std::vector<SeriesPart>& parts, const Loaded& loaded) {
  std::vector<std::string> names;
  for (const SeriesPart& part : parts) {
    const std::string& format = loaded.snapshots[part.snapshots.front()].ref.snapshot->facts.format;
    names.push_back(part.name + " (" + std::to_string(part.snapshots.size()) + (format.empty() ? "" : " " + format) +
                    ")");
  }
  return list_and_others(names, kMostNamed);
}

void keep(Loaded& loaded, const SeriesPart& part) {
  std::vector<LoadedSnapshot> kept;
  for (const std::size_t i : part.snapshots) kept.push_back(std::move(loaded.snapshots[i]));
  loaded.snapshots = std::move(kept);
}

}  // namespace

std::vector<SeriesPart> parts_of(const std::vector<LoadedSnapshot>& snapshots) {
  std::vector<SeriesPart> parts;
  std::vector<LoadedSnapshot> files;
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    if (!snapshots[i].stored) {
      files.push_back(snapshots[i]);
      place.push_back(i);
      continue;
    }
    const std::string& name = snapshots[i].ref.series;
    const auto own =
        std::find_if(parts.begin(), parts.end(), [&](const SeriesPart& part) { return part.name == name; });
    if (own == parts.end()) {
      parts.push_back({name, {i}});
    } else {
      own->snapshots.push_back(i);
    }
  }
  for (FileSeries& series : series_in(files)) {
    for (std::size_t& i : series.snapshots) i = place[i];
    parts.push_back({std::move(series.name), std::move(series.snapshots)});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const SeriesPart& a, const SeriesPart& b) { return a.snapshots.size() > b.snapshots.size(); });
  return parts;
}

Status keep_one_series(Loaded& loaded, const std::string& series, const std::string& what) {
  if (loaded.snapshots.size() < 2) return ok();
  const std::vector<SeriesPart> parts = parts_of(loaded.snapshots);
  if (parts.size() == 1) return ok();
  const auto named =
      std::find_if(parts.begin(), parts.end(), [&](const SeriesPart& part) { return part.name == series; });
  if (named != parts.end()) {
    keep(loaded, *named);
    return ok();
  }
  const bool is_clear = parts[0].snapshots.size() > 1 && parts[1].snapshots.size() == 1;
  if (!is_clear)
    return Error{ErrorCode::usage,
                 std::to_string(parts.size()) + " series, which are not compared as one: found " +
                     list_of(parts, loaded) + "; expected --series NAME with one of them",
                 std::nullopt, what};
  const std::vector<SeriesPart> others(parts.begin() + 1, parts.end());
  loaded.notes.add(Severity::warning,
                   "left out, since not of the series " + parts[0].name + ": " + list_of(others, loaded));
  keep(loaded, parts[0]);
  return ok();
}

}  // namespace snapdiff::session
