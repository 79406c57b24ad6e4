#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/input/format.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::test {

/// What an importer made of a text: one snapshot or an error.
struct Imported {
  std::optional<Snapshot> snapshot;
  std::optional<Error> error;
};

/// `format` is a FormatInfo name; `window` as in MemoryInput.
Imported import_text(std::string_view format, std::string_view text, std::size_t window = 0);

/// The snapshot; fails the test where there is an error.
Snapshot import_ok(std::string_view format, std::string_view text);
/// The error's text(); fails the test where there is none.
std::string import_error(std::string_view format, std::string_view text);

/// The importers of this module, by name.
const std::vector<const formats::Format*>& all_importers();
const formats::Format& importer(std::string_view format);

std::int64_t total(const Snapshot& snapshot, std::string_view metric);
bool has_note(const Snapshot& snapshot, Severity severity, std::string_view part);

/// "leaf;…;root", a frame as function:line, else module+0xoffset, else 0xoffset.
std::string stack_text(const Snapshot& snapshot, StackId stack);
/// stack_text -> values of the columns.
std::map<std::string, std::vector<std::int64_t>> rows(const Snapshot& snapshot);

/// Everything an importer decides, as text, for comparing two snapshots.
std::string describe(const Snapshot& snapshot);

std::string read_file(const std::string& path);
std::string data_file(const std::string& path);  ///< below tests/data
std::string gunzip(const std::string& bytes);

/// The path below the shared sample folder, or nothing (with a visible warning) when it is absent.
std::optional<std::string> shared_path(const std::string& path);

}  // namespace snapdiff::test
