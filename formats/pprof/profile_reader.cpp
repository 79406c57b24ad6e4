#include "formats/pprof/profile_reader.hpp"

#include <utility>
#include <vector>

#include "formats/input/read_failure.hpp"
#include "formats/pprof/columns.hpp"
#include "formats/pprof/field_stream.hpp"
#include "formats/pprof/profile_facts.hpp"
#include "formats/pprof/profile_tables.hpp"
#include "formats/pprof/resolve.hpp"
#include "formats/pprof/samples.hpp"

namespace snapdiff::formats::pprof {
namespace {

constexpr std::uint32_t kSampleField = 2;

bool is_sample(const Field& field) { return field.number == kSampleField && field.wire == 2; }

/// Everything after the samples: `add_rows(context)` puts them into the builder.
template <class AddRows>
Result<Snapshot> build(const ProfileTables& tables, std::uint64_t input_bytes, AddRows add_rows) {
  if (tables.strings.size() == 0)
    fail_malformed("no string table: the profile ends before it, or is of another kind", input_bytes);
  SnapshotBuilder builder;
  const std::vector<ColumnPlan> columns = plan_columns(tables);
  for (const ColumnPlan& column : columns) builder.add_column(column.type);
  const Locations locations(tables, builder);
  const SampleRemarks remarks = add_rows(SampleContext{tables, locations, columns, builder, input_bytes});
  fill_facts(tables, columns, remarks, builder);
  return builder.finish();
}

Result<Snapshot> read_whole(std::string_view whole, const ReadLimits& limits) {
  ProfileTables tables;
  std::vector<SampleSpan> spans;
  FieldStream fields(whole);
  Field field;
  while (fields.next(field)) {
    if (is_sample(field)) {
      spans.push_back(
          {static_cast<std::uint32_t>(field.payload_offset), static_cast<std::uint32_t>(field.payload.size())});
    } else {
      tables.take(field);
    }
  }
  return build(tables, whole.size(), [&](const SampleContext& context) {
    if (spans.size() <= limits.in_memory_samples) return add_samples(whole, spans, context);
    StreamedSamples merged;
    for (const SampleSpan& span : spans) merged.add(whole.substr(span.begin, span.size), span.begin);
    return merged.finish(context);
  });
}

Result<Snapshot> read_streamed(Input& in) {
  ProfileTables tables;
  StreamedSamples samples;
  FieldStream fields(in);
  Field field;
  while (fields.next(field)) {
    if (is_sample(field)) {
      samples.add(field.payload, field.payload_offset);
    } else {
      tables.take(field);
    }
  }
  return build(tables, in.offset(), [&](const SampleContext& context) { return samples.finish(context); });
}

}  // namespace

Status read_profile(Input& in, SnapshotSink& out, const ReadLimits& limits) {
  Result<std::string_view> head = in.peek(limits.in_memory_bytes + 1);
  if (!head) return std::move(head).error();
  if (head->empty()) return Error{ErrorCode::malformed, "empty input file"};
  return run_reader([&]() -> Status {
    const bool whole = head->size() <= limits.in_memory_bytes;
    Result<Snapshot> snapshot = whole ? read_whole(*head, limits) : read_streamed(in);
    if (whole) in.consume(head->size());
    if (!snapshot) return std::move(snapshot).error();
    return out.take(std::move(*snapshot));
  });
}

}  // namespace snapdiff::formats::pprof
