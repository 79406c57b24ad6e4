#pragma once

#include "analyzer/base/snapshot_builder.hpp"

/// What both importers know of Python's frames, which have a file and a line and no function.
namespace snapdiff::formats::tracemalloc {

/// Every report of such snapshots says this.
inline constexpr std::string_view kNativeNote =
    "tracemalloc sees what Python's allocators hand out: native memory (C and C++ libraries, tensors of PyTorch) is "
    "invisible to it";

/// "app/cache.py:9": file with its folder, and the line; "sympy/core/power.py:12" of an installed package. It is where
/// other formats have the function: two files called base.py or __init__.py must not become one row of --by function or
/// one box of the graph.
inline std::string place_name(std::string_view file, std::int32_t line) {
  std::string_view shown = base_name(file);
  const std::size_t packages = file.rfind("-packages");  // site-packages, dist-packages
  if (packages != std::string_view::npos && packages + 10 < file.size()) {
    shown = file.substr(packages + 10);
  } else if (shown.empty()) {
    shown = file;
  } else if (shown.size() < file.size()) {
    const std::string_view folder = base_name(file.substr(0, file.size() - shown.size() - 1));
    if (!folder.empty()) shown = file.substr(file.size() - shown.size() - 1 - folder.size());
  }
  std::string name(shown);
  // One spelling on every system, so that a name says the same place.
  for (char& c : name) c = c == '\\' ? '/' : c;
  if (line > 0) name += ":" + std::to_string(line);
  return name;
}

/// What tracemalloc writes where it knew no frame: ("<unknown>", 0).
inline constexpr std::string_view kUnknownFile = "<unknown>";

/// The frame of a place; line 0 is unknown.
inline FrameId place_frame(SnapshotBuilder& builder, std::string_view file, std::int32_t line) {
  const std::string name = file.empty() ? std::string(kUnknownFile) : place_name(file, line);
  return builder.frame({.function = builder.function(name, file), .line = line});
}

/// The notes that depend on the frames, and those for all.
inline void add_notes(SnapshotBuilder& builder) { builder.notes().add(Severity::info, kNativeNote); }

}  // namespace snapdiff::formats::tracemalloc
