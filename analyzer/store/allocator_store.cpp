#include "analyzer/store/allocator_store.hpp"

#include <algorithm>
#include <set>

#include "analyzer/base/validate.hpp"
#include "analyzer/store/maintenance.hpp"

namespace snapdiff::store {
namespace {

constexpr std::size_t kBytesPerEvent = 8;  // about; only chooses the level

std::vector<std::string> encode_events(const EventLog& events, const std::vector<std::uint32_t>& place_of_stack,
                                       int level) {
  std::vector<std::string> chunks;
  EventChunkWriter chunk;
  EventLog::Reader reader = events.read();
  TraceEvent event;
  while (reader.next(event)) {
    event.stack = StackId{place_of_stack[index_of(event.stack)]};
    chunk.add(event);
    if (chunk.is_full()) chunks.push_back(chunk.finish(level));
  }
  if (chunk.events() > 0) chunks.push_back(chunk.finish(level));
  if (static_cast<std::int64_t>(chunks.size()) >= kChunksPerTrace)
    fail(ErrorCode::limit, "more than 2^34 events in one trace");
  return chunks;
}

void write_tables(sqlite3* db, std::int64_t snapshot, const EncodedTables& tables) {
  Statement insert(db, "INSERT INTO allocator_chunk VALUES(?,?)");
  std::int64_t id = snapshot * kChunksPerSnapshot;
  for (const std::string& blob : tables.segments) insert.run_with(id++, Blob{blob});
  for (const std::string& blob : tables.blocks) insert.run_with(id++, Blob{blob});
  if (id >= (snapshot + 1) * kChunksPerSnapshot) fail(ErrorCode::limit, "more than 2^34 blocks in one snapshot");
}

const ChangesTable kAllocators{"allocator", "snapshot"};

bool rewrite_tables(Session& session, std::int64_t snapshot, std::optional<std::int64_t> base) {
  const auto tables = session.allocator_tables(snapshot);
  const auto before = base ? session.allocator_tables(*base) : nullptr;
  const EncodedTables encoded = encode_tables(before.get(), *tables);
  delete_chunks(session.db(), "allocator_chunk", snapshot, kChunksPerSnapshot);
  write_tables(session.db(), snapshot, encoded);
  return encoded.is_delta;
}

void delete_traces(sqlite3* db, std::int64_t snapshot) {
  for (const StoredTrace& trace : read_traces(db, snapshot))
    delete_chunks(db, "trace_chunk", trace.id, kChunksPerTrace);
  Statement(db, "DELETE FROM trace WHERE snapshot = ?").run_with(snapshot);
}

}  // namespace

std::vector<StackId> stacks_in_use(const AllocatorState& state, const Dictionary& dictionary) {
  std::vector<std::uint8_t> used(dictionary.stacks.size(), 0);
  for (const StackId stack : state.segments.stack) used[index_of(stack)] = 1;
  for (const StackId stack : state.blocks.stack) used[index_of(stack)] = 1;
  for (const DeviceTrace& trace : state.traces) {
    EventLog::Reader reader = trace.events.read();
    TraceEvent event;
    while (reader.next(event)) {
      if (!validate_event(event, state, dictionary))
        fail(ErrorCode::internal, "event names a stream, pool or stack that does not exist");
      used[index_of(event.stack)] = 1;
    }
  }
  std::vector<StackId> stacks;
  for (std::uint32_t stack = 1; stack < used.size(); ++stack) {
    if (used[stack] != 0) stacks.push_back(StackId{stack});
  }
  return stacks;
}

EncodedAllocator encode_allocator(const AllocatorState& state, std::span<const std::uint32_t> id_of_stack,
                                  std::span<const std::uint32_t> name_ids, const AllocatorTables* before) {
  EncodedAllocator out;
  out.has_segments = state.has_segments;

  auto plain = std::make_shared<AllocatorTables>();
  plain->segments = state.segments;
  plain->blocks = state.blocks;
  const auto stored = [&](StackId stack) {
    return stack == StackId{} ? StackId{} : StackId{id_of_stack[index_of(stack)]};
  };
  std::vector<std::uint8_t> used(id_of_stack.size(), 0);
  for (auto* stacks : {&plain->segments.stack, &plain->blocks.stack}) {
    for (StackId& stack : *stacks) {
      used[index_of(stack)] = 1;
      stack = stored(stack);
    }
  }
  std::size_t events = 0;
  for (const DeviceTrace& trace : state.traces) {
    events += trace.events.size();
    EventLog::Reader reader = trace.events.read();
    TraceEvent event;
    while (reader.next(event)) used[index_of(event.stack)] = 1;
  }

  std::vector<std::uint32_t> ids;
  for (std::uint32_t stack = 1; stack < used.size(); ++stack) {
    if (used[stack] != 0 && id_of_stack[stack] != 0) ids.push_back(id_of_stack[stack]);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<std::uint32_t> place(used.size(), 0);
  for (std::uint32_t stack = 1; stack < used.size(); ++stack) {
    if (used[stack] == 0 || id_of_stack[stack] == 0) continue;
    const auto at = std::lower_bound(ids.begin(), ids.end(), id_of_stack[stack]);
    place[stack] = static_cast<std::uint32_t>(at - ids.begin()) + 1;
  }
  out.stacks = encode_stack_list(ids);

  AllocatorFacts facts{state.streams, state.pools, state.settings, state.annotations};
  for (std::size_t i = 0; i < facts.annotations.size(); ++i) facts.annotations[i].name = StringId{name_ids[i]};
  out.facts = encode_allocator_facts(facts);

  out.tables = encode_tables(before, *plain);
  const int level = compression_level(events * kBytesPerEvent);
  for (const DeviceTrace& trace : state.traces) {
    EncodedAllocator::Trace encoded;
    encoded.device = trace.device;
    encoded.host = trace.host;
    encoded.events = trace.events.size();
    encoded.chunks = encode_events(trace.events, place, level);
    out.traces.push_back(std::move(encoded));
  }
  out.plain = std::move(plain);
  return out;
}

AllocatorBase allocator_base(Session& session, std::optional<std::int64_t> last) {
  AllocatorBase base;
  if (!last) return base;
  const std::int64_t distance = distance_of(session.db(), kAllocators, *last) + 1;
  if (distance >= kKeyEvery) return base;
  base.tables = session.allocator_tables(*last);
  if (base.tables == nullptr) return base;
  base.snapshot = last;
  base.distance = distance;
  return base;
}

void write_allocator(Session& session, std::int64_t snapshot, const EncodedAllocator& encoded,
                     const AllocatorBase& base) {
  sqlite3* db = session.db();
  const bool is_delta = encoded.tables.is_delta;
  Statement(db, "INSERT INTO allocator VALUES(?,?,?,?,?,?,?,?)")
      .run_with(snapshot, encoded.has_segments, encoded.plain->segments.size_rows(), encoded.plain->blocks.size_rows(),
                is_delta ? base.snapshot : std::nullopt, is_delta ? base.distance : 0, Blob{encoded.stacks},
                Blob{encoded.facts});
  write_tables(db, snapshot, encoded.tables);
  Statement insert_trace(db, "INSERT INTO trace(snapshot, device, host, events) VALUES(?,?,?,?)");
  Statement insert_chunk(db, "INSERT INTO trace_chunk VALUES(?,?)");
  for (const EncodedAllocator::Trace& trace : encoded.traces) {
    insert_trace.run_with(snapshot, trace.device, trace.host, trace.events);
    std::int64_t id = sqlite3_last_insert_rowid(db) * kChunksPerTrace;
    for (const std::string& blob : trace.chunks) insert_chunk.run_with(id++, Blob{blob});
  }
  session.keep(snapshot, encoded.plain);
}

void remove_allocators(Session& session, std::span<const std::int64_t> snapshots) {
  sqlite3* db = session.db();
  const std::set<std::int64_t> removed(snapshots.begin(), snapshots.end());
  rewrite_dependents(db, kAllocators, removed, [&](std::int64_t snapshot, std::optional<std::int64_t> base) {
    return rewrite_tables(session, snapshot, base);
  });
  Statement remove(db, "DELETE FROM allocator WHERE snapshot = ?");
  for (const std::int64_t id : removed) {
    delete_chunks(db, "allocator_chunk", id, kChunksPerSnapshot);
    delete_traces(db, id);
    remove.run_with(id);
  }
}

}  // namespace snapdiff::store
