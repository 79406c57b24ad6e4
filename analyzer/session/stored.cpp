#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "analyzer/session/list_text.hpp"
#include "analyzer/session/load.hpp"
#include "formats/registry.hpp"
#include "snapdiff/failure.hpp"
#include "snapdiff/nearest.hpp"

/// The part of load.hpp that reads the store.
namespace snapdiff::session {

namespace fs = std::filesystem;

StoreChoice choose_store(const std::string& named) {
  if (!named.empty()) return {named, true};
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

Result<store::Store> open_store_for(const Operand& operand, const StoreChoice& choice) {
  std::error_code ignored;
  if (is_whole_series(operand) && !choice.in_memory() && !fs::exists(choice.path, ignored))
    return Error{ErrorCode::io,
                 "no such file, and no store that could hold a series of that name: found no " + choice.path +
                     near_file(operand.text),
                 std::nullopt, operand.text};
  return open_store(choice, store::Access::read);
}

namespace {

constexpr std::size_t kMostSeriesNamed = 8;

/// "no file and no series of that name; series: api, web; did you mean web?"
Error no_such_series(const std::vector<store::SeriesInfo>& listed, const SeriesOperand& wanted,
                     const std::string& text) {
  std::vector<std::string> names;
  names.reserve(listed.size());
  for (const store::SeriesInfo& series : listed) names.push_back(series.name);
  std::string why = wanted.position == 0 ? "no file and no series of that name" : "no series of that name";
  why += names.empty() ? "; the store is empty" : "; series: " + list_and_others(names, kMostSeriesNamed);
  const std::string near = did_you_mean(wanted.series, names);
  why += near.empty() && wanted.position == 0 ? near_file(text) : near;
  return {ErrorCode::io, why, std::nullopt, text};
}

/// Places of a series that an operand means, from 1. Errors: usage, `missing`.
template <class Missing>
Result<std::vector<SnapshotId>> places_in(const store::SeriesInfo& series, const SeriesOperand& wanted,
                                          const Missing& missing) {
  const auto count = static_cast<std::int64_t>(series.snapshots.size());
  const auto place = [&](std::int64_t position) { return position > 0 ? position : count + 1 + position; };
  const std::int64_t first = wanted.position == 0 ? 1 : place(wanted.position);
  const std::int64_t last = wanted.position == 0 ? count : wanted.last == 0 ? first : place(wanted.last);
  if (first < 1 || last > count || first > last) return missing("the series has " + std::to_string(count));
  std::vector<SnapshotId> ids;
  for (std::int64_t i = first; i <= last; ++i) ids.push_back(series.snapshots[static_cast<std::size_t>(i - 1)].id);
  return ids;
}

}  // namespace

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
  if (all.empty() && !is_whole_series(operand)) return missing("it is empty");
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
    if (series == listed->end()) return no_such_series(*listed, *in_series, operand.text);
    return places_in(*series, *in_series, missing);
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

Result<Loaded> load_stored(store::Store& store, const std::vector<SnapshotId>& ids, const Watch& watch,
                           store::Parts parts) {
  return guarded([&] {
    std::vector<Snapshot> snapshots =
        value_or_throw(in_stage(watch, "reading the store", [&] { return store.load(ids, parts); }));
    const std::vector<store::SeriesInfo> listed = value_or_throw(store.list());
    std::map<SnapshotId, const store::SeriesInfo*> series_of;
    for (const auto& series : listed) {
      for (const auto& info : series.snapshots) series_of[info.id] = &series;
    }
    Loaded loaded;
    bool have_times = true;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      LoadedSnapshot item;
      have_times = have_times && snapshots[i].facts.taken_at_ns.has_value();
      item.ref.snapshot = std::make_shared<const Snapshot>(std::move(snapshots[i]));
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
  });
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

}  // namespace snapdiff::session
