#include "analyzer/session/postmortem_series.hpp"
#include "analyzer/session/judged_series.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/device_moments.hpp"
#include "analyzer/session/document.hpp"
#include "analyzer/session/left_out.hpp"
#include "analyzer/session/pins.hpp"
#include "analyzer/session/resident_parts.hpp"
#include "analyzer/session/series_identity.hpp"
#include "analyzer/story/make_story.hpp"

namespace snapdiff::session {
namespace {

/// Of one trace without iterations.
constexpr std::uint64_t kMoments = 24;
constexpr std::size_t kMostMoments = 60;

/// What is known of the memory of CUDA devices: the last failure, and who pins segments at the end.
void add_device_memory(const ReportedSeries& series, const std::vector<SnapshotRef>& refs, const DiffOptions& view,
                       postmortem::Request& request) {
  std::vector<const Snapshot*> from_the_last;
  if (series.trace) from_the_last.push_back(series.trace->ref.snapshot.get());
  for (std::size_t i = refs.size(); i-- > 0;) from_the_last.push_back(refs[i].snapshot.get());
  for (std::size_t i = 0; i < from_the_last.size() && !request.failure; ++i) {
    if (const auto failure = value_or_throw(last_failure(*from_the_last[i]))) request.failure = *failure;
  }
  const Snapshot& last = *refs.back().snapshot;
  if (last.allocator == nullptr || !last.allocator->has_segments || last.column("pinned_space") == nullptr) return;
  const bool first_too = refs.front().snapshot->column("pinned_space") != nullptr;
  request.pins = value_or_throw(make_pins(first_too ? refs.front() : SnapshotRef{}, refs.back(), view));
}

bool has_rows(const LoadedSnapshot& item) { return !item.ref.snapshot->samples.columns.empty(); }

/// What two snapshots must share to be one series.
std::string kind_of(const LoadedSnapshot& item) {
  std::string kind = item.ref.snapshot->facts.format;
  if (kind.empty()) kind = "unknown";
  if (!item.ref.series.empty()) kind = item.ref.series + "-" + kind;
  return has_rows(item) ? kind : kind + "-counters";
}

/// As the name of a folder: letters, digits, dot, dash and underscore.
std::string folder_name(std::string text) {
  for (char& c : text) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  while (text.starts_with('.')) text.erase(0, 1);
  return text.empty() ? "series" : text;
}

bool comparable(const Loaded& loaded, const DiffOptions& view) {
  const std::vector<SnapshotRef> refs = loaded.refs();
  if (diff::has_counters_only(refs)) return true;
  const bool mixed = std::any_of(loaded.snapshots.begin(), loaded.snapshots.end(),
                                 [](const LoadedSnapshot& item) { return !has_rows(item); });
  return !mixed && diff::choose_metric(refs, view.metric).has_value();
}

/// The series of each snapshot; empty where all are one. The snapshots of one operand are separated as every command
/// does; snapshots listed one by one are one series as far as they can be compared, else one for each kind and program.
std::vector<std::string> series_names(const Loaded& loaded, const DiffOptions& view) {
  const std::vector<LoadedSnapshot>& all = loaded.snapshots;
  std::vector<std::string> names(all.size());
  if (loaded.gathered) {
    const std::vector<SeriesPart> parts = parts_of(all);
    for (const SeriesPart& part : parts) {
      for (const std::size_t i : part.snapshots) names[i] = part.name;
    }
    return parts.size() < 2 ? std::vector<std::string>() : names;
  }
  if (comparable(loaded, view)) return {};
  std::vector<std::size_t> last;  // of each kind and program
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string kind = kind_of(all[i]);
    const auto own = std::find_if(last.begin(), last.end(), [&](std::size_t of) {
      return kind_of(all[of]) == kind && may_be_one_program(*all[of].ref.snapshot, *all[i].ref.snapshot);
    });
    if (own != last.end()) {
      names[i] = names[*own];
      *own = i;
      continue;
    }
    const auto same = std::count_if(last.begin(), last.end(), [&](std::size_t of) { return kind_of(all[of]) == kind; });
    names[i] = same == 0 ? kind : kind + "-" + std::to_string(same + 1);
    last.push_back(i);
  }
  return names;
}

}  // namespace

std::vector<ReportedSeries> split_series(const Loaded& loaded, const DiffOptions& view, Notes& left_out) {
  std::vector<ReportedSeries> parts;
  const std::vector<std::string> series =
      loaded.snapshots.size() < 2 ? std::vector<std::string>() : series_names(loaded, view);
  if (series.empty()) {
    parts.push_back({"", loaded, {}});
    return parts;
  }
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < loaded.snapshots.size(); ++i) {
    const LoadedSnapshot& item = loaded.snapshots[i];
    const std::string& kind = series[i];
    auto found = std::find(kinds.begin(), kinds.end(), kind);
    if (found == kinds.end()) {
      kinds.push_back(kind);
      found = kinds.end() - 1;
      ReportedSeries part;
      part.loaded.order_note = loaded.order_note;
      part.loaded.named = loaded.named;
      part.loaded.left_out = loaded.left_out;
      parts.push_back(std::move(part));
    }
    parts[static_cast<std::size_t>(found - kinds.begin())].loaded.snapshots.push_back(item);
  }
  std::vector<ReportedSeries> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].loaded.snapshots.size() < 2) {
      left_out.add(Severity::warning,
                   parts[i].loaded.snapshots.front().ref.ref + ": the only snapshot of its kind, in no report");
      continue;
    }
    parts[i].name = folder_name(kinds[i]);
    for (const ReportedSeries& other : out) {
      if (other.name == parts[i].name) parts[i].name += "-" + std::to_string(i + 1);
    }
    out.push_back(std::move(parts[i]));
  }
  // Nothing can be compared: the diff says why.
  if (out.empty()) out.push_back({"", loaded, {}});
  if (out.size() == 1 && left_out.empty()) out.front().name.clear();
  return out;
}

namespace {

/// A snapshot that holds no other moment than its own: it stands for both ends, and the report is about what it holds.
ReportedSeries series_of_one(const Loaded& loaded) {
  ReportedSeries series;
  series.loaded.snapshots = {loaded.snapshots.front(), loaded.snapshots.front()};
  series.loaded.order_note = "as it was saved; it has no history";
  series.loaded.notes = loaded.notes;
  series.loaded.named = loaded.named;
  series.trace = loaded.snapshots.front();
  return series;
}

/// The metric that a report on one snapshot is about: its default one where that counts bytes, else its first in bytes;
/// "" without one.
std::string held_metric(const SnapshotRef& ref) {
  const Result<std::string> metric = diff::choose_metric({&ref, 1}, "");
  const Column* const column = metric ? ref.snapshot->column(*metric) : nullptr;
  if (column != nullptr && column->type.unit == "bytes") return *metric;
  for (const Column& other : ref.snapshot->samples.columns) {
    if (other.type.unit == "bytes") return other.type.name;
  }
  return {};
}

}  // namespace

Result<std::optional<ReportedSeries>> series_of_trace(const Loaded& loaded) {
  return guarded([&]() -> std::optional<ReportedSeries> {
    if (loaded.snapshots.size() != 1) return std::nullopt;
    const LoadedSnapshot& whole = loaded.snapshots.front();
    const Snapshot& snapshot = *whole.ref.snapshot;
    if (snapshot.allocator == nullptr) {
      return held_metric(whole.ref).empty() ? std::nullopt : std::optional(series_of_one(loaded));
    }
    if (cuda::held_memory(snapshot)) return series_of_one(loaded);
    const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(snapshot);
    if (!trace) return std::nullopt;
    const bool by_iteration = value_or_throw(cuda::iterations(snapshot, *trace)).size() >= 2;
    ReportedSeries series;
    series.loaded.snapshots =
        value_or_throw(by_iteration ? iterations_of(snapshot, whole.ref.ref, trace->device, kMostMoments)
                                    : moments_with_peak(snapshot, whole.ref.ref, trace->device, kMoments));
    series.loaded.order_note =
        by_iteration ? "at the end of each iteration of its training loop" : "evenly along its trace, and at its peak";
    series.loaded.notes = loaded.notes;
    series.loaded.named = loaded.named;
    series.trace = whole;
    series.by_iteration = by_iteration;
    return series;
  });
}

Result<ReportedSeries> reported_series(const Loaded& loaded) {
  return guarded([&] { return value_or_throw(series_of_trace(loaded)).value_or(ReportedSeries{"", loaded, {}}); });
}

Result<Postmortem> find_out(const ReportedSeries& series, const DiffOptions& wanted, std::optional<std::int64_t> limit,
                            const postmortem::Rules& rules) {
  return guarded([&] {
    DiffOptions view = wanted;
    if (series.trace && series.trace->ref.snapshot->allocator == nullptr && view.metric.empty())
      view.metric = held_metric(series.trace->ref);
    const Loaded& loaded = series.loaded;
    const std::vector<SnapshotRef> refs = loaded.refs();
    postmortem::Request request;
    request.view = view;
    request.limit = limit;
    request.title = title_of(loaded);
    request.version = kVersion;
    const bool is_one = refs.size() == 2 && refs.front().snapshot == refs.back().snapshot;
    request.order_note = is_one ? loaded.order_note : order_of(loaded);
    request.created_at_ns = document_time_ns(loaded);
    request.missing = missing_inputs(loaded);
    request.notes = loaded.notes;
    add_left_out(loaded, request.notes);
    add_device_memory(series, refs, view, request);
    Postmortem report = value_or_throw(postmortem::assemble(refs, std::move(request)));
    if (report.trend.series.overall.story != nullptr) {
      tell_objects(report.trend.series.overall, &report.trend.axis);
      tell_reserved(report.trend.series.overall);
    }
    if (series.trace) {
      const bool device = series.trace->ref.snapshot->allocator != nullptr;
      story::tell_peak(
          report.trend,
          value_or_throw(device ? device_peak(series.trace->ref, view) : held_story(series.trace->ref, view)),
          series.by_iteration);
    }
    report.narrative = postmortem::tell(report, rules);
    report.resident = series.resident;
    if (report.resident) tell_resident(*report.resident, report.narrative);
    return report;
  });
}

}  // namespace snapdiff::session
