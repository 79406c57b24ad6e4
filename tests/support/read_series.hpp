#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/importer.hpp"
#include "formats/registry.hpp"
#include "support/memory_input.hpp"

/// Whole series through one importer, and what is in them as text.
namespace snapdiff::test {

struct Series {
  std::vector<Snapshot> snapshots;
  std::optional<Error> error;
};

/// `window` as in MemoryInput.
inline Series read_series(const formats::Format& importer, std::string_view text, std::size_t window = 0) {
  MemoryInput in(text, window);
  SnapshotList list;
  Status status = importer.read(in, list);
  Series out;
  out.snapshots = std::move(list.snapshots);
  if (!status) out.error = std::move(status).error();
  return out;
}

/// Fails the test where there is an error.
inline std::vector<Snapshot> read_ok(const formats::Format& importer, std::string_view text) {
  Series series = read_series(importer, text);
  if (series.error) FAIL(series.error->text());
  return std::move(series.snapshots);
}
inline Snapshot read_one(const formats::Format& importer, std::string_view text) {
  std::vector<Snapshot> snapshots = read_ok(importer, text);
  REQUIRE(snapshots.size() == 1);
  return std::move(snapshots.front());
}
/// The error's text(); fails the test where there is none.
inline std::string read_error(const formats::Format& importer, std::string_view text) {
  const Series series = read_series(importer, text);
  REQUIRE(series.error.has_value());
  return series.error->text();
}

inline std::int64_t total(const Snapshot& snapshot, std::string_view metric) {
  std::int64_t sum = 0;
  const Column* column = snapshot.column(metric);
  REQUIRE(column != nullptr);
  for (const std::int64_t value : column->value) sum += value;
  return sum;
}

/// "leaf < caller < root": function with file:line where there is a file, else what address_text() says.
inline std::string stack_text(const Snapshot& snapshot, StackId stack) {
  const Dictionary& d = *snapshot.dictionary;
  std::string out;
  for (const FrameId id : d.stacks.frames(stack)) {
    const std::size_t f = index_of(id);
    const std::size_t fn = index_of(d.frames.function[f]);
    if (!out.empty()) out += " < ";
    if (d.frames.function[f] == FunctionId{}) {
      FrameView view;
      view.module = d.strings[d.modules.name[index_of(d.frames.module[f])]];
      view.offset = d.frames.offset[f];
      out += address_text(view);
      continue;
    }
    out += d.strings[d.functions.name[fn]];
    if (const std::string_view file = d.strings[d.functions.file[fn]]; !file.empty()) out.append("@").append(file);
    if (d.frames.line[f] != 0) out += ':' + std::to_string(d.frames.line[f]);
  }
  return out;
}

/// stack_text and " {key=text ...}" -> the values of the columns, "?" for an unknown one.
inline std::map<std::string, std::string> rows(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  std::map<std::string, std::string> out;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    std::string key = stack_text(snapshot, snapshot.samples.stack[row]);
    std::string labels;
    for (const Label& label : d.labels.labels(snapshot.samples.labels[row])) {
      labels.append(labels.empty() ? "" : " ").append(d.strings[label.key]).append("=").append(d.strings[label.text]);
    }
    if (!labels.empty()) key += " {" + labels + "}";
    std::string values;
    for (const Column& column : snapshot.samples.columns) {
      values += values.empty() ? "" : " ";
      values += column.is_known(row) ? std::to_string(column.value[row]) : "?";
    }
    out[key] = values;
  }
  return out;
}

/// Everything that a reader decides, for comparing two.
inline std::string describe(const Snapshot& snapshot) {
  std::string out;
  for (const auto& [key, values] : rows(snapshot)) out.append(key).append(" = ").append(values).append("\n");
  const SnapshotFacts& facts = snapshot.facts;
  for (const Counter& counter : facts.counters) {
    out += counter.name + " " + std::to_string(counter.value) + " " + counter.unit + (counter.cumulative ? " +" : "") +
           "\n";
  }
  for (const Note& note : facts.notes.all()) out += note.text + " " + std::to_string(note.count) + "\n";
  out += facts.command_line + "|" + facts.producer + "|" + std::to_string(facts.pid.value_or(-1)) + "|" +
         std::to_string(facts.taken_at_ns.value_or(-1)) + (facts.partial ? " partial" : "") +
         (facts.complete ? "" : " incomplete");
  return out;
}
inline std::string describe(const std::vector<Snapshot>& snapshots) {
  std::string out;
  for (const Snapshot& snapshot : snapshots) out += describe(snapshot) + "\n====\n";
  return out;
}

inline std::optional<std::int64_t> counter(const Snapshot& snapshot, std::string_view name) {
  for (const Counter& one : snapshot.facts.counters) {
    if (one.name == name) return one.value;
  }
  return std::nullopt;
}

inline bool has_note(const Snapshot& snapshot, std::string_view part) {
  for (const Note& note : snapshot.facts.notes.all()) {
    if (note.text.find(part) != std::string::npos) return true;
  }
  return false;
}

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
/// A file below tests/data.
inline std::string test_data(const std::string& path) {
  return file_text(std::string(SNAPDIFF_TEST_DATA) + "/" + path);
}
/// A file below the shared samples of trackers, or nothing, said visibly, where they are absent.
inline std::optional<std::string> tracker_sample(const std::string& path) {
  const std::string whole = std::string(SNAPDIFF_SHARED_DATA) + "/trackers/" + path;
  if (!std::filesystem::exists(whole)) {
    WARN("skipped: the shared sample " << path << " is not here");
    return std::nullopt;
  }
  return file_text(whole);
}

/// `text` with CRLF line ends.
inline std::string with_crlf(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}
/// ASCII `text` as UTF-16 with its mark, as PowerShell writes it.
inline std::string as_utf16(std::string_view text) {
  std::string out = "\xff\xfe";
  for (const char c : text) {
    out += c;
    out += '\0';
  }
  return out;
}

/// Cuts `text` behind every `step`-th byte. Each cut must be refused with an offset inside the input, or say that
/// something is missing (partial or not complete), or leave whole snapshots at the front of the series as they were.
inline void check_cuts(const formats::Format& importer, const std::string& text, std::size_t step) {
  const std::vector<Snapshot> whole = read_ok(importer, text);
  for (std::size_t size = 0; size < text.size(); size += step) {
    const Series cut = read_series(importer, std::string_view(text).substr(0, size));
    CAPTURE(size);
    if (cut.error) {
      CHECK(cut.error->code != ErrorCode::internal);
      if (cut.error->offset) CHECK(*cut.error->offset <= size);
      continue;
    }
    REQUIRE(cut.snapshots.size() <= whole.size());
    for (std::size_t i = 0; i < cut.snapshots.size(); ++i) {
      const SnapshotFacts& facts = cut.snapshots[i].facts;
      if (facts.partial || !facts.complete) continue;
      if (rows(cut.snapshots[i]) != rows(whole[i])) FAIL("snapshot " << i << " differs unsaid, cut at " << size);
    }
  }
}

/// The same input in small windows, with CRLF, behind a mark, and as UTF-16, which is peeled before the reader sees it,
/// gives the same.
inline void check_disguises(const formats::Format& importer, const std::string& text) {
  const std::string plain = describe(read_ok(importer, text));
  for (const std::size_t window : {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{1000}}) {
    const Series series = read_series(importer, text, window);
    CHECK(describe(series.snapshots) == plain);
  }
  CHECK(describe(read_ok(importer, with_crlf(text))) == plain);
  CHECK(describe(read_ok(importer, "\xef\xbb\xbf" + text)) == plain);
  const Result<std::vector<Snapshot>> peeled = formats::read_bytes(as_utf16(text), "input", {});
  REQUIRE(peeled);
  CHECK(peeled->front().facts.format == importer.info.name);
  CHECK(describe(*peeled) == plain);
}

}  // namespace snapdiff::test
