#include "analyzer/store/snapshot_facts.hpp"

#include <charconv>

#include "analyzer/store/bytes.hpp"
#include "analyzer/store/column_chunk.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::store {
namespace {

constexpr std::size_t kMaxMemoryMapBytes = 256 * 1024 * 1024;

constexpr std::string_view to_text(Sampling sampling) {
  constexpr std::string_view kNames[] = {"exact", "poisson", "unknown"};
  return kNames[static_cast<std::size_t>(sampling)];
}

Sampling sampling_from(std::string_view text) {
  return text == "exact" ? Sampling::exact : text == "poisson" ? Sampling::poisson : Sampling::unknown;
}

Severity severity_from(std::string_view text) {
  return text == "data loss" ? Severity::data_loss : text == "warning" ? Severity::warning : Severity::info;
}

void write_details(sqlite3* db, const SnapshotFacts& facts, std::int64_t snapshot) {
  if (facts.labels.empty() && facts.counters.empty() && facts.comments.empty() && facts.notes.empty()) return;
  Statement insert(db, "INSERT INTO snapshot_detail VALUES(?,?,?,?,?,?,?,?)");
  const auto put = [&](std::string_view kind, std::int64_t position, std::string_view name, std::string_view text,
                       std::optional<std::int64_t> number, std::optional<std::int64_t> extra,
                       std::int64_t half_unit = 0) {
    insert.run_with(snapshot, kind, position, name, text, number, extra, half_unit);
  };
  std::int64_t position = 0;
  for (const auto& [key, value] : facts.labels) put("label", position++, key, value, {}, {});
  position = 0;
  for (const Counter& counter : facts.counters)
    put("counter", position++, counter.name, counter.unit, counter.value, counter.cumulative ? 1 : 0,
        counter.half_unit);
  position = 0;
  for (const std::string& comment : facts.comments) put("comment", position++, {}, comment, {}, {});
  position = 0;
  for (const Note& note : facts.notes.all()) {
    std::optional<std::int64_t> offset;
    if (note.first_offset) offset = static_cast<std::int64_t>(*note.first_offset);
    put("note", position++, snapdiff::to_text(note.severity), note.text, static_cast<std::int64_t>(note.count), offset);
  }
}

}  // namespace

std::int64_t write_facts(sqlite3* db, const SnapshotFacts& facts, const Placement& placement) {
  Statement insert(db,
                   "INSERT INTO snapshot(series, source, source_name, file_time_ns, position, taken_at_ns, sequence,"
                   " pid, format, format_detail, producer, duration_ns, host, rank, command_line, default_metric,"
                   " sampling, period, partial, is_delta, is_diff, drop_frames, keep_frames, doc_url, row_count,"
                   " memory_map, base, distance, complete)"
                   " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  const SourceFacts& source = facts.source;
  insert.run_with(placement.series, placement.source, source.name, source.file_time_ns, facts.position,
                  facts.taken_at_ns, facts.sequence, facts.pid, facts.format, facts.format_detail, facts.producer,
                  facts.duration_ns, facts.host, facts.rank, facts.command_line, facts.default_metric,
                  to_text(facts.sampling), facts.period, facts.partial, facts.is_delta, facts.is_diff,
                  facts.drop_frames, facts.keep_frames, facts.doc_url, placement.rows, placement.memory_map,
                  placement.base, placement.distance, facts.complete);
  const std::int64_t id = sqlite3_last_insert_rowid(db);
  write_details(db, facts, id);
  return id;
}

void write_totals(sqlite3* db, std::int64_t snapshot, const std::vector<Column>& columns) {
  Statement insert(db, "INSERT INTO snapshot_total VALUES(?,?,?,?,?,?)");
  std::int64_t position = 0;
  for (const Column& column : columns) {
    std::int64_t total = 0;
    for (const std::int64_t value : column.value) {
      if (!checked_add(total, value, total))
        fail(ErrorCode::limit, "total of " + column.type.name + " is beyond 2^63-1, expected it to fit in 64 bits");
    }
    insert.run_with(snapshot, position++, column.type.name, column.type.unit, total, column.half_unit);
  }
}

FactsReader::FactsReader(sqlite3* db)
    : facts_(
          db,
          "SELECT s.source_name, s.file_time_ns, s.position, s.taken_at_ns, s.sequence, s.pid, s.format,"
          " s.format_detail, s.producer, s.duration_ns, s.host, s.rank, s.command_line, s.default_metric,"
          " s.sampling, s.period, s.partial, s.is_delta, s.is_diff, s.drop_frames, s.keep_frames, s.doc_url,"
          " f.sha256, f.size_bytes, s.complete FROM snapshot s LEFT JOIN source f ON f.id = s.source WHERE s.id = ?"),
      details_(db,
               "SELECT kind, name, text, number, extra, half_unit FROM snapshot_detail WHERE snapshot = ?"
               " ORDER BY kind, position") {}

SnapshotFacts FactsReader::read(std::int64_t snapshot) {
  Statement& select = facts_;
  select.reset();
  if (!select.bind(1, snapshot).step())
    fail(ErrorCode::usage, "snapshot @" + std::to_string(snapshot) + " is not in the store");
  const auto text = [&](int column) { return std::string(select.text(column)); };
  SnapshotFacts facts;
  facts.source.name = text(0);
  facts.source.file_time_ns = select.optional_integer(1);
  facts.position = static_cast<std::uint32_t>(select.integer(2));
  facts.taken_at_ns = select.optional_integer(3);
  facts.sequence = select.optional_integer(4);
  facts.pid = select.optional_integer(5);
  facts.format = text(6);
  facts.format_detail = text(7);
  facts.producer = text(8);
  facts.duration_ns = select.optional_integer(9);
  facts.host = text(10);
  facts.rank = select.optional_integer(11);
  facts.command_line = text(12);
  facts.default_metric = text(13);
  facts.sampling = sampling_from(select.text(14));
  facts.period = select.integer(15);
  facts.partial = select.integer(16) != 0;
  facts.is_delta = select.integer(17) != 0;
  facts.is_diff = select.integer(18) != 0;
  facts.drop_frames = text(19);
  facts.keep_frames = text(20);
  facts.doc_url = text(21);
  facts.source.sha256 = text(22);
  facts.source.size_bytes = static_cast<std::uint64_t>(select.integer(23));
  facts.complete = select.integer(24) != 0;
  select.reset();
  read_details(snapshot, facts);
  return facts;
}

void FactsReader::read_details(std::int64_t snapshot, SnapshotFacts& facts) {
  Statement& select = details_;
  select.bind(1, snapshot);
  while (select.step()) {
    const std::string_view kind = select.text(0);
    const std::string name(select.text(1));
    const std::string text(select.text(2));
    if (kind == "label") {
      facts.labels[name] = text;
    } else if (kind == "counter") {
      facts.counters.push_back({name, select.integer(3), text, select.integer(4) != 0, select.integer(5)});
    } else if (kind == "comment") {
      facts.comments.push_back(text);
    } else if (kind == "note") {
      std::optional<std::uint64_t> offset;
      if (!select.is_null(4)) offset = static_cast<std::uint64_t>(select.integer(4));
      facts.notes.add(severity_from(name), text, offset, static_cast<std::uint64_t>(select.integer(3)));
    }
  }
  select.reset();
}

bool is_complete(sqlite3* db, std::int64_t snapshot) {
  Statement select(db, "SELECT complete FROM snapshot WHERE id = ?");
  return !select.bind(1, snapshot).step() || select.integer(0) != 0;
}

std::string encode_mappings(const std::vector<Mapping>& mappings) {
  std::string bytes;
  for (const Mapping& mapping : mappings) {
    put_varint(bytes, mapping.start);
    put_varint(bytes, mapping.limit - mapping.start);
    put_varint(bytes, mapping.offset);
    put_varint(bytes, static_cast<std::uint64_t>(mapping.module));
  }
  return pack_bytes(bytes, compression_level(bytes.size()));
}

std::vector<Mapping> decode_mappings(std::string_view blob) {
  const std::string bytes = unpack_bytes(blob, kMaxMemoryMapBytes);
  ByteReader in(bytes);
  std::vector<Mapping> mappings;
  while (in.left() > 0) {
    Mapping mapping;
    mapping.start = in.varint();
    mapping.limit = mapping.start + in.varint();
    mapping.offset = in.varint();
    mapping.module = ModuleId{in.below(0xffffffffU, "module")};
    mappings.push_back(mapping);
  }
  return mappings;
}

std::string format_ids(const std::vector<SnapshotId>& ids) {
  std::string text;
  for (const SnapshotId id : ids) {
    if (!text.empty()) text += ',';
    text += std::to_string(static_cast<std::int64_t>(id));
  }
  return text;
}

std::vector<SnapshotId> parse_ids(std::string_view text) {
  std::vector<SnapshotId> ids;
  while (!text.empty()) {
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{}) fail(ErrorCode::malformed, "remembered comparison is damaged");
    ids.push_back(SnapshotId{id});
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return ids;
}

}  // namespace snapdiff::store
