#include "helpers.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "formats/registry.hpp"

namespace snapdiff::test {
namespace {

Result<std::vector<Snapshot>> read(const std::string& bytes, formats::ReadOptions options = {}) {
  options.format = "snapdiff-tracker";
  return formats::read_bytes(bytes, "given", options);
}

std::string value_of(const Snapshot& snapshot, const char* metric, std::size_t row) {
  const Column* column = snapshot.column(metric);
  if (column == nullptr) return "-";
  return column->is_known(row) ? std::to_string(column->value[row]) : "?";
}

}  // namespace

std::string lines(std::initializer_list<std::string> all) {
  std::string out;
  for (const std::string& line : all) out += line + "\n";
  return out;
}

std::string one_snapshot(std::initializer_list<std::string> inside) {
  return lines({kHeader, R"({"k":"snapshot","id":"s"})"}) + lines(inside) +
         lines({R"({"k":"end","id":"s","rows":)" + std::to_string(inside.size()) + "}"});
}

std::vector<Snapshot> read_lines(const std::string& bytes) {
  Result<std::vector<Snapshot>> all = read(bytes);
  if (!all) FAIL(all.error().text());
  return *std::move(all);
}

Error error_of_lines(const std::string& bytes, bool strict) {
  formats::ReadOptions options;
  options.strict = strict;
  const Result<std::vector<Snapshot>> all = read(bytes, options);
  if (all) FAIL("it was read");
  return all.error();
}

std::vector<std::string> check_lines(const std::string& bytes) {
  std::vector<std::string> told;
  formats::ReadOptions options;
  options.violations = [&told](const Violation& v) {
    told.push_back(std::to_string(v.line) + " " + v.rule + " " + std::string(to_text(v.severity)) + " " + v.text);
    return true;
  };
  const Result<std::vector<Snapshot>> all = read(bytes, options);
  if (!all) told.push_back(all.error().message);
  return told;
}

std::vector<std::string> rows_of(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  std::vector<std::string> out;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    std::string text;
    for (const FrameId frame : d.stacks.frames(snapshot.samples.stack[row])) {
      const std::size_t f = index_of(frame);
      const std::size_t function = index_of(d.frames.function[f]);
      const std::string_view module = d.strings[d.modules.name[index_of(d.frames.module[f])]];
      text += text.empty() ? "" : ";";
      text += d.strings[d.functions.name[function]];
      const std::string_view file = d.strings[d.functions.file[function]];
      if (!file.empty()) text.append("@").append(file).append(":").append(std::to_string(d.frames.line[f]));
      if (function == 0) text.append(module).append("+").append(std::to_string(d.frames.offset[f]));
    }
    std::string labels;
    for (const Label& label : d.labels.labels(snapshot.samples.labels[row])) {
      labels += labels.empty() ? "" : ",";
      labels.append(d.strings[label.key]).append("=").append(d.strings[label.text]);
    }
    out.push_back(text + " {" + labels + "} " + value_of(snapshot, "inuse_space", row) + " " +
                  value_of(snapshot, "inuse_objects", row));
  }
  std::sort(out.begin(), out.end());
  return out;
}

const Note* note_with(const Snapshot& snapshot, std::string_view part) {
  for (const Note& note : snapshot.facts.notes.all()) {
    if (note.text.find(part) != std::string::npos) return &note;
  }
  return nullptr;
}

std::optional<Counter> counter_called(const Snapshot& snapshot, std::string_view name) {
  for (const Counter& counter : snapshot.facts.counters) {
    if (counter.name == name) return counter;
  }
  return std::nullopt;
}

}  // namespace snapdiff::test
