#include <bitset>
#include <memory>

#include "analyzer/store/allocator_store.hpp"
#include "analyzer/store/maintenance.hpp"
#include "analyzer/store/sample_codec.hpp"
#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/stack_rewrite.hpp"

namespace snapdiff::store {
namespace {

/// A set of ids: bits, in pages that exist once they are needed.
class IdSet {
 public:
  void add(std::uint32_t id) {
    std::unique_ptr<Page>& page = pages_[id / kPageIds];
    if (page == nullptr) page = std::make_unique<Page>();
    page->set(id % kPageIds);
  }
  bool has(std::uint32_t id) const {
    const std::unique_ptr<Page>& page = pages_[id / kPageIds];
    return page != nullptr && page->test(id % kPageIds);
  }

 private:
  static constexpr std::uint32_t kPageIds = 65536;
  using Page = std::bitset<kPageIds>;
  std::vector<std::unique_ptr<Page>> pages_ = std::vector<std::unique_ptr<Page>>(65536);
};

struct UsedRows {
  IdSet stacks;
  IdSet label_sets;
  IdSet strings;
};

/// Rows that segments, blocks, events and annotations name.
void add_allocators(sqlite3* db, UsedRows& used) {
  Statement select(db, "SELECT snapshot, stacks, facts FROM allocator ORDER BY snapshot");
  while (select.step()) {
    naming("allocator state of snapshot " + std::to_string(select.integer(0)), [&] {
      for (const std::uint32_t stack : decode_stack_list(select.blob(1))) used.stacks.add(stack);
      for (const Annotation& mark : decode_allocator_facts(select.blob(2)).annotations)
        used.strings.add(static_cast<std::uint32_t>(mark.name));
    });
  }
}

UsedRows rows_in_use(sqlite3* db) {
  UsedRows used;
  Statement chunks(db, "SELECT id, data FROM sample_chunk ORDER BY id");
  std::int64_t snapshot = -1;
  std::size_t columns = 0;
  while (chunks.step()) {
    if (const std::int64_t of = chunks.integer(0) / kChunksPerSnapshot; of != snapshot) {
      snapshot = of;
      columns = read_columns(db, snapshot).columns.size();
    }
    naming("sample chunk of snapshot " + std::to_string(snapshot), [&] {
      for (const std::uint64_t key : chunk_keys(chunks.blob(1), columns)) {
        used.stacks.add(static_cast<std::uint32_t>(key >> 32));
        used.label_sets.add(static_cast<std::uint32_t>(key & 0xffffffffU));
      }
    });
  }
  add_allocators(db, used);
  return used;
}

/// Stacks that are not in use become holes; `frames` gets the frames of the others.
void collect_stacks(sqlite3* db, const IdSet& used, IdSet& frames) {
  rewrite_stacks(db, [&](StackRun& run) {
    bool changed = false;
    for (std::size_t i = 0; i < run.stacks.size(); ++i) {
      std::vector<std::uint32_t>& stack = run.stacks[i];
      if (used.has(static_cast<std::uint32_t>(run.first + i))) {
        for (const std::uint32_t frame : stack) frames.add(frame);
      } else if (!stack.empty()) {
        stack.clear();
        changed = true;
      }
    }
    return changed;
  });
}

/// `id_column` of `table` lists what may go.
void delete_unused(sqlite3* db, const std::string& table, const std::string& id_column, const IdSet& used) {
  std::vector<std::uint32_t> unused;
  {
    Statement select(db, "SELECT DISTINCT " + id_column + " FROM " + table);
    while (select.step()) {
      const std::uint32_t id = select.id(0, table);
      if (!used.has(id)) unused.push_back(id);
    }
  }
  Statement remove(db, "DELETE FROM " + table + " WHERE " + id_column + " = ?");
  for (const std::uint32_t id : unused) remove.run_with(id);
}

void add_all(sqlite3* db, const char* select_sql, IdSet& used) {
  Statement select(db, select_sql);
  while (select.step()) used.add(select.id(0, "id"));
}

void collect_dictionary(sqlite3* db, IdSet& label_sets, IdSet& frames, IdSet& strings) {
  delete_unused(db, "label", "label_set", label_sets);
  delete_unused(db, "frame", "id", frames);
  IdSet functions;
  functions.add(0);
  add_all(db, "SELECT function FROM frame", functions);
  delete_unused(db, "function", "id", functions);
  IdSet modules;
  modules.add(0);
  add_all(db, "SELECT module FROM frame", modules);
  Statement maps(db, "SELECT data FROM memory_map");
  while (maps.step()) {
    for (const Mapping& mapping : decode_mappings(maps.blob(0)))
      modules.add(static_cast<std::uint32_t>(mapping.module));
  }
  delete_unused(db, "module", "id", modules);
  strings.add(0);
  for (const char* sql : {"SELECT name FROM module", "SELECT build_id FROM module", "SELECT name FROM function",
                          "SELECT system_name FROM function", "SELECT file FROM function", "SELECT key FROM label",
                          "SELECT text FROM label", "SELECT unit FROM label"})
    add_all(db, sql, strings);
  delete_unused(db, "string", "id", strings);
}

}  // namespace

void collect_garbage(Session& session) {
  sqlite3* db = session.db();
  execute(db, "DELETE FROM series WHERE id NOT IN (SELECT series FROM snapshot)");
  execute(db, "DELETE FROM source WHERE id NOT IN (SELECT source FROM snapshot WHERE source IS NOT NULL)");
  execute(db, "DELETE FROM memory_map WHERE id NOT IN (SELECT memory_map FROM snapshot WHERE memory_map IS NOT NULL)");
  UsedRows used = rows_in_use(db);
  IdSet frames;
  collect_stacks(db, used.stacks, frames);
  collect_dictionary(db, used.label_sets, frames, used.strings);
}

}  // namespace snapdiff::store
