#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/report/json_writer.hpp"
#include "analyzer/report/selection.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"

/// Pieces that several of the machine forms share (product.md section 3, machine output).
namespace snapdiff::report {

/// RFC 3339 in UTC, with as many decimals as the time has: "2024-05-01T12:00:00Z".
std::string rfc3339(std::int64_t nanoseconds);

void json_snapshot(JsonWriter& json, const SnapshotRef& ref);
void json_change(JsonWriter& json, std::string_view key, const Change& change);
/// {"baseline", "current", "growth"} into the object that is open.
void json_change_fields(JsonWriter& json, const Change& change);
void json_instances(JsonWriter& json, const InstanceCount& count);
/// Where growth is not their difference: counters that began anew.
void json_change_fields(JsonWriter& json, const Change& change, std::int64_t growth);
void json_frame(JsonWriter& json, const FrameView& frame);
void json_stack(JsonWriter& json, std::string_view key, std::span<const FrameView> frames);
/// "names": how many addresses have one, and where they are missing.
void json_unnamed(JsonWriter& json, const Unnamed& unnamed);
void json_notes(JsonWriter& json, const Notes& notes);
/// The fields of a failed allocation, into the object that is open.
void json_out_of_memory_fields(JsonWriter& json, const OutOfMemory& failure);
/// "others", "unattributed" and "filtered": what completes the sum of the rows shown.
void json_rest(JsonWriter& json, const GrowthReport& report, const Others& others);
/// "listed_once", where there is such a stack.
void json_listed_once(JsonWriter& json, const GrowthReport& report);
/// One row of a diff, as an object.
void json_growth_row(JsonWriter& json, const GrowthReport& report, std::uint32_t row);
/// "values": null where no source lists the row.
void json_values(JsonWriter& json, const GrowthReport& report, std::size_t row);

}  // namespace snapdiff::report
