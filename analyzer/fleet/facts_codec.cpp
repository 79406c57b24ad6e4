#include "analyzer/fleet/facts_codec.hpp"

#include <array>
#include <utility>

namespace snapdiff::fleet {
namespace {

constexpr std::uint8_t kFactsVersion = 1;

void put(RowWriter& out, const std::optional<std::int64_t>& value) {
  out.number(std::uint8_t{value.has_value()}).number(value.value_or(0));
}
std::optional<std::int64_t> optional_number(RowReader& in) {
  const bool there = in.number<std::uint8_t>() != 0;
  const auto value = in.number<std::int64_t>();
  return there ? std::optional(value) : std::nullopt;
}

/// Names of counts beside names of bytes, as the diff engine pairs them.
std::string counts_beside(const Snapshot& snapshot, const SampleType& type) {
  if (type.unit != "bytes") return {};
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kPairs = {{{"space", "objects"},
                                                                                           {"space", "count"},
                                                                                           {"bytes", "objects"},
                                                                                           {"bytes", "count"},
                                                                                           {"size", "objects"},
                                                                                           {"size", "count"},
                                                                                           {"size", "samples"}}};
  for (const auto& [own, ending] : kPairs) {
    if (!type.name.ends_with(own)) continue;
    std::string name = type.name.substr(0, type.name.size() - own.size()) + std::string(ending);
    const Column* const column = snapshot.column(name);
    if (column != nullptr && column->type.unit == "count") return name;
  }
  return {};
}

void put_facts(RowWriter& out, const SnapshotFacts& facts) {
  out.text(facts.source.name).text(facts.source.sha256).number(facts.source.size_bytes);
  put(out, facts.source.file_time_ns);
  out.text(facts.format).text(facts.format_detail).text(facts.producer);
  put(out, facts.taken_at_ns);
  put(out, facts.duration_ns);
  put(out, facts.pid);
  put(out, facts.sequence);
  out.number(facts.position).text(facts.host);
  put(out, facts.rank);
  out.text(facts.command_line).text(facts.default_metric);
  out.number(static_cast<std::uint8_t>(facts.sampling)).number(facts.period);
  for (const bool flag : {facts.partial, facts.complete, facts.is_delta, facts.is_diff}) out.number(std::uint8_t{flag});
  out.text(facts.drop_frames).text(facts.keep_frames).text(facts.doc_url);
  out.varint(facts.comments.size());
  for (const std::string& comment : facts.comments) out.text(comment);
  out.varint(facts.counters.size());
  for (const Counter& counter : facts.counters)
    out.text(counter.name)
        .number(counter.value)
        .text(counter.unit)
        .number(std::uint8_t{counter.cumulative})
        .number(counter.half_unit);
  out.varint(facts.labels.size());
  for (const auto& [key, value] : facts.labels) out.text(key).text(value);
  out.varint(facts.notes.all().size());
  for (const Note& note : facts.notes.all()) {
    out.number(static_cast<std::uint8_t>(note.severity)).text(note.text).number(note.count);
    out.number(std::uint8_t{note.first_offset.has_value()}).number(note.first_offset.value_or(0));
  }
}

SnapshotFacts get_facts(RowReader& in) {
  SnapshotFacts facts;
  facts.source.name = in.text();
  facts.source.sha256 = in.text();
  facts.source.size_bytes = in.number<std::uint64_t>();
  facts.source.file_time_ns = optional_number(in);
  facts.format = in.text();
  facts.format_detail = in.text();
  facts.producer = in.text();
  facts.taken_at_ns = optional_number(in);
  facts.duration_ns = optional_number(in);
  facts.pid = optional_number(in);
  facts.sequence = optional_number(in);
  facts.position = in.number<std::uint32_t>();
  facts.host = in.text();
  facts.rank = optional_number(in);
  facts.command_line = in.text();
  facts.default_metric = in.text();
  const auto sampling = in.number<std::uint8_t>();
  facts.sampling = sampling <= 2 ? static_cast<Sampling>(sampling) : Sampling::unknown;
  facts.period = in.number<std::int64_t>();
  for (bool* const flag : {&facts.partial, &facts.complete, &facts.is_delta, &facts.is_diff})
    *flag = in.number<std::uint8_t>() != 0;
  facts.drop_frames = in.text();
  facts.keep_frames = in.text();
  facts.doc_url = in.text();
  for (std::uint64_t i = in.varint(kMostItems); i > 0 && in.whole(); --i) facts.comments.emplace_back(in.text());
  for (std::uint64_t i = in.varint(kMostItems); i > 0 && in.whole(); --i) {
    Counter counter;
    counter.name = in.text();
    counter.value = in.number<std::int64_t>();
    counter.unit = in.text();
    counter.cumulative = in.number<std::uint8_t>() != 0;
    counter.half_unit = in.number<std::int64_t>();
    facts.counters.push_back(std::move(counter));
  }
  for (std::uint64_t i = in.varint(kMostItems); i > 0 && in.whole(); --i) {
    std::string key(in.text());
    facts.labels[std::move(key)] = in.text();
  }
  for (std::uint64_t i = in.varint(kMostItems); i > 0 && in.whole(); --i) {
    const auto severity = in.number<std::uint8_t>();
    const std::string text(in.text());
    const auto count = in.number<std::uint64_t>();
    const bool has_offset = in.number<std::uint8_t>() != 0;
    const auto offset = in.number<std::uint64_t>();
    facts.notes.add(severity <= 2 ? static_cast<Severity>(severity) : Severity::warning, text,
                    has_offset ? std::optional(offset) : std::nullopt, count);
  }
  return facts;
}

}  // namespace

std::vector<StoredColumn> stored_columns(const Snapshot& snapshot) {
  std::vector<StoredColumn> out;
  for (const Column& column : snapshot.samples.columns) {
    // A column is found by its metric: a second one of a name gets a number.
    std::string metric = column.type.name;
    if (snapshot.column(metric) != &column) metric += "#" + std::to_string(out.size() + 1);
    out.push_back({column.type, column.half_unit, std::move(metric), false});
  }
  for (const StoredColumn& bytes : std::vector<StoredColumn>(out)) {
    const std::string counts = counts_beside(snapshot, bytes.type);
    for (StoredColumn& column : out) {
      if (counts.empty() || column.type.name != counts || column.is_objects) continue;
      column.metric = bytes.type.name;
      column.is_objects = true;
    }
  }
  return out;
}

std::string encode_facts(const Snapshot& snapshot, const std::vector<StoredColumn>& columns) {
  RowWriter out;
  out.number(kFactsVersion);
  put_facts(out, snapshot.facts);
  out.varint(columns.size());
  for (const StoredColumn& column : columns)
    out.text(column.type.name)
        .text(column.type.unit)
        .number(column.half_unit)
        .text(column.metric)
        .number(std::uint8_t{column.is_objects});
  const Dictionary& d = *snapshot.dictionary;
  out.varint(snapshot.mappings.size());
  for (const Mapping& mapping : snapshot.mappings) {
    const std::size_t module = index_of(mapping.module);
    out.number(mapping.start).number(mapping.limit).number(mapping.offset);
    out.text(d.strings[d.modules.name[module]]).text(d.strings[d.modules.build_id[module]]);
  }
  return out.take();
}

Result<StoredFacts> decode_facts(std::string_view bytes) {
  RowReader in(bytes);
  if (const auto version = in.number<std::uint8_t>(); version != kFactsVersion)
    return Error{ErrorCode::incompatible, "facts of a snapshot have version " + std::to_string(version) +
                                              ", expected 1: pushed by a newer snapdiff"};
  StoredFacts out;
  out.facts = get_facts(in);
  for (std::uint64_t i = in.varint(kMostItems); i > 0 && in.whole(); --i) {
    StoredColumn column;
    column.type.name = in.text();
    column.type.unit = in.text();
    column.half_unit = in.number<std::int64_t>();
    column.metric = in.text();
    column.is_objects = in.number<std::uint8_t>() != 0;
    out.columns.push_back(std::move(column));
  }
  for (std::uint64_t i = in.varint(kMostItems); i > 0 && in.whole(); --i) {
    StoredMapping mapping;
    mapping.start = in.number<std::uint64_t>();
    mapping.limit = in.number<std::uint64_t>();
    mapping.offset = in.number<std::uint64_t>();
    mapping.module = in.text();
    mapping.build_id = in.text();
    out.mappings.push_back(std::move(mapping));
  }
  if (!in.whole() || !in.at_end()) return Error{ErrorCode::malformed, "facts of a snapshot are damaged"};
  return out;
}

}  // namespace snapdiff::fleet
