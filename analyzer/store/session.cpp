#include "analyzer/store/session.hpp"

#include <string>

#include "analyzer/store/sample_codec.hpp"
#include "analyzer/store/stack_codec.hpp"

namespace snapdiff::store {
namespace {

/// Two: `growth` and the next import need the last snapshot and one more.
constexpr std::size_t kKeptTables = 2;

/// 32 MB of decoded stacks: all of a usual store, and a scan never decodes a chunk twice.
constexpr std::size_t kKeptFrames = 8 * 1024 * 1024;

struct Link {
  std::int64_t snapshot = 0;
  std::int64_t rows = 0;
};

void apply_chunks(sqlite3* db, std::int64_t snapshot, SampleDecoder& decoder) {
  Statement select(db, "SELECT id, data FROM sample_chunk WHERE id >= ? AND id < ? ORDER BY id");
  select.bind(1, snapshot * kChunksPerSnapshot).bind(2, (snapshot + 1) * kChunksPerSnapshot);
  std::int64_t expected = 0;
  while (select.step()) {
    const std::int64_t number = select.integer(0) - snapshot * kChunksPerSnapshot;
    naming("sample chunk " + std::to_string(number) + " of snapshot " + std::to_string(snapshot), [&] {
      if (number != expected++) fail(ErrorCode::malformed, "an earlier chunk is missing");
      decoder.add_chunk(select.blob(1));
    });
  }
}

void check_table(const SampleTable& table, std::int64_t rows, const std::vector<std::int64_t>& totals) {
  if (static_cast<std::int64_t>(table.size()) != rows)
    fail(ErrorCode::malformed, std::to_string(table.size()) + " rows, expected " + std::to_string(rows));
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::uint64_t sum = 0;
    for (const std::int64_t value : table.columns[c].value) sum += static_cast<std::uint64_t>(value);
    if (sum != static_cast<std::uint64_t>(totals[c]))
      fail(ErrorCode::malformed, "rows of " + table.columns[c].type.name + " add up to " +
                                     std::to_string(static_cast<std::int64_t>(sum)) + ", expected " +
                                     std::to_string(totals[c]));
  }
}

}  // namespace

StoredColumns read_columns(sqlite3* db, std::int64_t snapshot) {
  StoredColumns out;
  Statement select(db,
                   "SELECT metric, unit, half_unit, total FROM snapshot_total WHERE snapshot = ? ORDER BY position");
  select.bind(1, snapshot);
  while (select.step()) {
    SampleType type{std::string(select.text(0)), std::string(select.text(1))};
    out.columns.push_back(Column{std::move(type), {}, {}, select.integer(2)});
    out.totals.push_back(select.integer(3));
  }
  return out;
}

bool same_types(const std::vector<Column>& a, const std::vector<Column>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (!(a[c].type == b[c].type)) return false;
  }
  return true;
}

void Session::drop() {
  catalog_.reset();
  stacks_.reset();
  tables_.clear();
  allocators_.clear();
  chunks_.clear();
  chunk_frames_ = 0;
  data_version_.reset();
}

void Session::refresh() {
  const std::int64_t version = query_integer(db_, "PRAGMA data_version");
  const std::int64_t changes = sqlite3_total_changes64(db_);
  if (data_version_ != version || own_changes_ != changes) drop();
  data_version_ = version;
  own_changes_ = changes;
}

void Session::own_changes_are_known() { own_changes_ = sqlite3_total_changes64(db_); }

Catalog& Session::catalog() {
  if (catalog_ == nullptr) catalog_ = std::make_unique<Catalog>(db_);
  return *catalog_;
}

StackIndex& Session::stacks() {
  if (stacks_ == nullptr) stacks_ = std::make_unique<StackIndex>(db_, catalog());
  return *stacks_;
}

void Session::keep(std::int64_t snapshot, std::shared_ptr<const SampleTable> table) {
  tables_.emplace_front(snapshot, std::move(table));
  if (tables_.size() > kKeptTables) tables_.pop_back();
}

std::shared_ptr<const SampleTable> Session::samples(std::int64_t snapshot) {
  const auto kept = [this](std::int64_t id) -> std::shared_ptr<const SampleTable> {
    for (auto at = tables_.begin(); at != tables_.end(); ++at) {
      if (at->first != id) continue;
      tables_.splice(tables_.begin(), tables_, at);
      return tables_.front().second;
    }
    return nullptr;
  };
  if (auto table = kept(snapshot)) return table;

  // Down to a key or to something in memory, then up again.
  std::vector<Link> links;
  std::shared_ptr<const SampleTable> start;
  Statement select(db_, "SELECT row_count, base FROM snapshot WHERE id = ?");
  for (std::int64_t id = snapshot; start == nullptr;) {
    if (!select.bind(1, id).step())
      fail(id == snapshot ? ErrorCode::usage : ErrorCode::malformed,
           "snapshot @" + std::to_string(id) + " is not in the store");
    links.push_back({id, select.integer(0)});
    const std::optional<std::int64_t> base = select.optional_integer(1);
    select.reset();
    if (!base) break;
    if (*base >= id || static_cast<std::int64_t>(links.size()) > kKeyEvery)
      fail(ErrorCode::malformed, "snapshot @" + std::to_string(snapshot) + " has no key it is based on");
    id = *base;
    start = kept(id);
  }

  const StoredColumns columns = read_columns(db_, snapshot);
  SampleTable table;
  if (start != nullptr) {
    table = *start;
  } else {
    table.columns = columns.columns;
  }
  for (auto link = links.rbegin(); link != links.rend(); ++link) {
    const StoredColumns own = read_columns(db_, link->snapshot);
    naming("snapshot @" + std::to_string(link->snapshot), [&] {
      if (!same_types(own.columns, table.columns) || !same_types(own.columns, columns.columns))
        fail(ErrorCode::malformed, "its columns are not those of the snapshots before and after it");
      SampleDecoder decoder(std::move(table));
      apply_chunks(db_, link->snapshot, decoder);
      table = decoder.finish();
      for (std::size_t c = 0; c < table.columns.size(); ++c) table.columns[c].half_unit = own.columns[c].half_unit;
      check_table(table, link->rows, own.totals);
    });
  }
  auto shared = std::make_shared<const SampleTable>(std::move(table));
  keep(snapshot, shared);
  return shared;
}

std::shared_ptr<const DecodedStacks> Session::stacks_from(std::uint32_t stack) {
  for (auto at = chunks_.begin(); at != chunks_.end(); ++at) {
    if (stack < (*at)->first_id || stack - (*at)->first_id >= (*at)->size()) continue;
    chunks_.splice(chunks_.begin(), chunks_, at);
    return chunks_.front();
  }
  Statement select(
      db_,
      "SELECT first_id, stacks, data FROM stack_chunk WHERE first_id >= "
      "coalesce((SELECT max(first_id) FROM stack_chunk WHERE first_id <= ?1), 0) ORDER BY first_id LIMIT 2");
  select.bind(1, std::int64_t{stack});
  while (select.step()) {
    const std::uint32_t first = select.id(0, "stack chunk");
    const std::uint32_t count = select.id(1, "stack count");
    if (first <= stack && stack - first >= count) continue;
    auto chunk = std::make_shared<DecodedStacks>();
    chunk->first_id = first;
    for_each_stack(select.blob(2), first, count, [&](std::uint32_t, const StackChunkReader& in) {
      chunk->frame.insert(chunk->frame.end(), in.root_first().begin(), in.root_first().end());
      chunk->begin.push_back(chunk->frame.size());
    });
    chunk_frames_ += chunk->frame.size();
    chunks_.push_front(chunk);
    while (chunk_frames_ > kKeptFrames && chunks_.size() > 1) {
      chunk_frames_ -= chunks_.back()->frame.size();
      chunks_.pop_back();
    }
    return chunk;
  }
  return nullptr;
}

}  // namespace snapdiff::store
