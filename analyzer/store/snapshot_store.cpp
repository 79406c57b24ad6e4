#include "analyzer/store/snapshot_store.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <numeric>
#include <optional>

#include "analyzer/store/allocator_store.hpp"
#include "analyzer/store/column_chunk.hpp"
#include "analyzer/store/radix_sort.hpp"
#include "analyzer/store/sample_codec.hpp"
#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/stack_codec.hpp"

namespace snapdiff::store {
namespace {

constexpr std::uint32_t kNotStored = KnownDictionary::kUnseen;
constexpr std::uint32_t kFresh = 0xfffffffeU;
constexpr std::size_t kAheadOfUse = 32;  // stacks to fetch from memory before their turn
constexpr std::size_t kRowsWorthAThread = 4096;

/// Gives stacks of the snapshot their ids. Returns those that the store does not have, as kFresh.
void find_stacks(const StackIndex& index, const StackTable& stacks, std::span<const StackId> wanted,
                 std::vector<std::uint32_t>& ids, std::vector<std::uint32_t>& fresh) {
  for (const StackId stack : wanted) {
    std::uint32_t& id = ids[index_of(stack)];
    if (id != kNotStored) continue;
    if (stacks.frames(stack).empty()) {
      id = StackIndex::kAbsent;
      continue;
    }
    id = index.size() == 0 ? StackIndex::kAbsent : index.find(stacks.hash[index_of(stack)]);
    if (id != StackIndex::kAbsent) continue;
    id = kFresh;
    fresh.push_back(static_cast<std::uint32_t>(stack));
  }
}

/// Those of the rows and of the allocator state.
std::vector<std::uint32_t> find_stacks(const StackIndex& index, const Snapshot& snapshot, KnownDictionary& known) {
  const Dictionary& dictionary = *snapshot.dictionary;
  std::vector<std::uint32_t> fresh;
  find_stacks(index, dictionary.stacks, snapshot.samples.stack, known.stack_ids, fresh);
  if (snapshot.allocator != nullptr)
    find_stacks(index, dictionary.stacks, stacks_in_use(*snapshot.allocator, dictionary), known.stack_ids, fresh);
  return fresh;
}

/// Gives the frames of some stacks their ids.
void name_frames(KnownDictionary& known, const Dictionary& from, const std::vector<std::uint32_t>& stacks) {
  for (const std::uint32_t stack : stacks) {
    for (const FrameId frame : from.stacks.frames(StackId{stack})) {
      std::uint32_t& id = known.frame_ids[index_of(frame)];
      if (id == 0) known.max_frame_id = std::max(known.max_frame_id, id = known.catalog.frame(frame));
    }
  }
}

struct StackChunk {
  std::uint32_t first = 0;
  std::uint32_t stacks = 0;
  std::string blob;
};

/// Sorted stacks lie scattered over memory: asks for some that come later.
void prefetch(const StackTable& stacks, const std::vector<std::uint32_t>& order, std::size_t i) {
  if (i + 2 * kAheadOfUse < order.size()) __builtin_prefetch(&stacks.begin[order[i + 2 * kAheadOfUse]]);
  if (i + kAheadOfUse >= order.size()) return;
  const FrameId* const leaf = stacks.frame.data() + stacks.begin[order[i + kAheadOfUse]];
  __builtin_prefetch(leaf);
  __builtin_prefetch(leaf + 12);
}

/// Puts the fresh stacks in root-first order, numbers them from `first` up, and makes their chunks.
std::vector<StackChunk> encode_stacks(const StackTable& stacks, KnownDictionary& known,
                                      std::vector<std::uint32_t>& fresh, std::uint32_t first) {
  std::vector<StackChunk> chunks;
  if (fresh.empty()) return chunks;
  const std::vector<std::uint32_t> shared_with_last =
      sort_root_first(fresh, stacks.begin, stacks.frame, known.frame_ids, known.max_frame_id);
  constexpr std::size_t kBytesPerStack = 32;  // about; only chooses the level
  const int level = compression_level(fresh.size() * kBytesPerStack);
  StackChunkWriter chunk;
  std::uint32_t id = first;
  const auto flush = [&] {
    const auto count = static_cast<std::uint32_t>(chunk.stacks());
    chunks.push_back({id - count, count, chunk.finish(level)});
  };
  std::vector<std::uint32_t> own;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    prefetch(stacks, fresh, i);
    const auto leaf_first = stacks.frames(StackId{fresh[i]});
    std::size_t shared = shared_with_last[i];
    if (!chunk.has_room(leaf_first.size())) {
      flush();
      shared = 0;
    }
    own.resize(leaf_first.size() - shared);
    for (std::size_t f = 0; f < own.size(); ++f) own[own.size() - 1 - f] = known.frame_ids[index_of(leaf_first[f])];
    chunk.add(shared, own);
    known.stack_ids[fresh[i]] = id++;
  }
  flush();
  return chunks;
}

bool says_something(const SampleTable& samples, std::size_t row) {
  return std::any_of(samples.columns.begin(), samples.columns.end(),
                     [row](const Column& c) { return c.value[row] != 0 || !c.is_known(row); });
}

/// Gives the label sets of the rows their ids.
void name_label_sets(KnownDictionary& known, const Snapshot& snapshot) {
  std::vector<std::uint32_t>& ids = known.label_set_ids;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const LabelSetId set = snapshot.samples.labels[row];
    if (ids[index_of(set)] == kNotStored && says_something(snapshot.samples, row))
      ids[index_of(set)] = known.catalog.label_set(set);
  }
}

/// The rows with ids of the store, sorted by them; without rows that say nothing.
SampleTable stored_table(const SampleTable& samples, const std::vector<std::uint32_t>& id_of_stack,
                         const std::vector<std::uint32_t>& id_of_label_set) {
  std::vector<Keyed> rows;
  rows.reserve(samples.size());
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (!says_something(samples, row)) continue;
    const std::uint64_t stack = id_of_stack[index_of(samples.stack[row])];
    rows.push_back({(stack << 32) | id_of_label_set[index_of(samples.labels[row])], static_cast<std::uint32_t>(row)});
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
  Statement(db, insert_sql).run_with(key);
  return sqlite3_last_insert_rowid(db);
}

std::optional<std::int64_t> store_source(sqlite3* db, const SourceFacts& source, std::string_view bytes) {
  if (source.sha256.empty()) return std::nullopt;
  std::optional<std::int64_t> id;
  bool has_original = false;
  {
    Statement select(
        db,
        "SELECT id, original IS NOT NULL FROM source WHERE substr(sha256, 1, 16) = substr(?1, 1, 16) AND +sha256 = ?1");
    if (select.bind_text(1, source.sha256).step()) {
      id = select.integer(0);
      has_original = select.integer(1) != 0;
    }
  }
  if (!id) {
    Statement insert(db, "INSERT INTO source(sha256, size_bytes) VALUES(?,?)");
    insert.run_with(source.sha256, source.size_bytes);
    id = sqlite3_last_insert_rowid(db);
  }
  if (!bytes.empty() && !has_original) {
    const std::string blob = pack_bytes(bytes, compression_level(bytes.size()));
    Statement(db, "UPDATE source SET original = ? WHERE id = ?").run_with(Blob{blob}, id);
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
  Statement(db, "INSERT INTO memory_map(hash, data) VALUES(?,?)").run_with(Blob{hash_view}, Blob{blob});
  return sqlite3_last_insert_rowid(db);
}

std::size_t bytes_of(const std::vector<std::string>& blobs) {
  return std::accumulate(blobs.begin(), blobs.end(), std::size_t{0},
                         [](std::size_t sum, const std::string& blob) { return sum + blob.size(); });
}

}  // namespace

EncodedSamples encode_best(const SampleTable* before, const SampleTable& after) {
  EncodedSamples out;
  if (before != nullptr && same_types(before->columns, after.columns)) {
    out.chunks = encode_samples(*before, after, changed_rows(*before, after));
    out.is_delta = true;
  }
  // A restart can make the changes larger than the whole.
  if (!out.is_delta || bytes_of(out.chunks) > after.size()) {
    SampleTable nothing;
    nothing.columns.resize(after.columns.size());
    std::vector<std::string> whole = encode_samples(nothing, after, all_rows(after));
    if (!out.is_delta || bytes_of(whole) <= bytes_of(out.chunks)) out = {std::move(whole), false};
  }
  if (static_cast<std::int64_t>(out.chunks.size()) >= kChunksPerSnapshot)
    fail(ErrorCode::limit, "more than 2^34 rows in one snapshot");
  return out;
}

void write_samples(sqlite3* db, std::int64_t snapshot, const EncodedSamples& samples) {
  Statement insert(db, "INSERT INTO sample_chunk VALUES(?,?)");
  std::int64_t id = snapshot * kChunksPerSnapshot;
  for (const std::string& blob : samples.chunks) insert.run_with(id++, Blob{blob});
}

namespace {

/// The end of a series: what a new snapshot's rows may be stored as changes against.
struct Before {
  std::optional<std::int64_t> last;
  std::optional<std::int64_t> id;
  std::int64_t distance = 0;
  std::shared_ptr<const SampleTable> samples;
};

Before end_of(Session& session, std::int64_t series) {
  Before before;
  Statement last(session.db(), "SELECT id, distance FROM snapshot WHERE series = ? ORDER BY id DESC LIMIT 1");
  if (!last.bind(1, series).step()) return before;
  before.last = last.integer(0);
  if (last.integer(1) + 1 < kKeyEvery) {
    before.id = last.integer(0);
    before.distance = last.integer(1) + 1;
    before.samples = session.samples(*before.id);
  }
  return before;
}

}  // namespace

std::int64_t add_snapshot(Session& session, const Snapshot& snapshot, std::string_view series,
                          std::string_view source_bytes) {
  sqlite3* db = session.db();
  const StackTable& stacks = snapshot.dictionary->stacks;
  StackIndex& index = session.stacks();
  KnownDictionary& known = session.known(snapshot.dictionary);
  CatalogWriter& catalog = known.catalog;

  // First everything gets its id ...
  std::vector<std::uint32_t> fresh = find_stacks(index, snapshot, known);
  const std::uint32_t first = index.next_id();
  if (fresh.size() >= kFresh - std::size_t{first}) fail(ErrorCode::limit, "more than 2^32 stacks in one store");
  name_frames(known, *snapshot.dictionary, fresh);
  name_label_sets(known, snapshot);
  Placement placement;
  placement.series =
      find_or_add(db, "SELECT id FROM series WHERE name = ?", "INSERT INTO series(name) VALUES(?)", series);
  placement.source = store_source(db, snapshot.facts.source, source_bytes);
  placement.memory_map = store_mappings(db, snapshot.mappings, catalog);
  const Before before = end_of(session, placement.series);
  const AllocatorState* const allocator = snapshot.allocator.get();
  AllocatorBase allocator_before;
  std::vector<std::uint32_t> annotation_names;
  std::size_t events = 0;
  if (allocator != nullptr) {
    allocator_before = allocator_base(session, before.last);
    for (const Annotation& mark : allocator->annotations) annotation_names.push_back(catalog.string(mark.name));
    for (const DeviceTrace& trace : allocator->traces) events += trace.events.size();
    events += allocator->blocks.size_rows();
  }

  // ... then the chunks are made beside the writing of the dictionary.
  std::vector<StackChunk> stack_chunks;
  std::shared_ptr<const SampleTable> table;
  EncodedSamples samples;
  EncodedAllocator encoded_allocator;
  const bool is_large = fresh.size() + snapshot.samples.size() + events > kRowsWorthAThread;
  std::future<void> chunks = std::async(is_large ? std::launch::async : std::launch::deferred, [&] {
    stack_chunks = encode_stacks(stacks, known, fresh, first);
    table = std::make_shared<const SampleTable>(stored_table(snapshot.samples, known.stack_ids, known.label_set_ids));
    samples = encode_best(before.samples.get(), *table);
    if (allocator != nullptr)
      encoded_allocator =
          encode_allocator(*allocator, known.stack_ids, annotation_names, allocator_before.tables.get());
  });
  catalog.insert_new();
  chunks.get();

  Statement insert(db, "INSERT INTO stack_chunk VALUES(?,?,?)");
  for (const StackChunk& chunk : stack_chunks) insert.run_with(chunk.first, chunk.stacks, Blob{chunk.blob});
  index.reserve(fresh.size());
  for (const std::uint32_t stack : fresh) index.add(stacks.hash[stack], known.stack_ids[stack]);

  placement.rows = static_cast<std::int64_t>(table->size());
  if (samples.is_delta) {
    placement.base = before.id;
    placement.distance = before.distance;
  }
  const std::int64_t id = write_facts(db, snapshot.facts, placement);
  write_totals(db, id, table->columns);
  write_samples(db, id, samples);
  if (allocator != nullptr) write_allocator(session, id, encoded_allocator, allocator_before);
  session.keep(id, std::move(table));
  return id;
}

}  // namespace snapdiff::store
