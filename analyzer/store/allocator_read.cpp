#include <algorithm>

#include "analyzer/store/allocator_store.hpp"
#include "analyzer/store/store_schema.hpp"

namespace snapdiff::store {
namespace {

enum FactColumn { kStreams, kPools, kSettings, kAnnotations };
constexpr std::size_t kFactColumns = 4;

/// 16 million stacks of one snapshot, at most 5 bytes each, with room to spare.
constexpr std::size_t kMaxStackListBytes = std::size_t{1} << 30;

void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}
std::string take_text(ByteReader& in) { return std::string(in.bytes(in.varint())); }

}  // namespace

std::string encode_allocator_facts(const AllocatorFacts& facts) {
  std::vector<std::string> out(kFactColumns);
  for (const std::uint64_t stream : facts.streams) put_varint(out[kStreams], stream);
  for (const PoolId& pool : facts.pools) {
    put_varint(out[kPools], zigzag(bits(pool.first)));
    put_varint(out[kPools], zigzag(bits(pool.second)));
  }
  for (const auto& [name, value] : facts.settings) {
    put_text(out[kSettings], name);
    put_text(out[kSettings], value);
  }
  std::uint64_t last_time = 0;
  for (const Annotation& mark : facts.annotations) {
    put_varint(out[kAnnotations], index_of(mark.name));
    put_varint(out[kAnnotations], static_cast<std::uint64_t>(mark.stage));
    put_varint(out[kAnnotations], mark.device);
    put_varint(out[kAnnotations], zigzag(bits(mark.time_us) - last_time));
    last_time = bits(mark.time_us);
  }
  std::size_t size = 0;
  for (const std::string& column : out) size += column.size();
  return pack_columns(out, compression_level(size));
}

AllocatorFacts decode_allocator_facts(std::string_view blob) {
  std::string buffer;
  const auto columns = unpack_columns(blob, kFactColumns, buffer);
  AllocatorFacts facts;
  ByteReader streams(columns[kStreams]);
  while (streams.left() > 0) facts.streams.push_back(streams.varint());
  ByteReader pools(columns[kPools]);
  while (pools.left() > 0) {
    PoolId pool;
    pool.first = number(unzigzag(pools.varint()));
    pool.second = number(unzigzag(pools.varint()));
    facts.pools.push_back(pool);
  }
  ByteReader settings(columns[kSettings]);
  while (settings.left() > 0) {
    std::string name = take_text(settings);
    std::string value = take_text(settings);
    facts.settings.emplace_back(std::move(name), std::move(value));
  }
  ByteReader marks(columns[kAnnotations]);
  std::uint64_t last_time = 0;
  while (marks.left() > 0) {
    Annotation mark;
    mark.name = StringId{marks.below(0xffffffffU, "string")};
    mark.stage = static_cast<AnnotationStage>(marks.below(3, "stage of an annotation"));
    mark.device = marks.below(std::uint64_t{1} << 32, "device");
    last_time += unzigzag(marks.varint());
    mark.time_us = number(last_time);
    facts.annotations.push_back(mark);
  }
  return facts;
}

std::string encode_stack_list(std::span<const std::uint32_t> ids) {
  std::string bytes;
  std::uint32_t last = 0;
  for (const std::uint32_t id : ids) {
    put_varint(bytes, id - last);
    last = id;
  }
  return pack_bytes(bytes, compression_level(bytes.size()));
}

std::vector<std::uint32_t> decode_stack_list(std::string_view blob) {
  const std::string bytes = unpack_bytes(blob, kMaxStackListBytes);
  ByteReader in(bytes);
  std::vector<std::uint32_t> ids;
  std::uint32_t last = 0;
  while (in.left() > 0) {
    const std::uint32_t gap = in.below(0xffffffffU - last, "gap of stack ids");
    if (gap == 0) fail(ErrorCode::malformed, "stack ids out of order, expected them ascending");
    ids.push_back(last += gap);
  }
  return ids;
}

std::vector<StoredTrace> read_traces(sqlite3* db, std::int64_t snapshot) {
  std::vector<StoredTrace> traces;
  Statement select(db, "SELECT id, device, host, events FROM trace WHERE snapshot = ? ORDER BY id");
  select.bind(1, snapshot);
  while (select.step()) {
    StoredTrace trace;
    trace.id = select.integer(0);
    trace.device = static_cast<std::uint32_t>(select.integer(1));
    trace.host = select.integer(2) != 0;
    trace.events = static_cast<std::size_t>(std::max<std::int64_t>(0, select.integer(3)));
    traces.push_back(trace);
  }
  return traces;
}

std::string read_trace_chunk(sqlite3* db, std::int64_t trace, std::int64_t number) {
  Statement select(db, "SELECT data FROM trace_chunk WHERE id = ?");
  if (!select.bind(1, trace * kChunksPerTrace + number).step()) fail(ErrorCode::malformed, "it is missing");
  return std::string(select.blob(0));
}

std::optional<StoredAllocator> read_allocator(sqlite3* db, std::int64_t snapshot) {
  Statement select(db, "SELECT has_segments, stacks, facts FROM allocator WHERE snapshot = ?");
  if (!select.bind(1, snapshot).step()) return std::nullopt;
  StoredAllocator state;
  naming("allocator state of snapshot " + std::to_string(snapshot), [&] {
    state.has_segments = select.integer(0) != 0;
    state.stacks = decode_stack_list(select.blob(1));
    state.facts = decode_allocator_facts(select.blob(2));
  });
  return state;
}

void read_events(sqlite3* db, const StoredTrace& trace, const StoredAllocator& state,
                 const std::function<StackId(std::uint32_t)>& stack_of, EventLog& out) {
  const std::int64_t chunks = static_cast<std::int64_t>((trace.events + kChunkRows - 1) / kChunkRows);
  for (std::int64_t number = 0; number < chunks; ++number) {
    naming("trace chunk " + std::to_string(number) + " of trace " + std::to_string(trace.id), [&] {
      EventChunkReader in(read_trace_chunk(db, trace.id, number));
      const std::size_t expected = std::min(kChunkRows, trace.events - out.size());
      if (in.events() != expected)
        fail(ErrorCode::malformed, std::to_string(in.events()) + " events, expected " + std::to_string(expected));
      TraceEvent event;
      while (in.next(event)) {
        if (event.stream >= state.facts.streams.size() || event.pool >= state.facts.pools.size() ||
            index_of(event.stack) > state.stacks.size())
          fail(ErrorCode::malformed, "event names a stream, pool or stack that does not exist");
        event.stack = stack_of(static_cast<std::uint32_t>(event.stack));
        out.append(event);
      }
    });
  }
}

std::shared_ptr<const AllocatorTables> Session::allocator_tables(std::int64_t snapshot) {
  if (auto tables = allocators_.find(snapshot)) return tables;
  struct Link {
    std::int64_t snapshot = 0;
    std::int64_t segments = 0;
    std::int64_t blocks = 0;
  };
  std::vector<Link> links;
  std::shared_ptr<const AllocatorTables> before;
  {
    Statement select(db_, "SELECT segments, blocks, base FROM allocator WHERE snapshot = ?");
    for (std::int64_t id = snapshot; before == nullptr;) {
      if (!select.bind(1, id).step()) {
        if (id == snapshot) return nullptr;
        fail(ErrorCode::malformed, "allocator state of snapshot " + std::to_string(id) + " is missing");
      }
      links.push_back({id, select.integer(0), select.integer(1)});
      const std::optional<std::int64_t> base = select.optional_integer(2);
      select.reset();
      if (!base) break;
      if (*base >= id || static_cast<std::int64_t>(links.size()) > kKeyEvery)
        fail(ErrorCode::malformed,
             "allocator state of snapshot " + std::to_string(snapshot) + " has no key it is based on");
      id = *base;
      before = allocators_.find(id);
    }
  }
  for (auto link = links.rbegin(); link != links.rend(); ++link) {
    TablesDecoder decoder(before.get());
    Statement select(db_, "SELECT id, data FROM allocator_chunk WHERE id >= ? AND id < ? ORDER BY id");
    select.bind(1, link->snapshot * kChunksPerSnapshot).bind(2, (link->snapshot + 1) * kChunksPerSnapshot);
    const std::int64_t rows = static_cast<std::int64_t>(kChunkRows);
    const std::int64_t segment_chunks = link->segments / rows + (link->segments % rows != 0 ? 1 : 0);
    std::int64_t expected = 0;
    while (select.step()) {
      const std::int64_t number = select.integer(0) - link->snapshot * kChunksPerSnapshot;
      naming("allocator chunk " + std::to_string(number) + " of snapshot " + std::to_string(link->snapshot), [&] {
        if (number != expected) fail(ErrorCode::malformed, "an earlier chunk is missing");
        number < segment_chunks ? decoder.add_segments(select.blob(1)) : decoder.add_blocks(select.blob(1));
      });
      ++expected;
    }
    naming("allocator state of snapshot " + std::to_string(link->snapshot), [&] {
      auto tables = std::make_shared<const AllocatorTables>(decoder.finish());
      const auto check = [](std::size_t found, std::int64_t wanted, const char* what) {
        if (static_cast<std::int64_t>(found) != wanted)
          fail(ErrorCode::malformed, std::to_string(found) + " " + what + ", expected " + std::to_string(wanted));
      };
      check(tables->segments.size_rows(), link->segments, "segments");
      check(tables->blocks.size_rows(), link->blocks, "blocks");
      before = std::move(tables);
    });
  }
  keep(snapshot, before);
  return before;
}

}  // namespace snapdiff::store
