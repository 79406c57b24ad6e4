#include "analyzer/session/axis_chart.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/facts_text.hpp"
#include "formats/registry.hpp"

namespace snapdiff::session {
namespace {

struct Collected {
  std::vector<store::SeriesInfo> series;
  Loaded loaded;
  std::string title;
};

Loaded facts_of(const std::vector<store::SeriesInfo>& series) {
  Loaded loaded;
  for (const store::SeriesInfo& one : series) {
    for (const store::SnapshotInfo& info : one.snapshots) {
      LoadedSnapshot item;
      Snapshot snapshot;
      snapshot.facts = info.facts;
      item.ref.snapshot = std::make_shared<const Snapshot>(std::move(snapshot));
      item.ref.ref = "@" + std::to_string(static_cast<std::int64_t>(info.id));
      item.ref.series = one.name;
      item.stored = info.id;
      item.name = std::string(base_name(info.facts.source.name));
      loaded.snapshots.push_back(std::move(item));
    }
  }
  return loaded;
}

Collected collected(std::vector<store::SeriesInfo> series, const std::string& title) {
  Loaded loaded = facts_of(series);
  return {std::move(series), std::move(loaded), title};
}

/// Snapshots that are of more than one format: of one they may be meant as one series, as given.
bool are_mixed(const std::vector<store::SeriesInfo>& series) {
  std::set<std::string_view> formats;
  for (const store::SeriesInfo& one : series) {
    for (const store::SnapshotInfo& info : one.snapshots) formats.insert(info.facts.format);
  }
  return formats.size() > 1;
}

/// All of the store, the named series, or the series that the stored snapshots of some operands belong to.
std::optional<Collected> from_store(const std::vector<std::string>& texts, const Request& request) {
  const StoreChoice choice = choose_store(request.store);
  std::error_code ignored;
  if (!std::filesystem::exists(choice.path, ignored)) return std::nullopt;
  store::Store store = value_or_throw(open_store(choice, store::Access::read));
  const std::vector<std::string> names = value_or_throw(store.series_names());
  const std::string title(base_name(store.path()));
  const std::set<std::string> words(texts.begin(), texts.end());
  if (words.empty()) {
    const std::optional<store::Comparison> last = value_or_throw(store.last_comparison());
    if (last || names.size() < 2) return std::nullopt;
    return collected(value_or_throw(store.list()), title);
  }
  const auto is_named = [&](const std::string& word) {
    return std::find(names.begin(), names.end(), word) != names.end() && !std::filesystem::exists(word, ignored);
  };
  std::vector<store::SeriesInfo> listed;
  if (std::all_of(words.begin(), words.end(), is_named)) {
    if (words.size() < 2) return std::nullopt;
    listed = value_or_throw(store.list(std::vector<std::string>(words.begin(), words.end())));
  } else {
    const Result<std::vector<Operand>> operands = parse_operands(texts);
    if (!operands) return std::nullopt;
    std::set<SnapshotId> wanted;
    bool any_range = false;
    for (const Operand& operand : *operands) {
      if (operand.is_path()) return std::nullopt;
      any_range = any_range || std::holds_alternative<RangeOperand>(operand.what);
      const std::vector<SnapshotId> ids = value_or_throw(resolve_stored(store, operand));
      wanted.insert(ids.begin(), ids.end());
    }
    std::vector<std::string> concerned;
    for (std::set<SnapshotId> left = wanted; !left.empty();) {
      const std::optional<store::SeriesOrder> series = value_or_throw(store.series_with(*left.begin()));
      left.erase(left.begin());
      for (const SnapshotId id : series->snapshots) left.erase(id);
      concerned.push_back(series->name);
    }
    listed = value_or_throw(store.list(concerned));
    for (store::SeriesInfo& series : listed) {
      std::erase_if(series.snapshots, [&](const store::SnapshotInfo& info) { return wanted.count(info.id) == 0; });
    }
    std::erase_if(listed, [](const store::SeriesInfo& series) { return series.snapshots.empty(); });
    if (!any_range && !are_mixed(listed)) return std::nullopt;
  }
  if (listed.size() < 2) return std::nullopt;
  return collected(std::move(listed), title);
}

/// By their names alone: a directory, or several series of which one has several files.
bool may_be_several(const std::vector<Operand>& operands) {
  std::map<std::string, std::size_t> files;
  for (const Operand& operand : operands) {
    const auto* const path = std::get_if<PathOperand>(&operand.what);
    if (path == nullptr || !path->point.empty()) return false;
    if (path->is_directory) return true;
    ++files[formats::series_stem(path->path)];
  }
  return files.size() > 1 && std::any_of(files.begin(), files.end(), [](const auto& file) { return file.second > 1; });
}

std::optional<Collected> from_files(const std::vector<std::string>& texts, const Request& request) {
  const Result<std::vector<Operand>> operands = parse_operands(texts);
  if (!operands || !may_be_several(*operands)) return std::nullopt;
  Loaded loaded = value_or_throw(load_operands(*operands, request, true));
  Collected found;
  bool all_traced = true;
  std::map<std::string, std::size_t> number;
  for (LoadedSnapshot& item : loaded.snapshots) {
    const Snapshot& snapshot = *item.ref.snapshot;
    all_traced = all_traced && cuda::busiest_trace(snapshot).has_value();
    item.ref.series = default_series({item});
    const auto [at, is_new] = number.try_emplace(item.ref.series, found.series.size());
    if (is_new) found.series.push_back({item.ref.series, store::Order::import, {}});
    store::SnapshotInfo info;
    info.series = item.ref.series;
    info.facts = snapshot.facts;
    for (const Column& column : snapshot.samples.columns) info.totals.emplace_back(column.type, total_of(column));
    found.series[at->second].snapshots.push_back(std::move(info));
  }
  if (found.series.size() < 2 || all_traced) return std::nullopt;
  const bool any_folder = std::any_of(operands->begin(), operands->end(), [](const Operand& operand) {
    const auto* const path = std::get_if<PathOperand>(&operand.what);
    return path != nullptr && path->is_directory;
  });
  if (!any_folder && !are_mixed(found.series)) return std::nullopt;
  for (store::SeriesInfo& series : found.series) store::put_in_order(series);
  found.loaded = std::move(loaded);
  const bool is_one = operands->size() == 1;
  found.title = is_one ? std::filesystem::path(operands->front().text).lexically_normal().filename().string() : "";
  if (found.title.empty() || found.title == ".") found.title = found.series.front().name;
  return std::optional(std::move(found));
}

/// Values of one series, by snapshot: bytes in use, or the counter that a report of counters begins with.
struct Charted {
  std::string metric;
  std::string unit;
  std::string remark;
  std::vector<std::optional<std::int64_t>> values;
};

Charted values_of(const store::SeriesInfo& series) {
  Charted out;
  for (const store::SnapshotInfo& info : series.snapshots) {
    const auto* const total = main_total(info);
    if (total != nullptr && out.metric.empty()) {
      out.metric = total->first.name;
      out.unit = total->first.unit;
    }
    const bool same = total != nullptr && total->first.name == out.metric && total->first.unit == out.unit;
    out.values.push_back(same ? std::optional(total->second) : std::nullopt);
  }
  if (!out.metric.empty()) return out;
  std::vector<SnapshotRef> refs;
  for (const store::SnapshotInfo& info : series.snapshots) {
    Snapshot snapshot;
    snapshot.facts = info.facts;
    refs.push_back({std::make_shared<const Snapshot>(std::move(snapshot)), "", series.name});
  }
  CounterReport counters = value_or_throw(diff::diff_counters(refs));
  if (counters.rows.empty()) return out;
  CounterRow& row = counters.rows.front();
  out.metric = row.name;
  out.unit = row.unit;
  out.values = std::move(row.values);
  if (counters.rows.size() > 1) out.remark = "1 of " + std::to_string(counters.rows.size()) + " counters";
  return out;
}

}  // namespace

Result<std::optional<AxisChart>> chart_of_series(const std::vector<std::string>& operands, const Request& request) {
  return guarded([&]() -> std::optional<AxisChart> {
    std::optional<Collected> found = from_store(operands, request);
    if (!found && !operands.empty()) {
      found = from_files(operands, request);
    }
    if (!found) return std::nullopt;
    const std::vector<store::SeriesInfo>& all = found->series;

    std::vector<render::AxisPage::Series> drawn;
    std::vector<std::string> notes;
    for (std::size_t s = 0; s < all.size(); ++s) {
      Charted charted = values_of(all[s]);
      render::AxisPage::Series series{all[s].name, charted.metric, charted.unit, charted.remark, {}};
      std::size_t valued = 0;
      for (std::size_t i = 0; i < charted.values.size(); ++i) {
        if (!charted.values[i]) continue;
        ++valued;
        const std::optional<std::int64_t>& taken = all[s].snapshots[i].facts.taken_at_ns;
        if (taken) series.points.push_back({*taken, *charted.values[i]});
      }
      if (series.points.size() < valued)
        notes.push_back(all[s].name + ": " + std::to_string(valued - series.points.size()) + " of " +
                        std::to_string(valued) + " snapshots are not drawn: they hold no time");
      if (valued == 0) notes.push_back(all[s].name + ": no bytes in use and no counter to draw");
      if (!series.points.empty()) drawn.push_back(std::move(series));
    }
    if (drawn.empty())
      fail({ErrorCode::usage, "no snapshot of these " + std::to_string(all.size()) +
                                  " series holds a time: expected one at least for a chart on one axis"});

    AxisChart chart;
    chart.loaded = std::move(found->loaded);
    chart.story.title = found->title;
    chart.story.source = std::to_string(chart.loaded.snapshots.size()) + " snapshots";
    std::int64_t first = drawn.front().points.front().time_ns, last = first;
    for (const render::AxisPage::Series& series : drawn) {
      for (const render::AxisPage::Point& point : series.points) {
        first = std::min(first, point.time_ns);
        last = std::max(last, point.time_ns);
      }
    }
    const std::size_t count = drawn.size();
    for (std::size_t from = 0; from < count; from += render::kMostAxisPanels) {
      render::AxisPage page;
      page.first_ns = first;
      page.last_ns = last;
      page.all_series = count;
      for (std::size_t s = from; s < std::min(count, from + render::kMostAxisPanels); ++s)
        page.series.push_back(std::move(drawn[s]));
      if (from + render::kMostAxisPanels >= count) page.notes = notes;
      chart.story.pages.emplace_back(std::move(page));
    }
    return chart;
  });
}

}  // namespace snapdiff::session
