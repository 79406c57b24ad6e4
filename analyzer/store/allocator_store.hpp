#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/store/allocator_codec.hpp"
#include "analyzer/store/dictionary_store.hpp"
#include "analyzer/store/session.hpp"
#include "snapdiff/snapshot.hpp"

/// Allocator states in the store: tables allocator, allocator_chunk, trace, trace_chunk.
namespace snapdiff::store {

/// trace_chunk.id = trace * kChunksPerTrace + number.
inline constexpr std::int64_t kChunksPerTrace = 1048576;

/// The part of an allocator state that is small.
struct AllocatorFacts {
  std::vector<std::uint64_t> streams;
  std::vector<PoolId> pools;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<Annotation> annotations;  ///< their names are string ids of the store
};
std::string encode_allocator_facts(const AllocatorFacts& facts);
/// Throws malformed.
AllocatorFacts decode_allocator_facts(std::string_view blob);

/// Ascending stack ids without 0; an event's stack is its place here plus one, 0 where unknown.
std::string encode_stack_list(std::span<const std::uint32_t> ids);
/// Throws malformed.
std::vector<std::uint32_t> decode_stack_list(std::string_view blob);

/// The stacks of a dictionary that an allocator state names, ascending, without 0.
/// Throws internal when an event names what does not exist.
std::vector<StackId> stacks_in_use(const AllocatorState& state, const Dictionary& dictionary);

/// An allocator state as chunks.
struct EncodedAllocator {
  struct Trace {
    std::uint32_t device = 0;
    bool host = false;
    std::size_t events = 0;
    std::vector<std::string> chunks;
  };
  bool has_segments = false;
  std::string stacks;
  std::string facts;
  EncodedTables tables;
  std::vector<Trace> traces;
  std::shared_ptr<const AllocatorTables> plain;  ///< what `tables` was made of
};
/// `id_of_stack`: ids in the store by stack of the snapshot, for those in use; `name_ids` by annotation.
EncodedAllocator encode_allocator(const AllocatorState& state, std::span<const std::uint32_t> id_of_stack,
                                  std::span<const std::uint32_t> name_ids, const AllocatorTables* before);

/// Where the tables of the snapshot before are, for changes against them.
struct AllocatorBase {
  std::optional<std::int64_t> snapshot;
  std::int64_t distance = 0;
  std::shared_ptr<const AllocatorTables> tables;
};
/// Of a new snapshot after `last`, the one before it in its series.
AllocatorBase allocator_base(Session& session, std::optional<std::int64_t> last);

void write_allocator(Session& session, std::int64_t snapshot, const EncodedAllocator& encoded,
                     const AllocatorBase& base);

/// One trace of a snapshot.
struct StoredTrace {
  std::int64_t id = 0;
  std::uint32_t device = 0;
  bool host = false;
  std::size_t events = 0;
};
std::vector<StoredTrace> read_traces(sqlite3* db, std::int64_t snapshot);

/// The blob of one chunk of a trace; throws malformed when it is missing.
std::string read_trace_chunk(sqlite3* db, std::int64_t trace, std::int64_t number);

/// A snapshot's allocator state without its segments, blocks and events.
struct StoredAllocator {
  bool has_segments = false;
  std::vector<std::uint32_t> stacks;
  AllocatorFacts facts;
};
/// Nothing when the snapshot has no allocator state. Throws malformed.
std::optional<StoredAllocator> read_allocator(sqlite3* db, std::int64_t snapshot);

/// Adds the events of a trace, with stack ids that `stack_of` gives for places in the list of stacks plus one.
/// Throws malformed.
void read_events(sqlite3* db, const StoredTrace& trace, const StoredAllocator& state,
                 const std::function<StackId(std::uint32_t)>& stack_of, EventLog& out);

/// Deletes it, and writes those again that were stored as changes against it; see remove_snapshots().
void remove_allocators(Session& session, std::span<const std::int64_t> snapshots);

}  // namespace snapdiff::store
