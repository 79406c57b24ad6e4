#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/text/quantity.hpp"

/// Lines of a dump of the BFC allocator, all generations of TensorFlow.
namespace snapdiff::formats::tensorflow_bfc {

/// "2026-01-01 10:00:00.000000: I tensorflow/core/common_runtime/bfc_allocator.cc:1046] body"
struct LogLine {
  std::optional<std::int64_t> time_ns;  ///< since 1970 as if the writer's clock were UTC; nothing without a date
  std::string_view body;
};
std::optional<LogLine> bfc_line(std::string_view line);

/// "Allocator (GPU_0_bfc) ran out of memory trying to allocate 74.16MiB (rounded to 77762560)requested by op x"
struct OutOfMemoryLine {
  std::string_view allocator;
  std::optional<text::Quantity> asked;
};
std::optional<OutOfMemoryLine> out_of_memory(std::string_view body);

/// "BFCAllocator dump for GPU_0_bfc" -> "GPU_0_bfc"
std::optional<std::string_view> dump_for(std::string_view body);

/// "InUse at 905a40900 of size 2359296 by op x action_count 6 step 0 next 6", "Chunk at 0x905a40900 of size 256",
/// "Free  at ...".
enum class ChunkLine : std::uint8_t { none, in_use, free, unreadable };
struct Chunk {
  std::int64_t size = 0;
  std::string_view op;  ///< "" where not recorded
};
ChunkLine chunk_line(std::string_view body, Chunk& out);

/// "4 Chunks of size 256 totalling 1.0KiB"
struct SizeSummary {
  std::int64_t count = 0;
  std::int64_t size = 0;
};
std::optional<SizeSummary> size_summary(std::string_view body);

/// "Limit:                   285474816", a line of its own after "Stats: ".
struct StatLine {
  std::string_view name;
  std::int64_t value = 0;
};
std::optional<StatLine> stat_line(std::string_view line);

}  // namespace snapdiff::formats::tensorflow_bfc
