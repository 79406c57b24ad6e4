#include "analyzer/store/sample_reader.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "analyzer/store/column_chunk.hpp"
#include "analyzer/store/sample_codec.hpp"

namespace snapdiff::store {

/// Of one snapshot, as the store has it.
struct SampleReader::Stored {
  std::int64_t snapshot = 0;
  std::int64_t rows = 0;
  StoredColumns columns;
  std::vector<std::string> chunks;
};

namespace {

std::vector<std::string> read_chunks(sqlite3* db, std::int64_t snapshot) {
  std::vector<std::string> chunks;
  Statement select(db, "SELECT id, data FROM sample_chunk WHERE id >= ? AND id < ? ORDER BY id");
  select.bind(1, snapshot * kChunksPerSnapshot).bind(2, (snapshot + 1) * kChunksPerSnapshot);
  while (select.step()) {
    const std::int64_t number = select.integer(0) - snapshot * kChunksPerSnapshot;
    if (number != static_cast<std::int64_t>(chunks.size()))
      fail(ErrorCode::malformed, "sample chunk " + std::to_string(number) + " of snapshot " + std::to_string(snapshot) +
                                     ": an earlier chunk is missing");
    chunks.emplace_back(select.blob(1));
  }
  return chunks;
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
  Statement select(db, kColumnsOfSnapshot);
  return read_columns(select, snapshot);
}

StoredColumns read_columns(Statement& select, std::int64_t snapshot) {
  StoredColumns out;
  select.bind(1, snapshot);
  while (select.step()) {
    SampleType type{std::string(select.text(0)), std::string(select.text(1))};
    out.columns.push_back(Column{std::move(type), {}, {}, select.integer(2)});
    out.totals.push_back(select.integer(3));
  }
  select.reset();
  return out;
}

bool same_types(const std::vector<Column>& a, const std::vector<Column>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Column& x, const Column& y) { return x.type == y.type; });
}

std::int64_t key_snapshot_of(sqlite3* db, std::int64_t snapshot) {
  Statement select(db, "SELECT base FROM snapshot WHERE id = ?");
  for (std::int64_t changes = 0; changes <= kKeyEvery && select.bind(1, snapshot).step(); ++changes) {
    const std::int64_t base = select.optional_integer(0).value_or(snapshot);
    select.reset();
    if (base >= snapshot) break;
    snapshot = base;
  }
  return snapshot;
}

/// Down to a key or to something in memory.
std::vector<SampleReader::Stored> SampleReader::read_down(std::int64_t snapshot,
                                                          std::shared_ptr<const SampleTable>& start) {
  std::vector<Stored> stored;
  Statement select(db_, "SELECT row_count, base FROM snapshot WHERE id = ?");
  for (std::int64_t id = snapshot; start == nullptr;) {
    if (!select.bind(1, id).step())
      fail(id == snapshot ? ErrorCode::usage : ErrorCode::malformed,
           "snapshot @" + std::to_string(id) + " is not in the store");
    Stored& one = stored.emplace_back();
    one.snapshot = id;
    one.rows = select.integer(0);
    const std::optional<std::int64_t> base = select.optional_integer(1);
    select.reset();
    naming("snapshot @" + std::to_string(id), [&] {
      one.columns = read_columns(db_, id);
      one.chunks = read_chunks(db_, id);
    });
    if (!base) break;
    if (*base >= id || static_cast<std::int64_t>(stored.size()) > kKeyEvery)
      fail(ErrorCode::malformed, "snapshot @" + std::to_string(snapshot) + " has no key it is based on");
    id = *base;
    start = kept_.find(id);
  }
  return stored;
}

SampleTable SampleReader::decode(std::int64_t snapshot) {
  std::shared_ptr<const SampleTable> start;
  std::vector<Stored> stored;
  {
    const std::unique_lock lock = guard_ == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(*guard_);
    stored = read_down(snapshot, start);
  }
  const std::vector<Column>& columns = stored.front().columns.columns;
  SampleTable table;
  if (start == nullptr) table.columns = columns;
  for (auto one = stored.rbegin(); one != stored.rend(); ++one) {
    naming("snapshot @" + std::to_string(one->snapshot), [&] {
      const SampleTable& before = start != nullptr ? *start : table;
      if (!same_types(one->columns.columns, before.columns) || !same_types(one->columns.columns, columns))
        fail(ErrorCode::malformed, "its columns are not those of the snapshots before and after it");
      // A damaged store may say any number of rows: a chunk adds no more than it can hold.
      const std::size_t most = before.size() + one->chunks.size() * kChunkRows;
      SampleDecoder decoder(before, std::min(static_cast<std::size_t>(std::max<std::int64_t>(0, one->rows)), most));
      for (std::size_t number = 0; number < one->chunks.size(); ++number) {
        naming("sample chunk " + std::to_string(number) + " of snapshot " + std::to_string(one->snapshot),
               [&] { decoder.add_chunk(one->chunks[number]); });
      }
      table = decoder.finish();
      start = nullptr;
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        table.columns[c].half_unit = one->columns.columns[c].half_unit;
      check_table(table, one->rows, one->columns.totals);
    });
  }
  return table;
}

std::shared_ptr<const SampleTable> SampleReader::samples(std::int64_t snapshot) {
  if (auto table = kept_.find(snapshot)) return table;
  auto table = std::make_shared<const SampleTable>(decode(snapshot));
  keep(snapshot, table);
  return table;
}

void SampleReader::read(std::int64_t snapshot, SampleTable& out) {
  if (const auto table = kept_.find(snapshot)) {
    out = *table;
    return;
  }
  out = decode(snapshot);
  keep(snapshot, std::shared_ptr<const SampleTable>(std::shared_ptr<const SampleTable>(), &out));
}

}  // namespace snapdiff::store
