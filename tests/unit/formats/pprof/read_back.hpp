#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/input/window_input.hpp"
#include "formats/pprof/profile_reader.hpp"
#include "snapdiff/snapshot.hpp"

/// Importing from bytes, and snapshots as text.
namespace read_back {

inline snapdiff::Result<snapdiff::Snapshot> import(std::string_view bytes,
                                                   snapdiff::formats::pprof::ReadLimits limits = {}) {
  snapdiff::formats::MemoryInput in(bytes, "test");
  snapdiff::SnapshotList list;
  snapdiff::Status read = snapdiff::formats::pprof::read_profile(in, list, limits);
  if (!read) return std::move(read).error();
  REQUIRE(list.snapshots.size() == 1);
  return std::move(list.snapshots.front());
}

/// "leak(int)@leak.cc:11[app+0x1010]", with "~" in front when inlined.
inline std::string text(const snapdiff::Snapshot& snapshot, snapdiff::FrameId id) {
  using namespace snapdiff;
  const Dictionary& d = *snapshot.dictionary;
  const std::size_t f = index_of(id);
  const std::size_t function = index_of(d.frames.function[f]);
  std::string out = (d.frames.flags[f] & kFrameInlined) != 0 ? "~" : "";
  out += d.strings[d.functions.name[function]];
  const std::string_view file = d.strings[d.functions.file[function]];
  if (!file.empty()) out.append("@").append(file);
  if (d.frames.line[f] != 0) out += ":" + std::to_string(d.frames.line[f]);
  const std::string_view module = base_name(d.strings[d.modules.name[index_of(d.frames.module[f])]]);
  if (!module.empty() || d.frames.offset[f] != kNoOffset) {
    out.append("[").append(module);
    if (d.frames.offset[f] != kNoOffset) out += "+" + std::to_string(d.frames.offset[f]);
    out += "]";
  }
  return out;
}

inline std::string labels_text(const snapdiff::Snapshot& snapshot, snapdiff::LabelSetId id) {
  const snapdiff::Dictionary& d = *snapshot.dictionary;
  std::string out;
  for (const snapdiff::Label& label : d.labels.labels(id)) {
    out.append(" {").append(d.strings[label.key]).append("=");
    if (label.is_number) {
      out.append(std::to_string(label.number)).append(" ").append(d.strings[label.unit]);
    } else {
      out.append(d.strings[label.text]);
    }
    out += "}";
  }
  return out;
}

/// "leaf;...;root {label} = value value", one per row, in row order.
inline std::vector<std::string> rows(const snapdiff::Snapshot& snapshot) {
  std::vector<std::string> out;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    std::string line;
    for (const snapdiff::FrameId frame : snapshot.dictionary->stacks.frames(snapshot.samples.stack[row])) {
      line += (line.empty() ? "" : ";") + text(snapshot, frame);
    }
    line += labels_text(snapshot, snapshot.samples.labels[row]) + " =";
    for (const snapdiff::Column& column : snapshot.samples.columns) line += " " + std::to_string(column.value[row]);
    out.push_back(line);
  }
  return out;
}

inline std::map<std::string, std::int64_t> totals(const snapdiff::Snapshot& snapshot) {
  std::map<std::string, std::int64_t> out;
  for (const snapdiff::Column& column : snapshot.samples.columns) {
    std::int64_t& total = out[column.type.name];
    for (const std::int64_t value : column.value) total += value;
  }
  return out;
}

inline bool has_note(const snapdiff::Snapshot& snapshot, std::string_view part) {
  for (const snapdiff::Note& note : snapshot.facts.notes.all()) {
    if (note.text.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace read_back
