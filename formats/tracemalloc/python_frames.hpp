#pragma once

#include "analyzer/base/snapshot_builder.hpp"

/// What both importers know of Python's frames, which have a file and a line and no function.
namespace snapdiff::formats::tracemalloc {

/// Every report of such snapshots says this.
inline constexpr std::string_view kNativeNote =
    "tracemalloc sees what Python's allocators hand out: native memory (C and C++ libraries, tensors of PyTorch) is "
    "invisible to it";

/// "app/cache.py:9": file with its folder, and the line. It is where other formats have the function:
/// two files called base.py or __init__.py must not become one row of --by function or one box of the graph.
std::string place_name(std::string_view file, std::int32_t line);

/// The frame of a place; line 0 is unknown.
FrameId place_frame(SnapshotBuilder& builder, std::string_view file, std::int32_t line);

/// What tracemalloc writes where it knew no frame: ("<unknown>", 0).
inline constexpr std::string_view kUnknownFile = "<unknown>";

/// True for the files that taking, dumping and printing a snapshot itself runs through.
bool is_profiler_file(std::string_view file);

/// The notes that depend on the frames, and those for all.
void add_notes(SnapshotBuilder& builder);

}  // namespace snapdiff::formats::tracemalloc
