#include "formats/pprof/profile_reader.hpp"
#include "formats/pprof/samples.hpp"

namespace snapdiff::formats::pprof {
namespace {

// Indices of the profile's own fields are not worth an offset each: errors name the start.
constexpr std::uint64_t kProfileOffset = 0;

/// By what only one of the known writers does (../../README of the format lists them).
std::string producer_of(const ProfileTables& tables) {
  const auto file_of = [&](const RawFunction& function) { return tables.text(function.file_name, function.offset); };
  const std::vector<RawFunction>& functions = tables.functions;
  if (std::any_of(functions.begin(), functions.end(),
                  [&](const RawFunction& function) { return file_of(function).ends_with(".go"); }))
    return "go";
  const auto is_script = [&](const RawFunction& function) {
    const std::string_view file = file_of(function);
    return file.starts_with("node:") || file.ends_with(".js") || file.ends_with(".mjs") || file.ends_with(".cjs") ||
           file.ends_with(".ts");
  };
  if (std::any_of(functions.begin(), functions.end(), is_script)) return "node";
  // The Rust crate jemalloc_pprof writes every mapping as the whole address space.
  const auto is_everything = [](const RawMapping& mapping) {
    return mapping.start == 0 && mapping.limit == std::numeric_limits<std::uint64_t>::max() && mapping.file_offset == 0;
  };
  if (!tables.mappings.empty() && std::all_of(tables.mappings.begin(), tables.mappings.end(), is_everything))
    return "rust-jemalloc";
  return {};
}

bool has_column(const std::vector<ColumnPlan>& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const ColumnPlan& column) { return column.type.name == name; });
}

/// Values of a profile.proto are never re-scaled: every writer has un-sampled them already. The
/// period only says how much chance is in them.
void fill_sampling(const ProfileTables& tables, SnapshotFacts& facts) {
  const RawValueType& type = tables.period_type;
  const std::string_view name = tables.text(type.type, type.offset);
  const std::optional<std::int64_t> unit = bytes_per(tables.text(type.unit, type.offset));
  const bool of_memory = unit.has_value() || name == "space" || name == "inuse_space" || name == "alloc_space";
  if (!of_memory || tables.period <= 0) return;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(tables.period, unit.value_or(1), &bytes)) return;
  facts.period = bytes;
  facts.sampling = bytes == 1 ? Sampling::exact : Sampling::poisson;
}

void fill_default_metric(const ProfileTables& tables, const std::vector<ColumnPlan>& columns,
                         SnapshotBuilder& builder) {
  const std::string_view written = tables.text(tables.default_sample_type, kProfileOffset);
  if (written.empty()) return;
  for (const ColumnPlan& column : columns) {
    if (column.written_name == written || column.type.name == written) {
      builder.facts().default_metric = column.type.name;
      return;
    }
  }
  builder.notes().add(Severity::info, "default sample type is not among the file's sample types, ignored");
}

/// Fills the facts that are in the profile itself, and the notes that follow from them.
/// Throws Failure.
void fill_facts(const ProfileTables& tables, const std::vector<ColumnPlan>& columns, const SampleRemarks& remarks,
                SnapshotBuilder& builder) {
  SnapshotFacts& facts = builder.facts();
  facts.format_detail = "profile.proto";
  facts.producer = producer_of(tables);
  facts.drop_frames = tables.text(tables.drop_frames, kProfileOffset);
  facts.keep_frames = tables.text(tables.keep_frames, kProfileOffset);
  facts.doc_url = tables.text(tables.doc_url, kProfileOffset);
  for (const std::int64_t comment : tables.comments) facts.comments.emplace_back(tables.text(comment, kProfileOffset));
  if (tables.time_ns != 0) facts.taken_at_ns = tables.time_ns;
  if (tables.duration_ns != 0) facts.duration_ns = tables.duration_ns;
  fill_sampling(tables, facts);
  fill_default_metric(tables, columns, builder);

  facts.is_delta =
      tables.duration_ns != 0 && (has_column(columns, "alloc_objects") || has_column(columns, "alloc_space"));
  if (facts.is_delta)
    builder.notes().add(Severity::warning,
                        "delta profile: alloc_objects and alloc_space are what was allocated during its duration only");
  facts.is_diff = remarks.has_negative || remarks.has_base_label;
  if (facts.is_diff)
    builder.notes().add(Severity::warning, "already a difference of two profiles: values may be negative");
  builder.notes().add_all(tables.notes);
}

constexpr std::uint32_t kSampleField = 2;

bool is_sample(const Field& field) { return field.number == kSampleField && field.wire == 2; }

/// Everything after the samples: `add_rows(context)` puts them into the builder.
template <class AddRows>
Result<Snapshot> build(const ProfileTables& tables, Input& in, std::uint64_t input_bytes, AddRows add_rows) {
  if (tables.strings.size() == 0)
    fail_malformed("no string table: the profile ends before it, or is of another kind", input_bytes);
  SnapshotBuilder builder;
  const std::vector<ColumnPlan> columns = plan_columns(tables);
  for (const ColumnPlan& column : columns) builder.add_column(column.type);
  const Locations locations(tables, builder);
  const SampleRemarks remarks = add_rows(SampleContext{tables, locations, columns, builder, input_bytes, in});
  fill_facts(tables, columns, remarks, builder);
  return builder.finish();
}

Result<Snapshot> read_whole(Input& in, std::string_view whole, const ReadLimits& limits) {
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
  return build(tables, in, whole.size(), [&](const SampleContext& context) {
    if (spans.size() <= limits.in_memory_samples) {
      if (limits.held_stacks) context.builder.leave_out(limits.held_stacks());
      return add_samples(whole, spans, context);
    }
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
  return build(tables, in, in.offset(), [&](const SampleContext& context) { return samples.finish(context); });
}

}  // namespace

Status read_profile(Input& in, SnapshotSink& out, const ReadLimits& limits) {
  Result<std::string_view> head = in.peek(limits.in_memory_bytes + 1);
  if (!head) return std::move(head).error();
  if (head->empty()) return Error{ErrorCode::malformed, "empty input file"};
  return run_reader([&]() -> Status {
    const bool whole = head->size() <= limits.in_memory_bytes;
    Result<Snapshot> snapshot = whole ? read_whole(in, *head, limits) : read_streamed(in);
    if (whole) in.consume(head->size());
    if (!snapshot) return std::move(snapshot).error();
    return out.take(std::move(*snapshot));
  });
}

}  // namespace snapdiff::formats::pprof
