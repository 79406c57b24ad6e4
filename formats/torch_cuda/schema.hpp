#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "formats/pickle/text_pool.hpp"
#include "formats/pickle/value.hpp"

/// Names and places of the memory snapshot's dictionary; the same for pickle and JSON.
namespace snapdiff::formats::torch_cuda {

using pickle::Kind;
using pickle::Role;
using pickle::Value;

/// A word of the format: a row of kWords, and of the pool of texts, whose first ones they are.
enum class Word : std::uint32_t {};
inline constexpr std::string_view kWords[] = {"segments",
                                              "device_traces",
                                              "allocator_settings",
                                              "external_annotations",
                                              "host_segments",
                                              "host_traces",
                                              "device",
                                              "address",
                                              "total_size",
                                              "allocated_size",
                                              "active_size",
                                              "requested_size",
                                              "stream",
                                              "segment_type",
                                              "segment_pool_id",
                                              "is_expandable",
                                              "frames",
                                              "blocks",
                                              "size",
                                              "state",
                                              "history",
                                              "addr",
                                              "real_size",
                                              "action",
                                              "device_free",
                                              "time_us",
                                              "compile_context",
                                              "user_metadata",
                                              "pool_id",
                                              "forward_frames",
                                              "category",
                                              "filename",
                                              "line",
                                              "name",
                                              "stage",
                                              "fx_node_op",
                                              "fx_node_name",
                                              "fx_node_target",
                                              "fx_original_trace",
                                              "fx_node_info",
                                              "roundup_power2_divisions",
                                              "active_allocated",
                                              "active_pending_free",
                                              "active_awaiting_free",
                                              "inactive",
                                              "small",
                                              "large",
                                              "alloc",
                                              "free_requested",
                                              "free_completed",
                                              "free",
                                              "segment_alloc",
                                              "segment_free",
                                              "segment_map",
                                              "segment_unmap",
                                              "oom",
                                              "snapshot",
                                              "START",
                                              "END"};
inline constexpr Word kNoWord{std::size(kWords)};

/// The word that is written like this; of one that is not in the list the compiler says so.
consteval Word operator""_word(const char* text, std::size_t size) {
  std::uint32_t row = 0;
  while (kWords[row] != std::string_view(text, size)) ++row;
  return Word{row};
}

/// Where a container is. Segments and traces of the host have the places of the device's.
enum Place : Role {
  kNowhere,
  kRoot,
  kSegments,
  kHostSegments,
  kSegment,
  kSegmentFrames,
  kBlocks,
  kBlock,
  kBlockFrames,
  kHistory,
  kHistoryEntry,
  kHistoryFrames,
  kTraces,
  kHostTraces,
  kTrace,
  kEntry,
  kEntryFrames,
  kFrame,
  kAnnotations,
  kAnnotation,
  kSettings,
  kSettingsTable,
  kPoolPair,
  kPlaces
};

/// Classes of handles.
inline constexpr Role kFrameHandle = 0;  ///< bits is a FrameId
inline constexpr Role kStackHandle = 1;  ///< bits is a StackId, 0 for an empty list
inline constexpr Role kEmptyHandle = 2;  ///< another list, empty

/// The place of a dict or list under `word` of a dict at `parent` (kNoWord and beyond: any
/// other text), or in a list at `parent` (pickle::kNoKey).
Role child_place(Role parent, std::uint32_t word, Kind kind);

/// Name of a place for messages: "segments", "device_traces", "external_annotations".
std::string_view place_name(Role place);

}  // namespace snapdiff::formats::torch_cuda
