#include "analyzer/session/series_identity.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/facts_text.hpp"
#include "analyzer/session/list_text.hpp"
#include "formats/registry.hpp"

namespace snapdiff::session {
namespace {

/// Rows looked at of each snapshot before the diff engine is asked; chosen by the stacks' hashes, so that both sides
/// choose the same.
constexpr std::size_t kMostCompared = 4096;

std::string folder_of(const Snapshot& snapshot) {
  return std::filesystem::path(snapshot.facts.source.name).parent_path().lexically_normal().string();
}

std::string stem_of(const Snapshot& snapshot) {
  std::string stem = formats::series_stem(snapshot.facts.source.name);
  return stem.empty() ? "stdin" : stem;
}

const Column* weighed_column(const Snapshot& snapshot) {
  const Column* const column = main_column(snapshot);
  return column == nullptr && !snapshot.samples.columns.empty() ? &snapshot.samples.columns.front() : column;
}

/// Bytes by stack of some of the rows, in order of the stacks' hashes.
using Weights = std::vector<std::pair<Hash128, double>>;

Weights weights_of(const Snapshot& snapshot, std::uint64_t mask) {
  const Column* const column = weighed_column(snapshot);
  Weights weights;
  if (column == nullptr) return weights;
  const StackTable& stacks = snapshot.dictionary->stacks;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const Hash128& hash = stacks.hash[index_of(snapshot.samples.stack[row])];
    if ((hash.low & mask) != 0 || column->value[row] == 0) continue;
    weights.emplace_back(hash, std::abs(static_cast<double>(column->value[row])));
  }
  std::sort(weights.begin(), weights.end());
  return weights;
}

/// Of `of`: how much of its bytes is in stacks that `in` has; 1 of nothing.
double share_in(const Weights& of, const Weights& in) {
  double all = 0;
  double found = 0;
  auto at = in.begin();
  for (const auto& [hash, bytes] : of) {
    all += bytes;
    while (at != in.end() && at->first < hash) ++at;
    if (at != in.end() && at->first == hash) found += bytes;
  }
  return all > 0 ? found / all : 1;
}

/// By equal stacks alone.
double equal_bytes(const Snapshot& a, const Snapshot& b) {
  std::uint64_t mask = 0;
  for (std::size_t rows = std::max(a.samples.size(), b.samples.size()); rows > kMostCompared; rows /= 2)
    mask = mask << 1 | 1;
  const Weights of_a = weights_of(a, mask);
  const Weights of_b = weights_of(b, mask);
  return std::max(share_in(of_a, of_b), share_in(of_b, of_a));
}

/// By what the diff engine matches: other builds, moved lines.
double matched_bytes(const Snapshot& a, const Snapshot& b) {
  const auto borrowed = [](const Snapshot& snapshot) {
    return SnapshotRef{std::shared_ptr<const Snapshot>(std::shared_ptr<const Snapshot>(), &snapshot), "", ""};
  };
  const Result<GrowthReport> report = diff::diff(borrowed(a), borrowed(b), {});
  if (!report) return 0;
  double all[2] = {};
  double found[2] = {};
  for (const GrowthRow& row : report->rows) {
    const double sides[2] = {std::abs(static_cast<double>(row.value.baseline)),
                             std::abs(static_cast<double>(row.value.current))};
    for (const int side : {0, 1}) {
      all[side] += sides[side];
      if (row.tier != MatchTier::none) found[side] += sides[side];
    }
  }
  return std::max(all[0] > 0 ? found[0] / all[0] : 1, all[1] > 0 ? found[1] / all[1] : 1);
}

/// File name of the program itself: the first thing mapped that has a name; "" where the input holds no mappings.
std::string_view main_module(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  for (const Mapping& mapping : snapshot.mappings) {
    const std::string_view name = base_name(d.strings[d.modules.name[index_of(mapping.module)]]);
    if (!name.empty() && name.front() != '[') return name;
  }
  return {};
}

bool share_a_counter(const Snapshot& a, const Snapshot& b) {
  std::set<std::string_view> names;
  for (const Counter& counter : a.facts.counters) names.insert(counter.name);
  return names.empty() || b.facts.counters.empty() ||
         std::any_of(b.facts.counters.begin(), b.facts.counters.end(),
                     [&](const Counter& counter) { return names.count(counter.name) > 0; });
}

/// Adds a snapshot to the part that is its own, or to a new one of that name.
template <class IsItsOwn>
void add_to(std::vector<SeriesPart>& parts, std::size_t snapshot, const std::string& name, IsItsOwn is_its_own) {
  auto own = std::find_if(parts.begin(), parts.end(), is_its_own);
  if (own == parts.end()) own = parts.insert(own, SeriesPart{name, {}});
  own->snapshots.push_back(snapshot);
}

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

bool may_be_one_program(const Snapshot& a, const Snapshot& b) {
  const SnapshotFacts& one = a.facts;
  const SnapshotFacts& other = b.facts;
  if (one.format != other.format) return false;
  if (!one.source.sha256.empty() && one.source.sha256 == other.source.sha256) return true;
  if (!one.producer.empty() && !other.producer.empty() && one.producer != other.producer) return false;
  if (a.samples.columns.empty() != b.samples.columns.empty()) return false;
  if (a.samples.columns.empty()) return share_a_counter(a, b);
  const std::string_view module = main_module(a);
  const std::string_view other_module = main_module(b);
  const bool renamed = !module.empty() && !other_module.empty() && module != other_module;
  const double least = renamed ? kLeastWhereRenamed : kLeastInCommon;
  const double equal = equal_bytes(a, b);
  // Two programs in one folder are asked about once a snapshot: the engine is too dear for what is that clear.
  if (equal >= least || (renamed && equal <= 0)) return equal >= least;
  return matched_bytes(a, b) >= least;
}

std::vector<SeriesPart> series_in(const std::vector<LoadedSnapshot>& snapshots) {
  const auto put_apart = [&](bool by_stem) {
    std::vector<SeriesPart> all;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      const Snapshot& snapshot = *snapshots[i].ref.snapshot;
      const auto is_its = [&](const SeriesPart& series) {
        const Snapshot& last = *snapshots[series.snapshots.back()].ref.snapshot;
        return (!by_stem || stem_of(last) == stem_of(snapshot)) && may_be_one_program(last, snapshot);
      };
      add_to(all, i, stem_of(snapshot), is_its);
    }
    return all;
  };
  std::vector<SeriesPart> all = put_apart(true);
  if (std::all_of(all.begin(), all.end(), [](const SeriesPart& series) { return series.snapshots.size() == 1; }))
    all = put_apart(false);
  std::map<std::string, std::size_t> named;
  for (SeriesPart& series : all) {
    if (const std::size_t number = ++named[series.name]; number > 1) series.name += "-" + std::to_string(number);
  }
  return all;
}

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
    add_to(parts, i, name, [&](const SeriesPart& part) { return part.name == name; });
  }
  for (SeriesPart& series : series_in(files)) {
    for (std::size_t& i : series.snapshots) i = place[i];
    parts.push_back(std::move(series));
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
    return Error{
        ErrorCode::usage,
        std::to_string(parts.size()) + " series: found " + list_of(parts, loaded) + "; pick one with --series NAME",
        std::nullopt, what};
  const std::vector<SeriesPart> others(parts.begin() + 1, parts.end());
  loaded.notes.add(Severity::warning,
                   "left out, since not of the series " + parts[0].name + ": " + list_of(others, loaded));
  keep(loaded, parts[0]);
  return ok();
}

SeriesNames::Known& SeriesNames::known(const std::string& name) {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  std::optional<store::SeriesEnd> end = value_or_throw(store_->series_end(name));
  Known series;
  if (end) {
    series.exists = true;
    series.sources = std::move(end->sources);
    series.last_stored = end->newest;
  }
  return known_[name] = std::move(series);
}

bool SeriesNames::fits(Known& series, const LoadedSnapshot& item) {
  const Snapshot& snapshot = *item.ref.snapshot;
  const std::string folder = folder_of(snapshot);
  const std::string stem = stem_of(snapshot);
  const auto is_beside = [&](const std::string& source) {
    return std::filesystem::path(source).parent_path().lexically_normal() == folder &&
           formats::series_stem(source) == formats::series_stem(snapshot.facts.source.name);
  };
  if (std::none_of(series.sources.begin(), series.sources.end(), is_beside)) return false;
  if (series.last == nullptr) {
    const SnapshotId ids[] = {*series.last_stored};
    series.last = std::make_shared<const Snapshot>(std::move(value_or_throw(store_->load(ids)).front()));
  }
  return may_be_one_program(*series.last, snapshot);
}

Result<std::string> SeriesNames::name_for(const LoadedSnapshot& item, const std::string& suffix) {
  return guarded([&] {
    const Snapshot& snapshot = *item.ref.snapshot;
    const std::string stem = stem_of(snapshot);
    const std::string folder = std::filesystem::path(folder_of(snapshot)).filename().string();
    const std::string longer = folder.empty() || folder == "." || folder == ".." ? stem : folder + "/" + stem;
    for (std::size_t number = 0;; ++number) {
      std::string name = number == 0 ? stem : number == 1 ? longer : longer + "-" + std::to_string(number);
      name += suffix;
      Known& series = known(name);
      if (series.exists && !fits(series, item)) continue;
      series.exists = true;
      series.sources.push_back(snapshot.facts.source.name);
      series.last = item.ref.snapshot;
      return name;
    }
  });
}

Result<std::string> SeriesNames::name_beside(const LoadedSnapshot& item) {
  const std::string folder = folder_of(*item.ref.snapshot);
  for (Beside& one : beside_) {
    if (one.folder != folder || !may_be_one_program(*one.last, *item.ref.snapshot)) continue;
    one.last = item.ref.snapshot;
    return one.name;
  }
  Result<std::string> name = name_for(item);
  if (name) beside_.push_back({folder, *name, item.ref.snapshot});
  return name;
}

}  // namespace snapdiff::session
