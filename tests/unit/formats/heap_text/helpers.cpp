#include "unit/formats/heap_text/helpers.hpp"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "formats/input/all_formats.hpp"
#include "support/memory_input.hpp"

namespace snapdiff::test {

const std::vector<const formats::Format*>& all_importers() {
  static const std::vector<const formats::Format*> kList = {
      &formats::kGperftools, &formats::kGoText, &formats::kJemalloc, &formats::kJavaHeapz, &formats::kSymbolized};
  return kList;
}

const formats::Format& importer(std::string_view format) {
  for (const formats::Format* each : all_importers()) {
    if (each->info.name == format) return *each;
  }
  throw std::runtime_error("no such importer");
}

Imported import_text(std::string_view format, std::string_view text, std::size_t window) {
  MemoryInput in(text, window);
  SnapshotList list;
  Imported out;
  Status status = importer(format).read(in, list);
  if (!status) {
    out.error = std::move(status).error();
  } else if (list.snapshots.size() == 1) {
    out.snapshot = std::move(list.snapshots.front());
  }
  return out;
}

Snapshot import_ok(std::string_view format, std::string_view text) {
  Imported out = import_text(format, text);
  if (out.error) FAIL(out.error->text());
  REQUIRE(out.snapshot.has_value());
  return std::move(*out.snapshot);
}

std::string import_error(std::string_view format, std::string_view text) {
  const Imported out = import_text(format, text);
  REQUIRE(out.error.has_value());
  return out.error->text();
}

std::int64_t total(const Snapshot& snapshot, std::string_view metric) {
  const Column* column = snapshot.column(metric);
  REQUIRE(column != nullptr);
  std::int64_t sum = 0;
  for (const std::int64_t value : column->value) sum += value;
  return sum;
}

bool has_note(const Snapshot& snapshot, Severity severity, std::string_view part) {
  for (const Note& note : snapshot.facts.notes.all()) {
    if (note.severity == severity && note.text.find(part) != std::string::npos) return true;
  }
  return false;
}

std::string stack_text(const Snapshot& snapshot, StackId stack) {
  const Dictionary& d = *snapshot.dictionary;
  std::ostringstream out;
  bool first = true;
  for (const FrameId id : d.stacks.frames(stack)) {
    if (!first) out << ';';
    first = false;
    const std::size_t f = index_of(id);
    const FunctionId function = d.frames.function[f];
    const ModuleId module = d.frames.module[f];
    if (function != FunctionId{}) {
      out << d.strings[d.functions.name[index_of(function)]];
      if (d.frames.line[f] != 0) out << ':' << d.frames.line[f];
    } else {
      if (module != ModuleId{}) out << base_name(d.strings[d.modules.name[index_of(module)]]) << '+';
      out << "0x" << std::hex << d.frames.offset[f] << std::dec;
    }
  }
  return out.str();
}

std::map<std::string, std::vector<std::int64_t>> rows(const Snapshot& snapshot) {
  std::map<std::string, std::vector<std::int64_t>> out;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    auto& values = out[stack_text(snapshot, snapshot.samples.stack[row])];
    for (const Column& column : snapshot.samples.columns) values.push_back(column.value[row]);
  }
  return out;
}

std::string describe(const Snapshot& snapshot) {
  std::ostringstream out;
  const SnapshotFacts& facts = snapshot.facts;
  out << facts.format_detail << '|' << facts.producer << '|' << facts.period << '|' << facts.partial << '\n';
  for (const Note& note : facts.notes.all())
    out << to_text(note.severity) << ' ' << note.text << ' ' << note.count << '\n';
  for (const Column& column : snapshot.samples.columns) out << column.type.name << ' ' << column.type.unit << '\n';
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    out << stack_text(snapshot, snapshot.samples.stack[row]);
    for (const Column& column : snapshot.samples.columns) out << ' ' << column.value[row];
    out << '\n';
  }
  for (const Mapping& mapping : snapshot.mappings) {
    out << std::hex << mapping.start << '-' << mapping.limit << ' ' << mapping.offset << std::dec << '\n';
  }
  return out.str();
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) FAIL("missing file " << path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string data_file(const std::string& path) { return read_file(std::string(SNAPDIFF_TEST_DATA "/") + path); }

std::string gunzip(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK);
  std::string in = bytes;
  std::string out;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  int code = Z_OK;
  while (code == Z_OK) {
    char buffer[1 << 16];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    code = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer, sizeof buffer - stream.avail_out);
  }
  inflateEnd(&stream);
  REQUIRE(code == Z_STREAM_END);
  return out;
}

std::optional<std::string> shared_path(const std::string& path) {
  const std::string full = std::string(SNAPDIFF_SHARED_DATA "/") + path;
  if (std::filesystem::exists(full)) return full;
  WARN("skipped: no " << path << " beside the repository");
  return std::nullopt;
}

}  // namespace snapdiff::test
