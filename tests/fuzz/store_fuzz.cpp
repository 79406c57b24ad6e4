// Chunks of a damaged store: decoded or refused. What chunks of samples, blocks and events decode to
// comes back the same after it was encoded again.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/store/allocator_codec.hpp"
#include "analyzer/store/allocator_store.hpp"
#include "analyzer/store/column_chunk.hpp"
#include "analyzer/store/sample_codec.hpp"
#include "analyzer/store/stack_codec.hpp"
#include "analyzer/store/store_failure.hpp"
#include "fuzz/fuzz_targets.hpp"

namespace {

using namespace snapdiff;
using namespace snapdiff::store;

constexpr std::size_t kValues = 2;  // inuse_objects, inuse_space
constexpr std::size_t kSampleColumns = 3 + 2 * kValues;
constexpr std::size_t kStackColumns = 3;

// Two bytes of length in front of each column: a checksum would keep out whatever a fuzzer makes.
std::vector<std::string> cut_columns(std::string_view& bytes, std::size_t count) {
  std::vector<std::string> columns;
  for (std::size_t c = 0; c < count; ++c) {
    std::size_t size = 0;
    if (bytes.size() >= 2) {
      size = static_cast<std::uint8_t>(bytes[0]) | (static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[1])) << 8);
      bytes.remove_prefix(2);
    }
    size = std::min(size, bytes.size());
    columns.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return columns;
}

SampleTable empty_table() {
  SampleTable table;
  table.columns = {Column{{"inuse_objects", "count"}, {}, {}, 0}, Column{{"inuse_space", "bytes"}, {}, {}, 0}};
  return table;
}

bool equal(const SampleTable& a, const SampleTable& b) {
  if (a.stack != b.stack || a.labels != b.labels) return false;
  for (std::size_t c = 0; c < kValues; ++c) {
    if (a.columns[c].value != b.columns[c].value || a.columns[c].known != b.columns[c].known) return false;
  }
  return true;
}

SampleTable decode(const SampleTable& before, const std::vector<std::string>& blobs) {
  SampleDecoder decoder(before);
  for (const std::string& blob : blobs) decoder.add_chunk(blob);
  return decoder.finish();
}

void read_samples(std::string_view bytes) {
  const SampleTable key = decode(empty_table(), {pack_columns(cut_columns(bytes, kSampleColumns), 1)});
  const SampleTable next = decode(key, {pack_columns(cut_columns(bytes, kSampleColumns), 1)});
  if (!equal(decode(empty_table(), encode_samples(empty_table(), key, all_rows(key))), key)) __builtin_trap();
  if (!equal(decode(key, encode_samples(key, next, changed_rows(key, next))), next)) __builtin_trap();
}

void read_stacks(std::string_view bytes) {
  const std::size_t stacks = static_cast<std::uint8_t>(bytes[0]);
  bytes.remove_prefix(1);
  StackChunkReader in(pack_columns(cut_columns(bytes, kStackColumns), 1), stacks);
  while (in.next()) {
    if (in.shared() > in.root_first().size()) __builtin_trap();
  }
}

constexpr std::size_t kSegmentColumns = 11;
constexpr std::size_t kBlockColumns = 6;
constexpr std::size_t kEventColumns = 6;
constexpr std::size_t kFactColumns = 4;

AllocatorTables decode_tables(const AllocatorTables* before, const EncodedTables& chunks) {
  TablesDecoder decoder(before);
  for (const std::string& blob : chunks.segments) decoder.add_segments(blob);
  for (const std::string& blob : chunks.blocks) decoder.add_blocks(blob);
  return decoder.finish();
}

bool equal(const AllocatorTables& a, const AllocatorTables& b) {
  const SegmentTable& s = a.segments;
  const SegmentTable& t = b.segments;
  const BlockTable& p = a.blocks;
  const BlockTable& q = b.blocks;
  return s.device == t.device && s.address == t.address && s.size == t.size &&
         s.stated_allocated == t.stated_allocated && s.stated_active == t.stated_active &&
         s.stated_requested == t.stated_requested && s.stream == t.stream && s.pool == t.pool && s.flags == t.flags &&
         s.stack == t.stack && s.block_begin == t.block_begin && p.segment == q.segment && p.address == q.address &&
         p.size == q.size && p.requested == q.requested && p.state == q.state && p.stack == q.stack;
}

void read_tables(std::string_view bytes) {
  const auto chunks = [&bytes] {
    EncodedTables out;
    out.segments = {pack_columns(cut_columns(bytes, kSegmentColumns), 1)};
    out.blocks = {pack_columns(cut_columns(bytes, kBlockColumns), 1)};
    return out;
  };
  const AllocatorTables key = decode_tables(nullptr, chunks());
  if (!equal(decode_tables(nullptr, encode_tables(nullptr, key)), key)) __builtin_trap();
  const AllocatorTables next = decode_tables(&key, chunks());
  if (!equal(decode_tables(&key, encode_tables(&key, next)), next)) __builtin_trap();
}

void read_events(std::string_view bytes) {
  EventChunkReader in(pack_columns(cut_columns(bytes, kEventColumns), 1));
  EventChunkWriter out;
  std::vector<TraceEvent> events;
  TraceEvent event;
  while (in.next(event)) {
    events.push_back(event);
    out.add(event);
  }
  EventChunkReader again(out.finish(1));
  for (const TraceEvent& expected : events) {
    if (!again.next(event) || !(event == expected)) __builtin_trap();
  }
  if (again.next(event)) __builtin_trap();
}

void read_facts(std::string_view bytes) {
  const AllocatorFacts facts = decode_allocator_facts(pack_columns(cut_columns(bytes, kFactColumns), 1));
  const AllocatorFacts again = decode_allocator_facts(encode_allocator_facts(facts));
  if (again.streams != facts.streams || again.pools != facts.pools || again.settings != facts.settings ||
      again.annotations != facts.annotations)
    __builtin_trap();
  const std::vector<std::uint32_t> ids = decode_stack_list(pack_bytes(bytes, 1));
  if (decode_stack_list(encode_stack_list(ids)) != ids) __builtin_trap();
}

}  // namespace

void snapdiff::test::fuzz_store(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    // The first three are as old as the corpus, which begins with any byte.
    constexpr std::uint8_t kAllocators = 0xf0;
    switch (data[0] < kAllocators ? data[0] % 3 : 3 + data[0] % 3) {
      case 0: {
        std::string buffer;
        unpack_columns(bytes, kSampleColumns, buffer);
        break;
      }
      case 1: read_samples(bytes); break;
      case 2: read_stacks(bytes); break;
      case 3: read_tables(bytes); break;
      case 4: read_events(bytes); break;
      case 5: read_facts(bytes); break;
    }
  } catch (const Failure& failure) {
    if (failure.error.code != ErrorCode::malformed) __builtin_trap();
  }
}
