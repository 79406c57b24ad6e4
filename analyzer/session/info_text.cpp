#include "analyzer/session/info_text.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/session/facts_text.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::session {
namespace {

std::string sampling_text(const SnapshotFacts& facts) {
  switch (facts.sampling) {
    case Sampling::exact: return "none: values are exact";
    case Sampling::poisson: return "one sample every " + bytes_text(facts.period) + " on average, scaled";
    case Sampling::unknown: return "not in the file";
  }
  return {};
}

// "device0." of "device0.reserved"; "" where the counter is of no device.
std::string_view device_prefix(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || (!name.starts_with("device") && !name.starts_with("host."))) return {};
  return name.substr(0, dot + 1);
}

// Counters to show. Of a single device each says what the sum over all devices says: once is enough.
std::vector<const Counter*> shown_counters(const SnapshotFacts& facts) {
  std::set<std::string_view> devices;
  std::unordered_map<std::string_view, const Counter*, KeyedHash> sums;
  for (const Counter& counter : facts.counters) {
    const std::string_view prefix = device_prefix(counter.name);
    if (prefix.empty()) {
      sums.emplace(counter.name, &counter);
    } else {
      devices.insert(prefix);
    }
  }
  const auto is_repeated = [&](const Counter& counter) {
    const std::string_view prefix = device_prefix(counter.name);
    if (prefix.empty() || devices.size() > 1) return false;
    const auto sum = sums.find(std::string_view(counter.name).substr(prefix.size()));
    return sum != sums.end() && sum->second->value == counter.value && sum->second->unit == counter.unit;
  };
  std::vector<const Counter*> shown;
  for (const Counter& counter : facts.counters) {
    if (!is_repeated(counter)) shown.push_back(&counter);
  }
  return shown;
}

}  // namespace

Shape ShapeMeter::measure(const Snapshot& snapshot) {
  Shape shape;
  std::set<ModuleId> modules_seen;
  const Dictionary& d = *snapshot.dictionary;
  const Column* bytes = snapshot.column("inuse_space");
  ++round_;
  seen_stack_.resize(std::max(seen_stack_.size(), d.stacks.size()));
  live_stack_.resize(seen_stack_.size());
  seen_frame_.resize(std::max(seen_frame_.size(), d.frames.size()));
  const auto is_new = [this](std::uint32_t& seen) { return std::exchange(seen, round_) != round_; };
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const StackId stack = snapshot.samples.stack[row];
    if (bytes != nullptr && bytes->value[row] != 0 && is_new(live_stack_[index_of(stack)])) ++shape.live_stacks;
    if (!is_new(seen_stack_[index_of(stack)])) continue;
    const auto frames = d.stacks.frames(stack);
    shape.shallowest = shape.stacks == 0 ? frames.size() : std::min(shape.shallowest, frames.size());
    shape.deepest = std::max(shape.deepest, frames.size());
    ++shape.stacks;
    for (const FrameId frame : frames) {
      const std::size_t f = index_of(frame);
      if (!is_new(seen_frame_[f]) || (d.frames.flags[f] & kFramePseudo) != 0) continue;
      ++shape.frames;
      if (d.frames.function[f] != FunctionId{}) ++shape.symbolized;
      const ModuleId module = d.frames.module[f];
      if (module != ModuleId{} && modules_seen.insert(module).second) {
        shape.modules.emplace(base_name(d.strings[d.modules.name[index_of(module)]]),
                              d.strings[d.modules.build_id[index_of(module)]]);
      }
    }
  }
  return shape;
}

std::string info_text(const LoadedSnapshot& item, ShapeMeter& meter) {
  const Snapshot& snapshot = *item.ref.snapshot;
  const std::string& ref = item.ref.ref;
  const Shape shape = meter.measure(snapshot);
  const SnapshotFacts& facts = snapshot.facts;
  const auto row = [](const std::string& raw_name, const std::string& value) {
    constexpr std::size_t kColumn = 15;
    const std::string name = printable(raw_name);
    return "  " + name + std::string(name.size() < kColumn ? kColumn - name.size() : 1, ' ') + printable(value) + "\n";
  };
  std::string out = printable(ref) + "   " + facts.format +
                    (facts.format_detail.empty() ? "" : ", " + printable(facts.format_detail)) + ", " +
                    count_text(facts.source.size_bytes) + " B\n";
  out += row("sha256", facts.source.sha256);
  out += row("taken", facts.taken_at_ns ? time_text(*facts.taken_at_ns) : "not in the file");
  if (!facts.producer.empty()) out += row("producer", facts.producer);
  if (facts.pid) out += row("pid", std::to_string(*facts.pid));
  if (facts.sequence) out += row("number", std::to_string(*facts.sequence) + " (in the file name)");
  for (const Column& column : snapshot.samples.columns) {
    if (!is_metric(column)) continue;
    const std::string name = column.type.name;
    out += row(name, value_text(column.type, total_of(column)));
  }
  if (!facts.default_metric.empty()) out += row("default", facts.default_metric);
  out += row("stacks", count_text(shape.stacks) +
                           (snapshot.column("inuse_space") != nullptr
                                ? ", of them " + count_text(shape.live_stacks) + " with live bytes"
                                : "") +
                           "; depth " + std::to_string(shape.shallowest) + " to " + std::to_string(shape.deepest));
  out += row("sampling", sampling_text(facts));
  std::string symbols = shape.frames == 0 ? "no frames"
                        : shape.symbolized == shape.frames
                            ? "every frame is named"
                            : count_text(shape.symbolized) + " of " + count_text(shape.frames) + " frames are named";
  out += row("symbols", symbols);
  for (const auto& [name, build_id] : shape.modules) {
    if (!name.empty()) out += row("module", name + (build_id.empty() ? ", no build id" : ", build id " + build_id));
  }
  if (facts.is_delta) out += row("kind", "delta profile: alloc columns are differences already");
  if (facts.is_diff) out += row("kind", "saved by a diff: values may be negative");
  for (const Counter* counter : shown_counters(facts))
    out += row("counter", counter->name + " = " + value_text({counter->name, counter->unit}, counter->value));
  for (const std::string& comment : facts.comments) out += row("comment", comment);
  bool dropped = false;
  for (const Note& note : facts.notes.all()) {
    const std::string times = note.count > 1 ? " (" + count_text(note.count) + " times)" : "";
    const std::string where = note.first_offset ? ", first at byte " + std::to_string(*note.first_offset) : "";
    out += row(note.severity == Severity::data_loss ? "dropped"
               : note.severity == Severity::warning ? "warning"
                                                    : "note",
               note.text + times + where);
    dropped = dropped || note.severity == Severity::data_loss;
  }
  if (!dropped) out += row("dropped", "nothing");
  return out;
}

}  // namespace snapdiff::session
