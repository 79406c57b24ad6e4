#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

/// The tables: each NAME_local on every server, with a Distributed table NAME over them. README.md says what the
/// columns mean; a row is written in this order.
namespace snapdiff::fleet {

inline constexpr std::string_view kSnapshotColumns =
    "snapshot, push, nth, service, metric, unit, instance, instance_name, version, keys, vals, ts, ts_ns, restart, "
    "period, state, rows, total, objects, facts";
inline constexpr std::string_view kSampleColumns =
    "service, metric, hour, stack, instance, ts, label, push, value, objects, known";
inline constexpr std::string_view kStackColumns = "stack, frames, seen";
inline constexpr std::string_view kFrameColumns =
    "frame, function, system_name, file, start_line, line, column, module, build_id, offset, flags";
inline constexpr std::string_view kLabelColumns = "label, keys, texts, numbers, units, is_number";

/// The number of these tables: one more with each change of a column, a key or what a value means. Older or newer ones
/// are refused.
inline constexpr std::uint32_t kSchema = 1;

inline constexpr std::uint64_t kHour = 3600;

/// Bits of `state` in `snapshot`.
inline constexpr std::uint8_t kPartial = 1, kIncomplete = 2, kOwnTime = 4, kRemoved = 8;

/// A time as rows have it, in seconds; the last day of the engine's range is left free, where its zones differ.
inline std::uint32_t row_seconds(std::uint64_t time_ns) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(time_ns / 1'000'000'000, 0xffffffffU - 86'400));
}

}  // namespace snapdiff::fleet
