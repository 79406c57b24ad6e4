#include "formats/metric_log/recorder.hpp"

#include <iterator>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/base/validate.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/metric_log/metric_text.hpp"

namespace snapdiff::formats::metric_log {
namespace {

/// Values that are kept, all points together, before they are thinned: 96 MB.
constexpr std::size_t kMaxValues = std::size_t{4} << 20;
static_assert(kMaxValues >= kThinnedGroup * kMaxSeries, "what fewer points than a group hold must be kept");
constexpr std::size_t kMaxNameBytes = 4096;  // a path and its tags

struct KindText {
  Kind kind;
  std::string_view text;
  std::string_view producer;
};
constexpr KindText kKinds[] = {
    {kTorchSharp, "DisposeScopeManager.Statistics", "TorchSharp"},
    {kMemorySummary, "memory_summary", "PyTorch"},
    {kMemoryStats, "memory_stats", "PyTorch"},
    {kMemoryInfo, "get_memory_info", "TensorFlow"},
    {kMprof, "mprof", "memory_profiler"},
    {kProfilerTable, "line table", "memory_profiler"},
    {kOomMessage, "out of memory", ""},
    {kGcLog, "garbage collections", ""},
    {kCsvTable, "CSV", ""},
    {kPlain, "metric lines", ""},
    {kPattern, "own pattern", ""},
};

std::string producer_of(std::uint16_t kinds) {
  std::string out;
  for (const KindText& each : kKinds) {
    if ((kinds & each.kind) == 0) continue;
    if (!out.empty() && out != each.producer) return {};
    out = each.producer;
  }
  return out;
}

}  // namespace

std::string kinds_text(std::uint16_t kinds) {
  std::string out;
  for (const KindText& each : kKinds) {
    if ((kinds & each.kind) != 0) out.append(out.empty() ? "" : " + ").append(each.text);
  }
  return out;
}

std::optional<Recorder::SeriesId> Recorder::series_of(const Reading& reading, const LineFacts& line) {
  std::string name = reading.name;
  for (const auto& [key, value] : line.tags) name = with_tag(name, key, value);
  if (name.size() + reading.unit.size() > kMaxNameBytes) {
    notes_.add(Severity::data_loss, "counters with a name of more than 4096 bytes were left out", line.offset);
    return std::nullopt;
  }
  std::string key = name + '\n' + reading.unit;
  if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
  // Words of any text may be tentative ones: they leave room for the others.
  if (reading.is_tentative && series_.size() >= kMaxSeries / 4) return std::nullopt;
  if (series_.size() == kMaxSeries) {
    notes_.add(Severity::data_loss, "counters beyond the first " + std::to_string(kMaxSeries) + " names were left out",
               line.offset);
    return std::nullopt;
  }
  const auto id = static_cast<SeriesId>(series_.size());
  const auto [known, is_new] = name_ids_.emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back();
  series_.push_back({std::move(name), reading.unit, reading.cumulative, reading.is_tentative, {}, known->second});
  ids_.emplace(std::move(key), id);
  return id;
}

bool Recorder::is_in(SeriesId series, const OpenPoint& point) const {
  return names_[series_[series].name_id].last_point == point.serial;
}

void Recorder::open_point() {
  if (!previous_.values.empty()) commit(previous_);
  std::swap(previous_, current_);
  current_ = OpenPoint{};
  current_.serial = next_serial_++;
}

void Recorder::record(Kind kind, const LineFacts& line, std::span<const Reading> readings, Joins joins) {
  scratch_.clear();
  last_batch_ = 0;
  ++batches_;
  std::vector<const Reading*> kept;
  for (const Reading& reading : readings) {
    const std::optional<SeriesId> id = series_of(reading, line);
    // A name twice in one line: the first one counts.
    if (!id || name_of(*id).last_batch == batches_) continue;
    name_of(*id).last_batch = batches_;
    scratch_.push_back(*id);
    kept.push_back(&reading);
  }
  if (kept.empty()) return;
  const bool other_step = line.step && current_.facts.step && *line.step != *current_.facts.step;
  const bool repeats =
      std::any_of(scratch_.begin(), scratch_.end(), [this](SeriesId id) { return is_in(id, current_); });
  if (joins == Joins::never || other_step || repeats || current_.serial == 0) open_point();

  bool was_reset = false;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    Series& series = series_[scratch_[i]];
    Growth& growth = series.growth;
    const std::int64_t value = kept[i]->quantity.value;
    if (growth.readings == 0) {
      growth.first = value;
    } else {
      growth.is_constant = growth.is_constant && value == growth.last;
      if (series.cumulative && value < growth.last) growth.was_reset = was_reset = true;
    }
    growth.last = value;
    const bool counted = counts(series);
    ++growth.readings;
    series.is_tentative = series.is_tentative && kept[i]->is_tentative;
    if (growth.readings == 1 && series.is_tentative) ++waiting_readings_;
    if (growth.readings > 1 && !counted) --waiting_readings_;
    name_of(scratch_[i]).last_point = current_.serial;
    current_.values.push_back({scratch_[i], kept[i]->quantity});
  }
  if (was_reset)
    notes_.add(Severity::info, "resets: counters that only count up went down, and count from 0 again there",
               line.offset);
  if (!current_.facts.step) current_.facts.step = line.step;
  if (!current_.facts.time_ns) current_.facts.time_ns = line.time_ns;
  current_.facts.kinds = static_cast<std::uint16_t>(current_.facts.kinds | kind);
  kinds_ = static_cast<std::uint16_t>(kinds_ | kind);
  readings_ += kept.size();
  last_batch_ = kept.size();
}

void Recorder::undo() {
  for (std::size_t i = current_.values.size() - last_batch_; i < current_.values.size(); ++i) {
    Series& series = series_[current_.values[i].series];
    if (series.is_tentative && series.growth.readings == 1) --waiting_readings_;
    if (series.is_tentative && series.growth.readings == 2) ++waiting_readings_;
    --series.growth.readings;
  }
  current_.values.resize(current_.values.size() - last_batch_);
  readings_ -= last_batch_;
  last_batch_ = 0;
}

void Recorder::join_with_previous() {
  if (previous_.values.empty()) return;
  for (const PointValue& value : previous_.values) {
    if (is_in(value.series, current_)) return;
  }
  merge(previous_, current_.facts, current_.values);
  std::swap(previous_, current_);
  previous_ = OpenPoint{};
  for (const PointValue& value : current_.values) name_of(value.series).last_point = current_.serial;
}

void Recorder::begin_run(std::string_view command_line, std::int64_t time_ns) {
  runs_.push_back({std::string(command_line), time_ns});
}

/// The newer value of each series wins.
void Recorder::merge(OpenPoint& into, const PointFacts& facts, std::span<const PointValue> values) {
  slot_.resize(series_.size());
  ++merges_;
  for (std::size_t i = 0; i < into.values.size(); ++i) slot_[into.values[i].series] = {merges_, i};
  for (const PointValue& value : values) {
    Slot& slot = slot_[value.series];
    if (slot.merge == merges_) {
      into.values[slot.at] = value;
    } else {
      slot = {merges_, into.values.size()};
      into.values.push_back(value);
    }
  }
  if (facts.time_ns) into.facts.time_ns = facts.time_ns;
  if (facts.step) into.facts.step = facts.step;
  into.facts.kinds = static_cast<std::uint16_t>(into.facts.kinds | facts.kinds);
}

void Recorder::commit(OpenPoint& point) {
  ++points_seen_;
  push(0, {point.facts, std::move(point.values)});
  point.values.clear();
}

/// Through the groups that wait, from `level` on, into points_.
void Recorder::push(std::size_t level, LogPoint point) {
  if (level == waiting_.size()) return keep(std::move(point));
  waiting_[level].push_back(std::move(point));
  if (waiting_[level].size() < kThinnedGroup) return;
  std::vector<LogPoint> fewer = thinned(waiting_[level]);
  waiting_[level].clear();
  // keep() may add a level after the last one, which the next of them then go to.
  for (LogPoint& each : fewer) push(level + 1, std::move(each));
}

void Recorder::keep(LogPoint point) {
  values_ += point.values.size();
  points_.push_back(std::move(point));
  while ((points_.size() > kMaxPoints || values_ > kMaxValues) && points_.size() >= kThinnedGroup) halve();
}

/// Thins what is kept; points that make no whole group wait for more.
void Recorder::halve() {
  std::vector<LogPoint> fewer;
  const auto begin = std::make_move_iterator(points_.begin());
  const std::size_t whole = points_.size() - points_.size() % kThinnedGroup;
  for (std::size_t i = 0; i < whole; i += kThinnedGroup) {
    const auto at = begin + static_cast<std::ptrdiff_t>(i);
    for (LogPoint& point : thinned(std::vector(at, at + kThinnedGroup))) fewer.push_back(std::move(point));
  }
  waiting_.emplace_back(begin + static_cast<std::ptrdiff_t>(whole), std::make_move_iterator(points_.end()));
  points_ = std::move(fewer);
  values_ = 0;
  for (const LogPoint& point : points_) values_ += point.values.size();
}

/// At the end of the log.
void Recorder::keep_all_waiting() {
  stride_ = std::size_t{1} << waiting_.size();
  const auto append = [this] {
    for (; !waiting_.empty(); waiting_.pop_back())
      std::move(waiting_.back().begin(), waiting_.back().end(), std::back_inserter(points_));
  };
  append();
  while (points_.size() > kMaxPoints) {
    halve();
    append();
    stride_ *= 2;
  }
}

const Recorder::Growth* Recorder::growth(std::string_view name) const {
  const auto found = ids_.find(std::string(name) + "\ncount");
  return found == ids_.end() ? nullptr : &series_[found->second].growth;
}

/// Order of the points: as in the log, but those of mprof, whose functions are in front of all
/// samples, by their time among each other.
std::vector<std::uint32_t> Recorder::order() const {
  std::vector<std::uint32_t> all(points_.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::uint32_t> timed;
  const auto is_timed = [this](std::uint32_t i) { return points_[i].facts.kinds == kMprof; };
  std::copy_if(all.begin(), all.end(), std::back_inserter(timed), is_timed);
  std::stable_sort(timed.begin(), timed.end(), [this](std::uint32_t a, std::uint32_t b) {
    return points_[a].facts.time_ns.value_or(0) < points_[b].facts.time_ns.value_or(0);
  });
  std::size_t next = 0;
  for (std::uint32_t& slot : all) {
    if (is_timed(slot)) slot = timed[next++];
  }
  return all;
}

std::size_t Recorder::run_of(const PointFacts& facts) const {
  std::size_t run = 0;
  for (std::size_t i = 1; i < runs_.size(); ++i) {
    if (facts.time_ns && *facts.time_ns >= runs_[i].begin_ns) run = i;
  }
  return run;
}

Snapshot Recorder::snapshot_of(std::size_t point, const std::shared_ptr<const Dictionary>& dictionary) const {
  Snapshot snapshot;
  snapshot.dictionary = dictionary;
  const PointFacts& from = points_[point].facts;
  SnapshotFacts& facts = snapshot.facts;
  facts.format_detail = kinds_text(from.kinds);
  facts.producer = producer_of(from.kinds);
  facts.taken_at_ns = from.time_ns;
  if (from.step) facts.comments.push_back("step " + std::to_string(*from.step));
  std::string run;
  if (from.kinds == kMprof && !runs_.empty()) {
    const std::size_t index = run_of(from);
    facts.command_line = runs_[index].command_line;
    if (runs_.size() > 1) run = std::to_string(index + 1);
  }
  const std::vector<PointValue>& values = points_[point].values;
  facts.counters.reserve(values.size());
  for (const PointValue& value : values) {
    const Series& series = series_[value.series];
    if (!counts(series)) continue;
    facts.counters.push_back({.name = run.empty() ? series.name : with_tag(series.name, "run", run),
                              .value = value.quantity.value,
                              .unit = series.unit,
                              .cumulative = series.cumulative,
                              .half_unit = value.quantity.half_unit});
  }
  return snapshot;
}

/// Where one process of a training wrote the whole log, its number tells nothing.
void Recorder::drop_lone_tag(std::string_view tag_of_process) {
  const auto tag_of = [&](const std::string& name) {
    std::size_t at = name.find(tag_of_process);
    while (at != std::string::npos && (at == 0 || !contains("{,", name.substr(at - 1, 1))))
      at = name.find(tag_of_process, at + 1);
    return at == std::string::npos ? std::string() : name.substr(at, name.find_first_of(",}", at) - at);
  };
  std::string only;
  std::vector<std::string> names;
  for (const Series& series : series_) {
    const std::string tag = tag_of(series.name);
    if (tag.empty() || (!only.empty() && tag != only)) return;
    only = tag;
    std::string name = series.name;
    const std::size_t at = name.find(tag);
    const bool is_only = name[at - 1] == '{' && name[at + tag.size()] == '}';
    name.erase(is_only || name[at - 1] == ',' ? at - 1 : at, tag.size() + (is_only ? 2 : 1));
    names.push_back(std::move(name));
  }
  for (std::size_t i = 0; i < names.size(); ++i) series_[i].name = std::move(names[i]);
}

void Recorder::give(SnapshotSink& out) {
  for (const std::string_view tag : {"rank=", "pid="}) drop_lone_tag(tag);
  for (OpenPoint* point : {&previous_, &current_}) {
    if (!point->values.empty()) commit(*point);
  }
  keep_all_waiting();
  if (stride_ > 1)
    notes_.add(Severity::info,
               "a long log: of each " + std::to_string(kThinnedTo * stride_) + " points following each other " +
                   std::to_string(kThinnedTo) + " are kept: each counter's first, last, smallest and largest value",
               std::nullopt, points_seen_);
  const Snapshot empty = value_or_throw(SnapshotBuilder().finish());
  std::vector<std::uint32_t> in_order = order();
  // Points of numbers that were met once and whose words say nothing of memory.
  std::erase_if(in_order, [this](std::uint32_t point) {
    const std::vector<PointValue>& values = points_[point].values;
    return std::none_of(values.begin(), values.end(),
                        [this](const PointValue& value) { return counts(series_[value.series]); });
  });
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    Snapshot snapshot = snapshot_of(in_order[i], empty.dictionary);
    if (i + 1 == in_order.size()) {
      snapshot.facts.notes.add_all(notes_);
      snapshot.facts.partial = partial_;
    }
    formats::give(out, std::move(snapshot));
  }
}

}  // namespace snapdiff::formats::metric_log
