#include "analyzer/store/snapshot_store.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "analyzer/store/column_chunk.hpp"
#include "analyzer/store/radix_sort.hpp"
#include "analyzer/store/sample_codec.hpp"
#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/stack_codec.hpp"

namespace snapdiff::store {
namespace {

constexpr std::uint32_t kUnset = 0xffffffffU;
constexpr std::uint32_t kFresh = 0xfffffffeU;
constexpr std::size_t kAhead = 32;  // stacks to fetch from memory before their turn

/// Stacks that the store does not have yet, root-first sorted, as new chunks. Fills in their ids.
class StackWriter {
 public:
  StackWriter(Session& session, CatalogWriter& catalog, const Dictionary& from)
      : session_(session), catalog_(catalog), from_(from) {}

  void write(std::vector<std::uint32_t>& fresh, std::vector<std::uint32_t>& id_of_stack) {
    if (fresh.empty()) return;
    const StackTable& stacks = from_.stacks;
    std::vector<std::uint32_t> frame_id(from_.frames.size());
    std::uint32_t max_frame_id = 0;
    for (const std::uint32_t stack : fresh) {
      for (const FrameId frame : stacks.frames(StackId{stack})) {
        std::uint32_t& id = frame_id[index_of(frame)];
        if (id == 0) max_frame_id = std::max(max_frame_id, id = catalog_.frame(frame));
      }
    }
    const std::vector<std::uint32_t> shared =
        sort_root_first(fresh, stacks.begin, stacks.frame, frame_id, max_frame_id);

    StackIndex& index = session_.stacks();
    const std::uint32_t first = index.next_id();
    if (fresh.size() >= kFresh - std::size_t{first}) fail(ErrorCode::limit, "more than 2^32 stacks in one store");
    index.reserve(fresh.size());
    write_chunks(fresh, shared, frame_id, first);
    std::uint32_t id = first;
    for (const std::uint32_t stack : fresh) {
      index.add(stacks.hash[stack], id);
      id_of_stack[stack] = id++;
    }
  }

 private:
  void write_chunks(const std::vector<std::uint32_t>& fresh, const std::vector<std::uint32_t>& shared_with_last,
                    const std::vector<std::uint32_t>& frame_id, std::uint32_t first) {
    constexpr std::size_t kBytesPerStack = 32;  // about; only chooses the level
    const int level = compression_level(fresh.size() * kBytesPerStack);
    Statement insert(session_.db(), "INSERT INTO stack_chunk VALUES(?,?,?)");
    StackChunkWriter chunk;
    const auto flush = [&] {
      const auto count = static_cast<std::uint32_t>(chunk.stacks());
      const std::string blob = chunk.finish(level);
      insert.bind(1, std::int64_t{first}).bind(2, std::int64_t{count}).bind_blob(3, blob).run();
      first += count;
    };
    std::vector<std::uint32_t> own;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      prefetch(fresh, i);
      const auto leaf_first = from_.stacks.frames(StackId{fresh[i]});
      std::size_t shared = shared_with_last[i];
      if (!chunk.has_room(leaf_first.size())) {
        flush();
        shared = 0;
      }
      own.resize(leaf_first.size() - shared);
      for (std::size_t f = 0; f < own.size(); ++f) own[own.size() - 1 - f] = frame_id[index_of(leaf_first[f])];
      chunk.add(shared, own);
    }
    flush();
  }

  /// Sorted stacks lie scattered over memory: asks for some that come later.
  void prefetch(const std::vector<std::uint32_t>& fresh, std::size_t i) const {
    const StackTable& stacks = from_.stacks;
    if (i + 2 * kAhead < fresh.size()) __builtin_prefetch(&stacks.begin[fresh[i + 2 * kAhead]]);
    if (i + kAhead >= fresh.size()) return;
    const FrameId* const leaf = stacks.frame.data() + stacks.begin[fresh[i + kAhead]];
    __builtin_prefetch(leaf);
    __builtin_prefetch(leaf + 12);
  }

  Session& session_;
  CatalogWriter& catalog_;
  const Dictionary& from_;
};

/// The ids of all stacks in use, by stack of the snapshot.
std::vector<std::uint32_t> stack_ids(Session& session, CatalogWriter& catalog, const Snapshot& snapshot) {
  const StackTable& stacks = snapshot.dictionary->stacks;
  const StackIndex& index = session.stacks();
  std::vector<std::uint32_t> ids(stacks.size(), kUnset);
  std::vector<std::uint32_t> fresh;
  for (const StackId stack : snapshot.samples.stack) {
    std::uint32_t& id = ids[index_of(stack)];
    if (id != kUnset) continue;
    if (stacks.frames(stack).empty()) {
      id = StackIndex::kAbsent;
      continue;
    }
    id = index.size() == 0 ? StackIndex::kAbsent : index.find(stacks.hash[index_of(stack)]);
    if (id != StackIndex::kAbsent) continue;
    id = kFresh;
    fresh.push_back(static_cast<std::uint32_t>(stack));
  }
  StackWriter(session, catalog, *snapshot.dictionary).write(fresh, ids);
  return ids;
}

/// The rows with ids of the store, sorted by them; without rows that say nothing.
SampleTable stored_table(const SampleTable& samples, const std::vector<std::uint32_t>& id_of_stack,
                         CatalogWriter& catalog) {
  std::vector<Keyed> rows;
  rows.reserve(samples.size());
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const bool says_something = std::any_of(samples.columns.begin(), samples.columns.end(),
                                            [row](const Column& c) { return c.value[row] != 0 || !c.is_known(row); });
    if (!says_something) continue;
    const std::uint64_t stack = id_of_stack[index_of(samples.stack[row])];
    rows.push_back({(stack << 32) | catalog.label_set(samples.labels[row]), static_cast<std::uint32_t>(row)});
  }
  std::vector<Keyed> spare;
  sort_by_key(rows, spare);

  SampleTable table;
  table.stack.reserve(rows.size());
  table.labels.reserve(rows.size());
  for (const Keyed& row : rows) {
    table.stack.push_back(static_cast<StackId>(row.key >> 32));
    table.labels.push_back(static_cast<LabelSetId>(row.key & 0xffffffffU));
  }
  for (const Column& from : samples.columns) {
    Column to{from.type, {}, {}, from.half_unit};
    to.value.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) to.value[i] = from.value[rows[i].row];
    if (!from.known.empty()) {
      to.known.resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) to.known[i] = from.known[rows[i].row];
    }
    table.columns.push_back(std::move(to));
  }
  return table;
}

std::int64_t find_or_add(sqlite3* db, std::string_view select_sql, std::string_view insert_sql, std::string_view key) {
  Statement select(db, select_sql);
  if (select.bind_text(1, key).step()) return select.integer(0);
  Statement(db, insert_sql).bind_text(1, key).run();
  return sqlite3_last_insert_rowid(db);
}

std::optional<std::int64_t> store_source(sqlite3* db, const SourceFacts& source, std::string_view bytes) {
  if (source.sha256.empty()) return std::nullopt;
  std::optional<std::int64_t> id;
  bool has_original = false;
  {
    Statement select(db, "SELECT id, original IS NOT NULL FROM source WHERE sha256 = ?");
    if (select.bind_text(1, source.sha256).step()) {
      id = select.integer(0);
      has_original = select.integer(1) != 0;
    }
  }
  if (!id) {
    Statement insert(db, "INSERT INTO source(sha256, size_bytes) VALUES(?,?)");
    insert.bind_text(1, source.sha256).bind(2, static_cast<std::int64_t>(source.size_bytes)).run();
    id = sqlite3_last_insert_rowid(db);
  }
  if (!bytes.empty() && !has_original) {
    const std::string blob = pack_bytes(bytes, compression_level(bytes.size()));
    Statement(db, "UPDATE source SET original = ? WHERE id = ?").bind_blob(1, blob).bind(2, id).run();
  }
  return id;
}

std::optional<std::int64_t> store_mappings(sqlite3* db, const std::vector<Mapping>& mappings, CatalogWriter& catalog) {
  if (mappings.empty()) return std::nullopt;
  std::vector<Mapping> stored = mappings;
  for (Mapping& mapping : stored) mapping.module = ModuleId{catalog.module(mapping.module)};
  const std::string blob = encode_mappings(stored);
  const Hash128 hash = hash_bytes(blob);
  const std::string_view hash_view(reinterpret_cast<const char*>(&hash), sizeof hash);
  {
    Statement select(db, "SELECT id FROM memory_map WHERE hash = ? AND data = ?");
    if (select.bind_blob(1, hash_view).bind_blob(2, blob).step()) return select.integer(0);
  }
  Statement(db, "INSERT INTO memory_map(hash, data) VALUES(?,?)").bind_blob(1, hash_view).bind_blob(2, blob).run();
  return sqlite3_last_insert_rowid(db);
}

std::size_t bytes_of(const std::vector<std::string>& blobs) {
  return std::accumulate(blobs.begin(), blobs.end(), std::size_t{0},
                         [](std::size_t sum, const std::string& blob) { return sum + blob.size(); });
}

}  // namespace

std::int64_t find_present(sqlite3* db, const SnapshotFacts& facts, std::string_view series) {
  if (facts.source.sha256.empty()) return 0;
  Statement select(db,
                   "SELECT snapshot.id FROM series JOIN snapshot ON snapshot.series = series.id "
                   "JOIN source ON source.id = snapshot.source "
                   "WHERE series.name = ? AND source_name = ? AND position = ? AND sha256 = ?");
  select.bind_text(1, series).bind_text(2, facts.source.name).bind(3, std::int64_t{facts.position});
  return select.bind_text(4, facts.source.sha256).step() ? select.integer(0) : 0;
}

bool write_samples(sqlite3* db, std::int64_t snapshot, const SampleTable* before, const SampleTable& after) {
  std::vector<std::string> blobs;
  bool is_delta = false;
  if (before != nullptr && same_types(before->columns, after.columns)) {
    const std::vector<ChangedRow> rows = changed_rows(*before, after);
    blobs = encode_samples(*before, after, rows);
    is_delta = true;
  }
  // A restart can make the changes larger than the whole.
  if (!is_delta || bytes_of(blobs) > after.size()) {
    SampleTable nothing;
    nothing.columns.resize(after.columns.size());
    std::vector<std::string> whole = encode_samples(nothing, after, all_rows(after));
    if (!is_delta || bytes_of(whole) <= bytes_of(blobs)) {
      blobs = std::move(whole);
      is_delta = false;
    }
  }
  if (static_cast<std::int64_t>(blobs.size()) >= kChunksPerSnapshot)
    fail(ErrorCode::limit, "more than 2^34 rows in one snapshot");
  Statement insert(db, "INSERT INTO sample_chunk VALUES(?,?)");
  std::int64_t id = snapshot * kChunksPerSnapshot;
  for (const std::string& blob : blobs) insert.bind(1, id++).bind_blob(2, blob).run();
  return is_delta;
}

std::int64_t add_snapshot(Session& session, const Snapshot& snapshot, std::string_view series,
                          std::string_view source_bytes) {
  sqlite3* db = session.db();
  CatalogWriter catalog(db, session.catalog(), *snapshot.dictionary);
  const std::vector<std::uint32_t> id_of_stack = stack_ids(session, catalog, snapshot);
  auto table = std::make_shared<const SampleTable>(stored_table(snapshot.samples, id_of_stack, catalog));

  Placement placement;
  placement.series =
      find_or_add(db, "SELECT id FROM series WHERE name = ?", "INSERT INTO series(name) VALUES(?)", series);
  placement.source = store_source(db, snapshot.facts.source, source_bytes);
  placement.memory_map = store_mappings(db, snapshot.mappings, catalog);
  placement.rows = static_cast<std::int64_t>(table->size());
  std::shared_ptr<const SampleTable> before;
  {
    Statement last(db, "SELECT id, distance FROM snapshot WHERE series = ? ORDER BY id DESC LIMIT 1");
    if (last.bind(1, placement.series).step() && last.integer(1) + 1 < kKeyEvery) {
      placement.base = last.integer(0);
      placement.distance = last.integer(1) + 1;
      before = session.samples(*placement.base);
    }
  }
  const std::int64_t id = write_facts(db, snapshot.facts, placement);
  write_totals(db, id, table->columns);
  if (!write_samples(db, id, before.get(), *table) && before != nullptr)
    Statement(db, "UPDATE snapshot SET base = NULL, distance = 0 WHERE id = ?").bind(1, id).run();
  session.keep(id, std::move(table));
  return id;
}

}  // namespace snapdiff::store
