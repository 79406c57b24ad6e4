#include "analyzer/session/info_text.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/session/facts_text.hpp"

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
  for (const Counter& counter : facts.counters) {
    if (const std::string_view prefix = device_prefix(counter.name); !prefix.empty()) devices.insert(prefix);
  }
  const auto is_repeated = [&](const Counter& counter) {
    const std::string_view prefix = device_prefix(counter.name);
    if (prefix.empty() || devices.size() > 1) return false;
    return std::any_of(facts.counters.begin(), facts.counters.end(), [&](const Counter& sum) {
      return sum.name == std::string_view(counter.name).substr(prefix.size()) && sum.value == counter.value &&
             sum.unit == counter.unit;
    });
  };
  std::vector<const Counter*> shown;
  for (const Counter& counter : facts.counters) {
    if (!is_repeated(counter)) shown.push_back(&counter);
  }
  return shown;
}

}  // namespace

Shape measure(const Snapshot& snapshot) {
  Shape shape;
  const Dictionary& d = *snapshot.dictionary;
  const Column* bytes = snapshot.column("inuse_space");
  std::vector<std::uint8_t> seen_stack(d.stacks.size());
  std::vector<std::uint8_t> live_stack(d.stacks.size());
  std::vector<std::uint8_t> seen_frame(d.frames.size());
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const StackId stack = snapshot.samples.stack[row];
    const std::size_t s = index_of(stack);
    if (bytes != nullptr && bytes->value[row] != 0 && live_stack[s] == 0) {
      live_stack[s] = 1;
      ++shape.live_stacks;
    }
    if (seen_stack[s] != 0) continue;
    seen_stack[s] = 1;
    const auto frames = d.stacks.frames(stack);
    shape.shallowest = shape.stacks == 0 ? frames.size() : std::min(shape.shallowest, frames.size());
    shape.deepest = std::max(shape.deepest, frames.size());
    ++shape.stacks;
    for (const FrameId frame : frames) seen_frame[index_of(frame)] = 1;
  }
  for (std::size_t f = 0; f < seen_frame.size(); ++f) {
    if (seen_frame[f] == 0 || (d.frames.flags[f] & kFramePseudo) != 0) continue;
    ++shape.frames;
    if (d.frames.function[f] != FunctionId{}) ++shape.symbolized;
    const std::size_t module = index_of(d.frames.module[f]);
    if (module != 0) {
      shape.modules.emplace(base_name(d.strings[d.modules.name[module]]), d.strings[d.modules.build_id[module]]);
    }
  }
  return shape;
}

std::string info_text(const LoadedSnapshot& item) {
  const Snapshot& snapshot = *item.ref.snapshot;
  const std::string& ref = item.ref.ref;
  const Shape shape = measure(snapshot);
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
