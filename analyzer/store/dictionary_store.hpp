#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/base/dictionary_mover.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/store/sqlite.hpp"

/// The store's dictionary in memory: strings, modules, functions, frames, label sets, and by hash
/// the stacks.
namespace snapdiff::store {

/// Ids of one table against rows in memory. Ids have gaps once something was removed.
class IdMap {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  /// Ids come in ascending order.
  void add(std::uint32_t id, std::uint32_t row);
  std::uint32_t row_of(std::uint32_t id) const {
    return id < direct_.size() ? direct_[id] : direct_.empty() ? search(id) : kNone;
  }
  /// The same; throws malformed, naming `what`, when there is none.
  std::uint32_t row_or_fail(std::uint32_t id, const char* what) const {
    const std::uint32_t row = row_of(id);
    if (row == kNone) missing(id, what);
    return row;
  }
  std::uint32_t id_of(std::uint32_t row) const;
  std::uint32_t next_id() const { return ids_.empty() ? 0 : ids_.back().id + 1; }
  /// Call once after the last add() of a table that was read.
  void index();
  std::size_t size() const { return ids_.size(); }

 private:
  struct Pair {
    std::uint32_t id;
    std::uint32_t row;
  };
  [[noreturn]] static void missing(std::uint32_t id, const char* what);
  std::uint32_t search(std::uint32_t id) const;
  std::vector<Pair> ids_;
  std::vector<std::uint32_t> id_of_row_;
  std::vector<std::uint32_t> direct_;  // row by id; empty when the ids are too far apart
};

/// All dictionary tables but the stacks, as rows of a Dictionary.
class Catalog {
 public:
  /// Reads the tables. Throws malformed when an id leads nowhere.
  explicit Catalog(sqlite3* db);
  const Dictionary& dictionary() const { return builder_.dictionary(); }
  IdMap strings, modules, functions, frames, label_sets;

  /// The frame's row; throws malformed when there is none.
  std::uint32_t frame_row(std::uint32_t frame_id) const { return frames.row_or_fail(frame_id, "frame"); }

 private:
  friend class CatalogWriter;
  void read_strings(sqlite3* db);
  void read_modules(sqlite3* db);
  void read_functions(sqlite3* db);
  void read_frames(sqlite3* db);
  void read_labels(sqlite3* db);
  StringId string_row(const Statement& statement, int column) const;
  SnapshotBuilder builder_;
};

/// Gives store ids to what a snapshot's dictionary holds, and inserts what is new. When the
/// transaction is rolled back, the catalog must be dropped.
class CatalogWriter {
 public:
  CatalogWriter(sqlite3* db, Catalog& catalog, const Dictionary& from);
  CatalogWriter(const CatalogWriter&) = delete;
  CatalogWriter& operator=(const CatalogWriter&) = delete;
  std::uint32_t string(StringId id) { return id_of(catalog_.strings, mover_.string(id)); }
  std::uint32_t module(ModuleId id) { return id_of(catalog_.modules, mover_.module(id)); }
  std::uint32_t function(FunctionId id) { return id_of(catalog_.functions, mover_.function(id)); }
  std::uint32_t frame(FrameId id) { return id_of(catalog_.frames, mover_.frame(id)); }
  std::uint32_t label_set(LabelSetId id) { return id_of(catalog_.label_sets, mover_.labels(id)); }
  /// Writes what has got an id since the last call. Only reads the catalog.
  void insert_new();
  /// The dictionary may have grown.
  void grow() { mover_.grow(); }

 private:
  /// Adds rows to the catalog; a new one gets the next id.
  class Rows {
   public:
    explicit Rows(Catalog& catalog) : catalog_(catalog) {}
    StringId string(std::string_view text);
    ModuleId module(StringId name, StringId build_id);
    FunctionId function(StringId name, StringId system_name, StringId file, std::int32_t start_line);
    FrameId frame(const FrameSpec& spec, const Hash128& hash);
    LabelSetId labels(std::vector<Label> set);

   private:
    Catalog& catalog_;
  };

  template <class Id>
  static std::uint32_t id_of(const IdMap& map, Id row) {
    return map.id_of(static_cast<std::uint32_t>(row));
  }
  void insert_strings();
  void insert_modules();
  void insert_functions();
  void insert_frames();
  void insert_label_sets();
  std::int64_t string_id(StringId row) const { return id_of(catalog_.strings, row); }

  sqlite3* db_;
  Catalog& catalog_;
  Rows rows_;
  DictionaryMover<Rows> mover_;
  struct Written {
    std::size_t strings, modules, functions, frames, label_sets;
  };
  Written written_;  // rows of the catalog; those after them are new
};

/// The part of a dictionary that the store already has; many snapshots share one dictionary.
struct KnownDictionary {
  static constexpr std::uint32_t kUnseen = 0xffffffffU;

  KnownDictionary(sqlite3* db, Catalog& into, const std::shared_ptr<const Dictionary>& dictionary)
      : of(dictionary), catalog(db, into, *dictionary) {}
  void grow();

  std::weak_ptr<const Dictionary> of;
  CatalogWriter catalog;
  std::vector<std::uint32_t> stack_ids;      // by stack
  std::vector<std::uint32_t> label_set_ids;  // by label set
  std::vector<std::uint32_t> frame_ids;      // by frame; 0: not asked for yet
  std::uint32_t max_frame_id = 0;
};

/// Rows and hashes of the frames of one stack after the other, looked up only where a stack differs
/// from the one before.
class StackFrames {
 public:
  explicit StackFrames(const Catalog& catalog) : catalog_(catalog) {}
  /// `shared`: how many frames it has in common with the stack of the last call of move_to() or
  /// skip(), from the root.
  void move_to(std::span<const std::uint32_t> root_first, std::size_t shared);
  void skip(std::size_t shared) { valid_ = std::min(valid_, shared); }
  std::span<const std::uint32_t> rows() const { return rows_; }  ///< of the catalog, root first
  Hash128 hash() const;

 private:
  const Catalog& catalog_;
  std::vector<std::uint32_t> rows_;
  std::vector<Hash128> hashes_;
  std::size_t valid_ = 0;  // frames from the root that are those of the last stack
};

/// Finds stored stacks by hash. Hashes are not stored but computed from the frames'.
class StackIndex {
 public:
  static constexpr std::uint32_t kAbsent = 0;  // the id of the empty stack
  /// Reads all stack chunks. Throws malformed.
  StackIndex(sqlite3* db, const Catalog& catalog);
  std::uint32_t find(const Hash128& hash) const;
  void reserve(std::size_t more);
  void add(const Hash128& hash, std::uint32_t id);
  std::uint32_t next_id() const { return next_id_; }
  std::size_t size() const { return ids_.size(); }

 private:
  std::vector<Hash128> hashes_;
  std::vector<std::uint32_t> ids_;
  HashIndex index_;
  std::uint32_t next_id_ = 1;
};

}  // namespace snapdiff::store
