#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/importer.hpp"
#include "snapdiff/snapshot.hpp"
#include "support/memory_input.hpp"

/// What an importer makes of a text, as things that a test can compare.
namespace snapdiff::test {

struct Imported {
  std::vector<Snapshot> snapshots;
  std::optional<Error> error;
};

/// `read(Input&, SnapshotSink&)` on `text`; `window` as in MemoryInput.
template <class Read>
Imported import_with(std::string_view text, Read read, std::size_t window = 0) {
  MemoryInput in(text, window);
  SnapshotList list;
  Imported out;
  if (Status status = read(static_cast<Input&>(in), static_cast<SnapshotSink&>(list)); !status) {
    out.error = std::move(status).error();
  }
  out.snapshots = std::move(list.snapshots);
  return out;
}

inline std::int64_t total(const Snapshot& snapshot, std::string_view metric) {
  const Column* column = snapshot.column(metric);
  REQUIRE(column != nullptr);
  std::int64_t sum = 0;
  for (const std::int64_t value : column->value) sum += value;
  return sum;
}

inline std::optional<std::int64_t> counter(const Snapshot& snapshot, std::string_view name) {
  for (const Counter& each : snapshot.facts.counters) {
    if (each.name == name) return each.value;
  }
  return std::nullopt;
}

/// How often a note with this text was made.
inline std::uint64_t note_count(const Snapshot& snapshot, Severity severity, std::string_view part) {
  std::uint64_t count = 0;
  for (const Note& note : snapshot.facts.notes.all()) {
    if (note.severity == severity && note.text.find(part) != std::string::npos) count += note.count;
  }
  return count;
}

/// "leaf:line;…;root"; inlined frames end in ~, frames without a name are [module].
inline std::string stack_text(const Snapshot& snapshot, StackId stack) {
  const Dictionary& d = *snapshot.dictionary;
  std::string out;
  for (const FrameId id : d.stacks.frames(stack)) {
    const std::size_t f = index_of(id);
    if (!out.empty()) out += ';';
    if (d.frames.function[f] == FunctionId{}) {
      out += "[" + std::string(base_name(d.strings[d.modules.name[index_of(d.frames.module[f])]])) + "]";
      if (d.frames.offset[f] != kNoOffset) out += "@" + std::to_string(d.frames.offset[f]);
      continue;
    }
    out += d.strings[d.functions.name[index_of(d.frames.function[f])]];
    if (d.frames.line[f] != 0) out += ':' + std::to_string(d.frames.line[f]);
    if ((d.frames.flags[f] & kFrameInlined) != 0) out += '~';
  }
  return out;
}

/// stack_text, with the row's labels as {key=text} -> values of the columns.
inline std::map<std::string, std::vector<std::int64_t>> rows(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  std::map<std::string, std::vector<std::int64_t>> out;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    std::string key = stack_text(snapshot, snapshot.samples.stack[row]);
    for (const Label& label : d.labels.labels(snapshot.samples.labels[row])) {
      key.append("{").append(d.strings[label.key]).append("=").append(d.strings[label.text]).append("}");
    }
    auto& values = out[key];
    for (const Column& column : snapshot.samples.columns) values.push_back(column.value[row]);
  }
  return out;
}

inline std::string read_whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) FAIL("missing file " << path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The path below the shared sample folder, or nothing (with a visible warning) when it is absent.
inline std::optional<std::string> shared_sample(const std::string& path) {
  const std::string full = std::string(SNAPDIFF_SHARED_DATA "/") + path;
  if (std::filesystem::exists(full)) return full;
  WARN("skipped: no shared sample " << path);
  return std::nullopt;
}

}  // namespace snapdiff::test
