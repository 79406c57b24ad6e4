#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/base/nearest.hpp"
#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/diff.hpp"

namespace snapdiff::diff {
namespace {

std::string name_of(const SnapshotRef& ref) { return !ref.ref.empty() ? ref.ref : ref.snapshot->facts.source.name; }

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

std::vector<std::string> columns_of(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const Column& column : snapshot.samples.columns) {
    if (is_metric(column)) names.push_back(column.type.name);
  }
  return names;
}

std::vector<std::string> columns_of_all(std::span<const SnapshotRef> snapshots) {
  std::vector<std::string> names;
  for (const SnapshotRef& ref : snapshots) {
    for (std::string& name : columns_of(*ref.snapshot)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

bool in_all(std::span<const SnapshotRef> snapshots, std::string_view metric) {
  return std::all_of(snapshots.begin(), snapshots.end(),
                     [&](const SnapshotRef& ref) { return ref.snapshot->column(metric) != nullptr; });
}

/// Why a snapshot without values has none, if its reader said so: " (line dropped: not JSON)".
std::string loss_in(const Snapshot& snapshot) {
  if (!columns_of(snapshot).empty()) return {};
  for (const Note& note : snapshot.facts.notes.all()) {
    if (note.severity == Severity::data_loss) return " (" + note.text + ")";
  }
  return {};
}

/// "a.heap has alloc_space, inuse_space; b.heap has cpu": the first snapshot and the first that differs.
std::string both_lists(std::span<const SnapshotRef> snapshots, std::string_view metric) {
  const SnapshotRef* with = &snapshots.front();
  const SnapshotRef* without = &snapshots.back();
  for (const SnapshotRef& ref : snapshots) {
    if (!metric.empty() && ref.snapshot->column(metric) == nullptr) {
      without = &ref;
      if (&ref == with) with = &snapshots.back();
      break;
    }
  }
  if (with > without) std::swap(with, without);
  std::string first = name_of(*with) + " has " + list_of(columns_of(*with->snapshot)) + loss_in(*with->snapshot);
  if (with == without) return first;
  return first + "; " + name_of(*without) + " has " + list_of(columns_of(*without->snapshot)) +
         loss_in(*without->snapshot);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// What people call the four metrics; google/pprof takes some of these too.
std::string_view canonical(std::string_view wanted) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kSynonyms = {{
      {"space", "inuse_space"},
      {"inuse", "inuse_space"},
      {"in_use", "inuse_space"},
      {"inuse_bytes", "inuse_space"},
      {"bytes", "inuse_space"},
      {"size", "inuse_space"},
      {"objects", "inuse_objects"},
      {"inuse_count", "inuse_objects"},
      {"alloc", "alloc_space"},
      {"alloc_bytes", "alloc_space"},
      {"allocated", "alloc_space"},
      {"allocations", "alloc_objects"},
      {"alloc_count", "alloc_objects"},
  }};
  for (const auto& [word, name] : kSynonyms) {
    if (word == wanted) return name;
  }
  return {};
}

Result<std::string> choose_wanted(std::span<const SnapshotRef> snapshots, const std::string& wanted) {
  const std::vector<std::string> names = columns_of_all(snapshots);
  std::string chosen;
  for (const std::string& name : names) {
    if (name == wanted) chosen = name;
  }
  const std::string folded = lower(wanted);
  for (const std::string& name : names) {
    if (chosen.empty() && lower(name) == folded) chosen = name;
  }
  for (const std::string& name : names) {
    if (chosen.empty() && name == canonical(folded)) chosen = name;
  }
  if (chosen.empty()) {
    return Error{ErrorCode::usage, std::string("unknown metric: '") + wanted + "', expected one of " + list_of(names) +
                                       did_you_mean(wanted, names)};
  }
  if (!in_all(snapshots, chosen)) {
    return Error{ErrorCode::incompatible, std::string("metric not in every snapshot: ") +
                                              both_lists(snapshots, chosen) + ", expected " + chosen + " in each"};
  }
  return chosen;
}

bool is_cpu_profile(std::span<const SnapshotRef> snapshots) {
  return std::ranges::any_of(snapshots, [](const SnapshotRef& ref) {
    return std::ranges::any_of(ref.snapshot->samples.columns, [](const Column& column) {
      return measures_cpu_time({lower(column.type.name), column.type.unit});
    });
  });
}

std::string sibling(const Snapshot& snapshot, std::string_view metric, std::string_view own_ending,
                    std::string_view ending, std::string_view unit) {
  if (!metric.ends_with(own_ending)) return {};
  const std::string name = std::string(metric.substr(0, metric.size() - own_ending.size())) + std::string(ending);
  const Column* column = snapshot.column(name);
  return column != nullptr && name != metric && (unit.empty() || column->type.unit == unit) ? name : std::string();
}

/// The column of counts beside a column of bytes: inuse_space -> inuse_objects, x_bytes ->
/// x_objects or x_count. "" when the snapshot has none.
std::string objects_beside(const Snapshot& snapshot, std::string_view metric) {
  for (const auto& [own, ending] : std::array<std::pair<std::string_view, std::string_view>, 7>{{
           {"space", "objects"},
           {"space", "count"},
           {"bytes", "objects"},
           {"bytes", "count"},
           {"size", "objects"},
           {"size", "count"},
           {"size", "samples"},
       }}) {
    if (std::string name = sibling(snapshot, metric, own, ending, "count"); !name.empty()) return name;
  }
  return {};
}

/// The other way round, for the sampling error of counts.
std::string bytes_beside(const Snapshot& snapshot, std::string_view metric) {
  for (const std::string_view own : {"objects", "count", "samples"}) {
    for (const std::string_view ending : {"space", "bytes", "size"}) {
      if (std::string name = sibling(snapshot, metric, own, ending, "bytes"); !name.empty()) return name;
    }
  }
  return {};
}

}  // namespace

Status pick_columns(Comparison& c) {
  std::string objects = objects_beside(*c.sides.front().ref.snapshot, c.metric);
  for (const Side& side : c.sides) {
    if (!objects.empty() && side.ref.snapshot->column(objects) == nullptr) objects.clear();
  }
  for (const Side& side : c.sides) {
    const Column* const column = objects.empty() ? nullptr : side.ref.snapshot->column(objects);
    if (column == nullptr || column->known.empty()) continue;
    c.notes.add(Severity::warning, "an input does not know every count: no counts are compared");
    objects.clear();
  }
  c.objects_metric = objects;
  c.has_objects = !objects.empty();
  for (Side& side : c.sides) {
    const Snapshot& snapshot = *side.ref.snapshot;
    Columns& columns = side.columns;
    columns.value = snapshot.column(c.metric);
    if (c.has_objects) columns.objects = snapshot.column(objects);
    columns.half_units = snapshot.column(half_unit_name(c.metric));
    if (&side == &c.sides.front()) c.unit = columns.value->type.unit;
    if (columns.value->type.unit != c.unit) {
      return Error{ErrorCode::incompatible, std::string("unit of ") + c.metric + " differs: " + c.unit + " and " +
                                                columns.value->type.unit + ", expected one unit"};
    }
    if (columns.value->type.unit == "bytes") {
      columns.bytes = columns.value;
      columns.counts = snapshot.column(objects_beside(snapshot, c.metric));
    } else {
      const std::string bytes = bytes_beside(snapshot, c.metric);
      columns.bytes = bytes.empty() ? nullptr : snapshot.column(bytes);
      columns.counts = columns.value;
    }
  }
  return ok();
}

Result<std::string> choose_metric(std::span<const SnapshotRef> snapshots, const std::string& wanted) {
  if (snapshots.empty()) return Error{ErrorCode::usage, "no snapshot: found none, expected at least one"};
  if (!wanted.empty()) return choose_wanted(snapshots, wanted);
  std::vector<MetricList> metrics;
  metrics.reserve(snapshots.size());
  for (const SnapshotRef& ref : snapshots)
    metrics.push_back(metric_list(ref.snapshot->samples.columns, ref.snapshot->facts.default_metric));
  if (std::string chosen = default_metric(metrics); !chosen.empty()) return chosen;

  bool any_common = false;
  bool any_in_bytes = false;
  for (const SampleType& type : metrics.front().types) {
    if (!in_all(snapshots, type.name)) continue;
    any_common = true;
    any_in_bytes = any_in_bytes || type.unit == "bytes";
  }
  if (!any_common) {
    return Error{ErrorCode::incompatible,
                 std::string("no common metric: ") + both_lists(snapshots, {}) + ", expected one that is in each"};
  }
  return Error{ErrorCode::incompatible, (any_in_bytes                ? "no default metric: "
                                         : is_cpu_profile(snapshots) ? "this is a CPU profile: "
                                                                     : "no memory metric: ") +
                                            both_lists(snapshots, {}) + ", expected a choice by --metric"};
}

}  // namespace snapdiff::diff
