#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/nearest.hpp"
#include "analyzer/diff/stack_rows.hpp"
#include "analyzer/session/list_text.hpp"
#include "analyzer/session/load.hpp"
#include "formats/registry.hpp"

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
Error no_such_series(const std::vector<std::string>& names, const SeriesOperand& wanted, const std::string& text) {
  std::string why = wanted.position == 0 ? "no file and no series of that name" : "no series of that name";
  why += names.empty() ? "; the store is empty" : "; series: " + list_and_others(names, kMostSeriesNamed);
  const std::string near = did_you_mean(wanted.series, names);
  why += near.empty() && wanted.position == 0 ? near_file(text) : near;
  return {ErrorCode::io, why, std::nullopt, text};
}

/// The snapshots that operands name in one store. Reads what they name, however much else it holds. Members throw
/// usage, io.
class Resolver {
 public:
  Resolver(store::Store& store, const Operand& operand) : store_(store), operand_(operand) {}

  std::vector<SnapshotId> resolve() {
    const std::optional<SnapshotId> newest = value_or_throw(store_.newest());
    if (!newest && !is_whole_series(operand_)) missing("it is empty");
    if (const auto* stored = std::get_if<StoredOperand>(&operand_.what)) return {one(*stored, *newest)};
    if (const auto* range = std::get_if<RangeOperand>(&operand_.what))
      return some(value_or_throw(store_.between(SnapshotId{range->from}, SnapshotId{range->to})), kSeeList);
    if (const auto* label = std::get_if<LabelOperand>(&operand_.what))
      return some(value_or_throw(store_.labelled(label->key, label->value)), "no snapshot has that label");
    if (const auto* series = std::get_if<SeriesOperand>(&operand_.what)) return places(*series);
    return {};
  }

 private:
  static constexpr const char* kSeeList = "'snapdiff list' shows what there is";

  [[noreturn]] void missing(const std::string& why) const {
    fail({ErrorCode::usage, "no snapshot '" + operand_.text + "' in the store: " + why, std::nullopt, store_.path()});
  }

  std::vector<SnapshotId> some(std::vector<SnapshotId> ids, const char* otherwise) const {
    if (ids.empty()) missing(otherwise);
    return ids;
  }

  SnapshotId one(const StoredOperand& wanted, SnapshotId newest) {
    if (wanted.word.empty()) {
      const SnapshotId id{wanted.id};
      return some(value_or_throw(store_.between(id, id)), kSeeList).front();
    }
    const std::vector<SnapshotId> all = value_or_throw(store_.series_with(newest))->snapshots;
    if (wanted.word == "first") return all.front();
    if (wanted.word == "last") return all.back();
    if (all.size() < 2) missing("the newest series has one snapshot");
    return all[all.size() - 2];
  }

  /// Places of a series, from 1; negative ones from its end.
  std::vector<SnapshotId> places(const SeriesOperand& wanted) {
    const std::optional<store::SeriesOrder> series = value_or_throw(store_.series(wanted.series));
    if (!series) fail(no_such_series(value_or_throw(store_.series_names()), wanted, operand_.text));
    const std::vector<SnapshotId>& all = series->snapshots;
    const auto count = static_cast<std::int64_t>(all.size());
    const auto place = [&](std::int64_t position) { return position > 0 ? position : count + 1 + position; };
    const std::int64_t first = wanted.position == 0 ? 1 : place(wanted.position);
    const std::int64_t last = wanted.position == 0 ? count : wanted.last == 0 ? first : place(wanted.last);
    if (first < 1 || last > count || first > last) missing("the series has " + std::to_string(count));
    return {all.begin() + (first - 1), all.begin() + last};
  }

  store::Store& store_;
  const Operand& operand_;
};

}  // namespace

Result<std::vector<SnapshotId>> resolve_stored(store::Store& store, const Operand& operand) {
  return guarded([&] { return Resolver(store, operand).resolve(); });
}

Result<Loaded> load_stored(store::Store& store, const std::vector<SnapshotId>& ids, const Watch& watch,
                           store::Parts parts) {
  return guarded([&] {
    std::vector<Snapshot> snapshots =
        value_or_throw(in_stage(watch, "reading the store", [&] { return store.load(ids, parts); }));
    std::map<SnapshotId, std::string> series_of;
    Loaded loaded;
    std::optional<store::Order> order;
    for (const SnapshotId id : ids) {
      if (series_of.contains(id)) continue;
      const std::optional<store::SeriesOrder> series = value_or_throw(store.series_with(id));
      if (!series) continue;
      if (!order && id == ids.front()) order = series->order;
      for (const SnapshotId other : series->snapshots) series_of.emplace(other, series->name);
    }
    bool have_times = true;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      LoadedSnapshot item;
      have_times = have_times && snapshots[i].facts.taken_at_ns.has_value();
      item.ref.snapshot = std::make_shared<const Snapshot>(std::move(snapshots[i]));
      item.ref.ref = "@" + std::to_string(static_cast<std::int64_t>(ids[i]));
      const auto series = series_of.find(ids[i]);
      if (series != series_of.end()) item.ref.series = series->second;
      item.stored = ids[i];
      item.name = std::string(base_name(item.ref.snapshot->facts.source.name));
      loaded.snapshots.push_back(std::move(item));
    }
    if (order) loaded.order_note = describe(*order, have_times);
    return loaded;
  });
}

void match_builds(store::Store& store) {
  store.match_with([](const Snapshot& baseline, const Snapshot& current) -> std::optional<store::Store::StackRows> {
    const auto borrowed = [](const Snapshot& snapshot) {
      return SnapshotRef{std::shared_ptr<const Snapshot>(std::shared_ptr<const Snapshot>(), &snapshot), "", ""};
    };
    Result<std::optional<diff::StackRows>> rows = diff::rows_of_stacks(borrowed(baseline), borrowed(current));
    if (!rows || !*rows) return std::nullopt;  // without a common metric nothing grows
    return store::Store::StackRows{std::move((*rows)->baseline), std::move((*rows)->current)};
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
