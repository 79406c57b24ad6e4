#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/store/dictionary_store.hpp"
#include "analyzer/store/sample_reader.hpp"

/// The memory of one connection between calls. Also serves the virtual tables, in a host's
/// connection; therefore it never keeps a prepared statement (an open one would keep the host from
/// closing).
namespace snapdiff::store {

/// One stack chunk, decoded. Stack i has the frame ids frame[begin[i] .. begin[i + 1]), root first;
/// none where its id is no longer in use.
struct DecodedStacks {
  std::uint32_t first_id = 0;
  std::vector<std::size_t> begin{0};
  std::vector<std::uint32_t> frame;
  std::size_t size() const { return begin.size() - 1; }
  std::span<const std::uint32_t> root_first(std::uint32_t id) const {
    const std::size_t i = id - first_id;
    return std::span(frame).subspan(begin[i], begin[i + 1] - begin[i]);
  }
};

struct AllocatorTables;  // allocator_codec.hpp

/// Rows of the stacks of two snapshots, by id of the store.
struct MatchedStacks {
  std::unordered_map<std::uint32_t, std::uint32_t> baseline, current;
};

class Session {
 public:
  explicit Session(sqlite3* db) : db_(db), samples_(db) {}
  sqlite3* db() const { return db_; }
  bool has_tables = false;  ///< the virtual tables are registered with the connection
  /// Which stacks of two builds are one; empty in the extension. Nothing where each is a row of its own.
  std::function<std::optional<MatchedStacks>(std::int64_t from, std::int64_t to)> match;

  /// Forgets everything when somebody else has changed the store since; call inside a transaction.
  void refresh();
  void drop();
  /// This connection's own changes up to now are in memory too.
  void own_changes_are_known();

  Catalog& catalog();
  StackIndex& stacks();
  /// Of the dictionary that the last snapshot to be stored had, as long as it is this one.
  KnownDictionary& known(const std::shared_ptr<const Dictionary>& dictionary);

  /// A snapshot's rows with ids of the store. Throws usage (no such snapshot), malformed.
  std::shared_ptr<const SampleTable> samples(std::int64_t snapshot) { return samples_.samples(snapshot); }
  void keep(std::int64_t snapshot, std::shared_ptr<const SampleTable> table) {
    samples_.keep(snapshot, std::move(table));
  }

  /// A snapshot's segments and blocks with stack ids of the store; null when it has no allocator state.
  /// Throws malformed.
  std::shared_ptr<const AllocatorTables> allocator_tables(std::int64_t snapshot);
  void keep(std::int64_t snapshot, std::shared_ptr<const AllocatorTables> tables) {
    allocators_.keep(snapshot, std::move(tables));
  }

  /// The chunk that holds `stack`, or the first one after it; null after the last.
  std::shared_ptr<const DecodedStacks> stacks_from(std::uint32_t stack);

  /// A number for the arguments of a virtual table that is called, the same for as long as the connection lasts:
  /// rowids hold it. Different texts, different numbers.
  std::int64_t call_number(const std::string& arguments) {
    return calls_.try_emplace(arguments, static_cast<std::int64_t>(calls_.size())).first->second;
  }

 private:
  sqlite3* db_;
  std::optional<std::int64_t> data_version_;
  std::int64_t own_changes_ = 0;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<StackIndex> stacks_;
  std::unique_ptr<KnownDictionary> known_;
  SampleReader samples_;
  KeptTables<AllocatorTables> allocators_;
  std::list<std::shared_ptr<const DecodedStacks>> chunks_;  // latest first
  std::size_t chunk_frames_ = 0;
  std::unordered_map<std::string, std::int64_t> calls_;
};

}  // namespace snapdiff::store
